// Reads the description of the job from the PMIx server.
#pragma once

#include <pmix.h>

#include "core/bootstrap/store.h"

namespace fab {

/// Throws Error(bootstrap) when the server does not tell the number of ranks; all else has a fall-back.
[[nodiscard]] JobInfo read_pmix_job(const pmix_proc_t& self);

/// The node of each of the job's `size` ranks; empty when the server does not know all of them.
[[nodiscard]] std::vector<int> read_pmix_nodes(const pmix_proc_t& self, int size);

}  // namespace fab
