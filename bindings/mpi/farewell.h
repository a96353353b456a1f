// The last messages before the transport closes.
#pragma once

#include <memory>

#include "core/context.h"

namespace fab::mpi {

/// Tells every process that this one has exchanged with that it is done, and waits until all of them said so: whoever
/// closes earlier could take messages with it that a peer still waits for. They come because MPI_Finalize is
/// collective; `impatient` is for a job in which an exchange has failed, so that a peer may not know of this rank.
void say_farewell(const std::shared_ptr<core::Context>& context, bool impatient);

}  // namespace fab::mpi
