// Calls at which MPI was found to be faster: another one like it goes on to MPI at once.
//
// To find out takes a look at the communicator's record, the datatype and the operation: some hundred instructions, and
// as many cache lines as a short collective of MPI's itself, which are cold in a program that computes in between.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "bindings/dropin/functions.h"
#include "bindings/dropin/record.h"
#include "bindings/dropin/shapes.h"

namespace fab::dropin {

/// One of them, on communicators of which none was freed since.
struct alignas(64) SlowerCall {
  Call call{};
  Outline outline{};
  std::uint64_t deletions = ~0ull;
};

inline constexpr std::size_t kSlowerCalls = 8;
/// Of a thread. In memory that programs start with: no call of the dynamic linker finds it.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local std::array<SlowerCall, kSlowerCalls> slower_calls{};

[[nodiscard]] inline SlowerCall& place_of(const Call& call) noexcept {
  const auto comm = static_cast<std::uint64_t>(
      std::bit_cast<std::conditional_t<sizeof(MPI_Comm) == 8, std::uint64_t, std::uint32_t>>(call.comm));
  return slower_calls[((comm >> 4) + index_of(call.function)) % kSlowerCalls];
}

[[nodiscard]] inline bool is_known_as_slower(const Call& call, const Outline& outline) noexcept {
  const SlowerCall& known = place_of(call);
  return known.call == call && known.outline == outline && known.deletions == deletions.load(std::memory_order_relaxed);
}

}  // namespace fab::dropin
