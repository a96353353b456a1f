// The briefs of calls (core/plan/call_brief.h).
#pragma once

#include <cstdint>

#include "core/plan/call_brief.h"
#include "fab/operation.h"

namespace fab::native {

/// `number`: what else the call is told, in 32 bits; `about`: in 17 bits, and `size`: in 32. Bit 3 or 4 of the first
/// word is set.
[[nodiscard]] inline core::CallBrief brief_of(const detail::CallBuffers& call, int number, std::uint64_t about = 0,
                                              std::uint64_t size = 0) noexcept {
  constexpr std::uint64_t kLimit = std::uint64_t{1} << 32;
  const bool typed = call.layout == nullptr;
  if (call.element_bytes >= kLimit || size >= kLimit) return {};
  const std::uint64_t flags = (call.in_place ? 1u : 0u) | (call.send == nullptr ? 2u : 0u) |
                              (call.recv == nullptr ? 4u : 0u) | (typed ? 8u : 16u);
  const std::uint64_t head = static_cast<std::uint64_t>(static_cast<std::uint32_t>(number)) << 32 | about << 13 |
                             static_cast<std::uint64_t>(call.operation) << 5 | flags;
  if (typed) return {{head, call.element_bytes << 32 | size, call.send_elements, call.recv_elements, 0}};
  const auto nodes = call.layout->nodes();
  if (nodes.empty()) return {};
  return {{head, reinterpret_cast<std::uintptr_t>(nodes.data()), size, 0, 0}};
}

/// In place gathers and scatters use their buffers in other ways on the root than elsewhere, and have none.
[[nodiscard]] inline core::CallBrief brief_of(const detail::BlockCall& call) noexcept {
  using enum detail::OperationName;
  if (call.in_place && (call.operation == gather || call.operation == scatter)) return {};
  return brief_of(call, call.root.rank);
}

[[nodiscard]] inline core::CallBrief brief_of(const detail::ReduceCall& call) noexcept {
  if (!call.counts.empty()) return {};
  const auto& [op, type] = call.combine.reduction;
  const std::uint64_t about = static_cast<std::uint64_t>(op) << 9 | static_cast<std::uint64_t>(type) << 1 |
                              (call.combine.commutative ? 1u : 0u);
  return brief_of(call, call.root.rank, about, call.combine.element_bytes);
}

[[nodiscard]] inline core::CallBrief brief_of(const detail::ShiftCall& call) noexcept {
  return brief_of(call, call.shift.displacement, 0, static_cast<std::uint32_t>(call.shift.dimension));
}

/// Lists of blocks are too long.
[[nodiscard]] inline core::CallBrief brief_of(const detail::BlocksCall& /*call*/) noexcept { return {}; }

[[nodiscard]] inline const UserReduction& user_of(const detail::ReduceCall& call) noexcept { return call.combine.user; }
[[nodiscard]] inline UserReduction user_of(const detail::CallBuffers& /*call*/) noexcept { return {}; }

}  // namespace fab::native
