// The store of a launched job.
#pragma once

#include <memory>

#include "core/bootstrap/store.h"

namespace fab {

/// Connects to the PMIx server that the environment names; beside MPI only after MPI_Init.
/// Throws Error(bootstrap) when it does not answer.
[[nodiscard]] std::unique_ptr<Store> open_pmix_store();

}  // namespace fab
