// Deals communicators out to fab's engines (FAB_ENGINES), on all of their ranks alike and without a message.
#pragma once

#include <mpi.h>

#include "fab/topology.h"

namespace fab::mpi {

/// At MPI_Init, where FAB_ENGINES asks for several: from now on MPI_COMM_WORLD has the first engine, and a communicator
/// that is made from another one has that one's next engine. Throws Failure.
void begin_dealing();
/// One was made, by a call on all ranks of `parent`, not as a duplicate. MPI_COMM_NULL: this rank is not in it.
void deal_made(MPI_Comm parent, MPI_Comm made) noexcept;

/// Of a call that some ranks of a communicator make, and that must not count: Open MPI 4.1 copies attributes in
/// MPI_Comm_create_group as if it made a duplicate.
class UncountedMaking {
 public:
  explicit UncountedMaking(MPI_Comm parent) noexcept;
  /// After the call, which made that.
  void undo(MPI_Comm made) noexcept;

 private:
  MPI_Comm parent_;
  int made_before_ = 0;
};

/// The engine of `comm`, one of `engines`. A communicator that was not dealt out goes by the number in MPI_COMM_WORLD
/// of its rank 0, `first`. Collective over `comm`, as the first exchange on it is. Throws Failure.
[[nodiscard]] int engine_of(MPI_Comm comm, Rank first, int engines);

}  // namespace fab::mpi
