// Checks of documented errors: the code, and what the message must name.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "fab/error.h"

namespace fab::test {

/// `call` throws Error(code) whose text contains all of `parts`.
template <class Call>
void expect_error(Errc code, std::initializer_list<const char*> parts, Call call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), make_error_code(code)) << error.what();
    for (const char* part : parts) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
          << "'" << part << "' is missing in: " << error.what();
    }
    return;
  }
  ADD_FAILURE() << "no fab::Error was thrown";
}

}  // namespace fab::test
