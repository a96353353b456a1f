// The shutdown handshake: the last messages between ranks before the transport closes.
#pragma once

#include "core/context.h"

namespace fab::mpi {

/// Tells every process that this rank has exchanged with that this rank is done, and waits until all of them have said
/// so: a rank that closed earlier could take messages with it that a peer still waits for. The others come because
/// MPI_Finalize is collective. The wait ends after `timeout_s` seconds without progress (0: never), or after
/// FAB_WAIT_TIMEOUT where that is set.
void finalize(const std::shared_ptr<core::Context>& context, double timeout_s);

}  // namespace fab::mpi
