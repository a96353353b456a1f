// Lets the processes of MPI_COMM_WORLD find each other for fab over MPI itself, if the launcher serves no PMIx.
#pragma once

#include <memory>

#include "core/bootstrap/store.h"

namespace fab::mpi {

/// Whether fab needs it in this process, where MPI is usable: it is one of several, and has no PMIx server that knows
/// them. The same on all of them, by the launcher's variables.
[[nodiscard]] bool needs_meeting() noexcept;

/// Makes a communicator, and reads who shares a node; no addresses travel. Collective over MPI_COMM_WORLD, so only
/// MPI_Init can call it: the call that opens fab is not. Says on rank 0 when ranks do not come. Throws Failure.
void open_meeting();
[[nodiscard]] bool meeting_is_open() noexcept;

/// The store for fab's context. Precondition: meeting_is_open().
[[nodiscard]] std::unique_ptr<Store> open_meeting_store();

/// Whether values are to be sent, or awaited: then the next function should be called at once. An atomic load or two.
[[nodiscard]] bool meeting_is_urgent() noexcept;
/// Whether the meeting is urgent, or has had no turn for a while: others may have asked this rank.
[[nodiscard]] bool meeting_is_due() noexcept;
/// Moves values. By threads in a call of fab's or MPI's, as legal as that; nothing where there is no meeting.
void drive_meeting() noexcept;

/// Returns when all ranks have come; others' asks are answered until then. At MPI_Finalize, after the store.
void close_meeting() noexcept;

}  // namespace fab::mpi
