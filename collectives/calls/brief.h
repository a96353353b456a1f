// The briefs of calls whose blocks are regular lists (core/plan/call_brief.h), and starts by them.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "collectives/calls/block_list.h"
#include "core/base/engine_lock.h"
#include "core/communicator/communicator.h"

namespace fab::collectives {

/// `head` has all that calls with such lists differ in, but for `number`, which has 16 bits; bits 2 to 7 are clear.
/// Empty where a list is not regular, or numbers are very large.
[[nodiscard]] core::CallBrief brief_of(std::uint64_t head, const BlockList& send, const BlockList& recv,
                                       std::uint64_t number = 0) noexcept;

/// Starts the plan that calls of this brief, with these lists, had the last time; otherwise calls `start`, and
/// remembers its plan.
template <class Start>
core::Run& start_by_brief(core::Communicator& communicator, const core::CallBrief& brief, const BlockList& send,
                          const BlockList& recv, std::span<std::byte* const> bases, const UserReduction& user,
                          Start&& start) FAB_REQUIRES(core::engine_lock) {
  if (!brief.empty())
    if (core::RunPool* const known = communicator.plan_of(brief)) return communicator.start(*known, bases, user);
  core::Run& run = std::forward<Start>(start)();
  communicator.remember(brief, {{send.element(), recv.element()}});
  return run;
}

}  // namespace fab::collectives
