// Calls for three_forms.h whose plans are found by what the user says when they repeat.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <utility>

#include "bindings/mpi/datatypes/datatype.h"
#include "bindings/mpi/datatypes/reduction.h"
#include "collectives/calls/call_kinds.h"
#include "core/plan/call_brief.h"

namespace fab::mpi {

/// One side of a call: equal blocks.
struct SaidSide {
  const void* buffer = nullptr;
  int count = 0;
  MPI_Datatype type{};  ///< none where another side's is meant
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
  [[nodiscard]] core::CallBrief brief() const noexcept {
    const SaidSide& send = said_.send;
    const SaidSide& recv = said_.recv;
    const std::uint64_t flags = 4u | (is_in_place(send) ? 1u : 0u) | (is_in_place(recv) ? 2u : 0u) |
                                (send.buffer == nullptr ? 1u << 8 : 0u) | (recv.buffer == nullptr ? 1u << 9 : 0u);
    return {{word_of(said_.number) << 32 | said_.kind << 24 | flags, type_of(send), type_of(recv),
             count_of(send) << 32 | count_of(recv), word_of(said_.op)}};
  }
  /// Calls with the same brief mean the same: their datatypes and operations last as long as the process.
  [[nodiscard]] bool may_be_remembered() const noexcept {
    return lasts(said_.send) && lasts(said_.recv) && (said_.op == MPI_Op{} || is_predefined_operation(said_.op));
  }
  [[nodiscard]] const void* sent() const noexcept { return memory_of(said_.send); }
  [[nodiscard]] void* received() const noexcept { return const_cast<void*>(memory_of(said_.recv)); }

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

}  // namespace fab::mpi
