// A contestant: one of the implementations of an exchange that are timed against each other.
#pragma once

#include <functional>
#include <string>

#include "support/batches.h"
#include "support/exchange.h"

namespace bench {

enum class Form {
  blocking,
  nonblocking,  ///< start, and wait at once
  persistent,   ///< made once; timed are start and wait
};
[[nodiscard]] constexpr const char* name_of(Form form) {
  return form == Form::blocking ? "blocking" : form == Form::nonblocking ? "nonblocking" : "persistent";
}

/// Must go before the exchange whose buffers it uses.
struct Contestant {
  std::string library;
  Form form = Form::blocking;
  std::string call;  ///< what is timed
  Calls calls;
  Order order = Order::fab;
  Placement placement = Placement::exact;
  std::function<void()> before_each{};  ///< what the program does ahead of each call; it is timed with the call
};

/// So many calls in a row, without an indirection between them.
template <class Call>
[[nodiscard]] Calls repeat(Call call) {
  return [call](int count) {
    for (int i = 0; i < count; ++i) call();
  };
}

}  // namespace bench
