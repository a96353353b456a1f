// A non-blocking call as two functions: start and wait.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace bench {

/// Must go before the buffers it uses. One is in flight at a time.
struct NonblockingCall {
  std::string library;
  std::string call;  ///< what is started
  std::function<void()> start;
  std::function<void()> wait;
};

/// `start` returns what `wait` is given.
template <class Start, class Wait>
[[nodiscard]] NonblockingCall in_halves(std::string library, std::string call, Start start, Wait wait) {
  const auto request = std::make_shared<decltype(start())>();
  return {std::move(library), std::move(call), [request, start] { *request = start(); },
          [request, wait] { wait(*request); }};
}

}  // namespace bench
