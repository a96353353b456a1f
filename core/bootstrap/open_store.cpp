// Chooses how ranks find each other: PMIx if a launcher offers it, alone if there is no launcher.
#include <fmt/core.h>

#include "core/bootstrap/launcher.h"
#include "core/bootstrap/pmix_session.h"
#include "core/bootstrap/pmix_store.h"
#include "core/bootstrap/store.h"
#include "fab/error.h"

namespace fab {

namespace {

[[noreturn]] void refuse(const std::string& variable, const std::string& why) {
  throw Error(Errc::bootstrap,
              fmt::format("{} says that a launcher started this process as one of several, but the launcher offers no "
                          "PMIx server ({}). Use a launcher with PMIx (mpirun, prterun, srun --mpi=pmix), "
                          "or unset the variable to run alone",
                          variable, why));
}

}  // namespace

void leave_launcher_to_mpi() noexcept { PmixSession::leave_to_mpi(); }

std::unique_ptr<Store> open_store() {
  // PMIx is not asked when its server has left no trace: a failed PMIx_Init starts a thread and keeps files open.
  if (process_environment(kPmixNamespaceVariable)) {
    if (const std::optional<std::string> variable = find_other_launcher_variable(process_environment))
      refuse(*variable, "Open MPI has started one for this process alone");
    return open_pmix_store();
  }
  if (const std::optional<std::string> variable = find_launcher_variable(process_environment))
    refuse(*variable, fmt::format("{} is not set", kPmixNamespaceVariable));
  return open_singleton_store();
}

}  // namespace fab
