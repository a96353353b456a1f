// Calls for three_forms.h whose plans are found by what the user says when they repeat.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "bindings/mpi/datatypes/datatype.h"
#include "bindings/mpi/datatypes/reduction.h"
#include "collectives/calls/call_kinds.h"
#include "core/communicator/communicator.h"
#include "core/plan/call_brief.h"

namespace fab::mpi {

/// One side of a call: equal blocks, or, with arrays, different ones.
struct SaidSide {
  const void* buffer = nullptr;
  int count = 0;
  MPI_Datatype type{};  ///< none where another side's is meant
  const int* counts = nullptr;
  const int* displacements = nullptr;
};

/// All that the user says in a call but for its communicator.
struct Said {
  std::uint64_t kind;  ///< of the calls (collectives/calls/call_kinds.h)
  int number = 0;      ///< the root, or what else tells calls of a kind apart
  SaidSide send{};
  SaidSide recv{};
  MPI_Op op{};  ///< of a reduction
};

/// A call that `Describe` checks and describes if it does not repeat an earlier one.
template <class Describe>
class Repeating {
 public:
  Repeating(const Said& said, Describe describe) : said_(said), describe_(std::move(describe)) {}

  template <class Communicator, class Kept, class Then>
  decltype(auto) operator()(Communicator& core, Kept& kept, const Then& then) const {
    return describe_(core, kept, then);
  }

  /// Has all that the checks look at, and that the plan depends on. Bit 2 is the only one of bits 2 to 7 that is set.
  [[nodiscard]] core::CallBrief brief() const noexcept { return brief_of_kind(4); }
  /// Calls with the same brief mean the same: their datatypes and operations last as long as the process.
  [[nodiscard]] bool may_be_remembered() const noexcept {
    return lasts(said_.send) && lasts(said_.recv) && (said_.op == MPI_Op{} || is_predefined_operation(said_.op));
  }
  [[nodiscard]] const void* sent() const noexcept { return memory_of(said_.send); }
  [[nodiscard]] void* received() const noexcept { return const_cast<void*>(memory_of(said_.recv)); }

 protected:
  [[nodiscard]] core::CallBrief brief_of_kind(std::uint64_t bits_2_to_7) const noexcept {
    const SaidSide& send = said_.send;
    const SaidSide& recv = said_.recv;
    const std::uint64_t flags = bits_2_to_7 | (is_in_place(send) ? 1u : 0u) | (is_in_place(recv) ? 2u : 0u) |
                                (send.buffer == nullptr ? 1u << 8 : 0u) | (recv.buffer == nullptr ? 1u << 9 : 0u);
    return {{word_of(said_.number) << 32 | said_.kind << 24 | flags, type_of(send), type_of(recv),
             count_of(send) << 32 | count_of(recv), word_of(said_.op)}};
  }
  [[nodiscard]] const Said& said() const noexcept { return said_; }

 private:
  static bool is_in_place(const SaidSide& side) noexcept { return side.buffer == MPI_IN_PLACE; }
  static const void* memory_of(const SaidSide& side) noexcept { return is_in_place(side) ? nullptr : side.buffer; }
  static bool lasts(const SaidSide& side) noexcept {
    return is_in_place(side) || side.type == MPI_Datatype{} || is_permanent(side.type);
  }
  static std::uint64_t word_of(int number) noexcept { return static_cast<std::uint32_t>(number); }
  template <class Handle>
  static std::uint64_t word_of(Handle* handle) noexcept {
    return reinterpret_cast<std::uintptr_t>(handle);
  }
  // What is said beside MPI_IN_PLACE is ignored.
  static std::uint64_t type_of(const SaidSide& side) noexcept { return is_in_place(side) ? 0 : word_of(side.type); }
  static std::uint64_t count_of(const SaidSide& side) noexcept { return is_in_place(side) ? 0 : word_of(side.count); }

  Said said_;
  Describe describe_;
};

/// How many blocks of each side have a count, and a displacement where there are any, that the call reads.
struct CountedBlocks {
  std::size_t send = 0;
  std::size_t recv = 0;
};

/// One with arrays of counts. `CountBlocks` tells the CountedBlocks of a communicator.
template <class Describe, class CountBlocks>
class RepeatingWithCounts : public Repeating<Describe> {
 public:
  RepeatingWithCounts(const Said& said, CountBlocks count_blocks, Describe describe)
      : Repeating<Describe>(said, std::move(describe)), count_blocks_(std::move(count_blocks)) {}

  /// Bit 5 is the only one of bits 2 to 7 that is set.
  [[nodiscard]] core::CallBrief brief() const noexcept { return this->brief_of_kind(32); }
  /// An array that is missing differs from that of any call that has passed the checks.
  [[nodiscard]] core::CallNumbers numbers(const core::Communicator& core) const noexcept {
    const CountedBlocks blocks = count_blocks_(core);
    const SaidSide& send = this->said().send;
    const SaidSide& recv = this->said().recv;
    return {{array(send.counts, blocks.send), array(send.displacements, blocks.send), array(recv.counts, blocks.recv),
             array(recv.displacements, blocks.recv)}};
  }

 private:
  static std::span<const int> array(const int* numbers, std::size_t size) noexcept {
    return {numbers, numbers == nullptr ? 0 : size};
  }

  CountBlocks count_blocks_;
};

}  // namespace fab::mpi
