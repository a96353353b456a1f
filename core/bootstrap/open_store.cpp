#include <fmt/format.h>

#include "core/bootstrap/launcher.h"
#include "core/bootstrap/pmix_store.h"
#include "core/bootstrap/store.h"
#include "fab/error.h"

namespace fab {

std::unique_ptr<Store> open_store() {
  // PMIx is not asked when its server has left no trace: a failed PMIx_Init starts a thread and keeps files open.
  if (process_environment(kPmixNamespaceVariable)) return open_pmix_store();
  if (const std::optional<std::string> variable = find_launcher_variable(process_environment)) {
    throw Error(
        Errc::bootstrap,
        fmt::format("{} says that a launcher started this process as one of several, but the launcher offers no "
                    "PMIx server ({} is not set). Use a launcher with PMIx (mpirun, prterun, srun --mpi=pmix), "
                    "or unset the variable to run alone",
                    *variable, kPmixNamespaceVariable));
  }
  return open_singleton_store();
}

}  // namespace fab
