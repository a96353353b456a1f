// Calls whose fate is known: another one like it needs no judgement.
//
// To judge one takes a look at the communicator's record, the datatype, the operation and the rules: some hundred
// instructions, and as many cache lines as a short collective of MPI's itself, which are cold in a program that
// computes in between.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "bindings/dropin/functions.h"
#include "bindings/dropin/record.h"
#include "bindings/dropin/shapes.h"
#include "bindings/mpi/base/process_context.h"

namespace fab::dropin {

/// One of them, on communicators of which none was freed since.
struct alignas(64) KnownCall {
  Call call{};
  Outline outline{};
  std::uint64_t deletions = ~0ull;
  mpi::Attachment* attachment = nullptr;  ///< of a call that fab carries; null: MPI is faster at it
};

inline constexpr std::size_t kKnownCalls = 16;
/// Of a thread. In memory that programs start with: no call of the dynamic linker finds it.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local std::array<KnownCall, kKnownCalls> known_calls{};

template <class Handle>
[[nodiscard]] std::uint64_t word_of(Handle handle) noexcept {
  return std::bit_cast<std::conditional_t<sizeof(Handle) == 8, std::uint64_t, std::uint32_t>>(handle);
}

[[nodiscard]] inline KnownCall& place_of(const Call& call, const Outline& outline) noexcept {
  const std::uint64_t what = (word_of(call.comm) >> 4) + 5 * index_of(call.function) + (word_of(outline.type) >> 4) +
                             static_cast<std::uint32_t>(outline.count);
  constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15;  // 2^64 divided by the golden ratio
  return known_calls[what * kSpread >> (64 - std::bit_width(kKnownCalls - 1))];
}

/// Null: it has to be judged.
[[nodiscard]] inline const KnownCall* find_known(const Call& call, const Outline& outline) noexcept {
  const KnownCall& known = place_of(call, outline);
  const bool is_known = known.call == call && known.outline == outline &&
                        known.deletions == deletions.load(std::memory_order_relaxed) &&
                        (known.attachment == nullptr || mpi::is_open());
  return is_known ? &known : nullptr;
}

}  // namespace fab::dropin
