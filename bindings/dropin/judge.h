// Decides whether fab carries a call.
#pragma once

#include <mpi.h>

#include "bindings/dropin/functions.h"
#include "bindings/dropin/shapes.h"
#include "bindings/mpi/communicators/attachment.h"

namespace fab::dropin {

/// Null: the call goes on to MPI. Decides by what all ranks know alike, so that all decide alike, and counts the call.
/// Before the first call of the process that fab carries, fab opens. Throws Failure.
[[nodiscard]] mpi::Attachment* judge(const Call& call, const Outline& outline);

}  // namespace fab::dropin
