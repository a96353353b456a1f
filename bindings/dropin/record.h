// The record that libfab_dropin keeps of each communicator.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <optional>

#include "bindings/mpi/communicators/attachment.h"

namespace fab::dropin {

/// Small, as programs make communicators by the thousand. Used by one collective call at a time, as the communicator
/// is.
struct Record {
  enum class Kind : unsigned char { unseen, usable, unusable };

  /// Collective calls so far, the same on all ranks, which call in the same order. Once fab may carry calls, some are
  /// not counted.
  std::uint32_t calls = 0;
  Kind kind = Kind::unseen;
  std::optional<bool> one_node{};         ///< all ranks share memory; known with the attachment, or before
  std::optional<bool> all_hear{};         ///< of freed operations; known once a call that may wait has asked all ranks
  int ranks = 0;                          ///< known with the kind
  mpi::Attachment* attachment = nullptr;  ///< made by the first call that fab carries
};

/// Grows whenever a communicator with a record is freed, whose handle may then be that of another one.
inline constinit std::atomic<std::uint64_t> deletions{0};

/// The record of `comm`, made by its first call; goes with the communicator. Null where MPI cannot be called, or `comm`
/// is no communicator. Throws Failure.
[[nodiscard]] Record* find_record(MPI_Comm comm);

/// Fills in the kind: whether fab can carry collectives of `comm` at all, which is one group, all of whose ranks are in
/// this MPI_COMM_WORLD. The same on all ranks. Throws Failure.
void look_at(MPI_Comm comm, Record& record);

}  // namespace fab::dropin
