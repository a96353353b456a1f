// Prefixes by recursive doubling (Hillis and Steele, Data Parallel Algorithms, 1986, in the form of MPICH's). In step k
// the ranks that differ in bit k exchange the combination of all ranks of their blocks of 2^k; who is the higher one
// also combines its prefix with what it receives. A combination that no rank needs is not sent.
#pragma once

#include "collectives/calls/call.h"

namespace fab::collectives {

/// Whether a rank's own vector is part of its prefix. Exclusive ones leave the output of rank 0 as it is.
enum class Prefix { inclusive, exclusive };

void scan_doubling(ScheduleBuilder& builder, const CollectiveCall& call, Prefix prefix);

}  // namespace fab::collectives
