// What the PMIx server knows about the job.
#pragma once

#include <pmix.h>

#include "core/bootstrap/store.h"

namespace fab {

/// Throws Error(bootstrap) when the server does not tell the number of ranks; all else has a fall-back.
[[nodiscard]] JobInfo read_pmix_job(const pmix_proc_t& self);

}  // namespace fab
