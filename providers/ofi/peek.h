// A receive of any message that looks at it before it takes it.
#pragma once

#include <cstdint>

#include "core/provider.h"

namespace fab::ofi {

/// Looks whether there is a message. One of a rank's is then received under its tag. One of a stranger's meets a
/// receive without memory: libfabric drops it, and the connection with it if there is more of it. So no rank waits for
/// the rest of what a stranger sends. The provider moves it on; its handlers are never called. Where the provider keeps
/// early messages to itself, none is received: those of strangers are dropped (OfiProvider::sweep).
struct Peek : Completion {
  enum class State : std::uint8_t { idle, looking, sweeping, dropping };

  Peek()
      : Completion([](Completion&, std::uint64_t, std::uint64_t) noexcept {},
                   [](Completion&, const Status&) noexcept {}) {}

  State state = State::idle;
  Completion* receive = nullptr;  ///< while looking
  iovec memory{};                 ///< its
};

}  // namespace fab::ofi
