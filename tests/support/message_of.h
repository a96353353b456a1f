// What a call that is refused says.
#pragma once

#include <string>

#include "fab/error.h"

namespace fab::test {

/// "no error" if it is not refused.
template <class Call>
[[nodiscard]] std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace fab::test
