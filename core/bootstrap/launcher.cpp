#include "core/bootstrap/launcher.h"

#include <array>

#include "core/base/quoted.h"

namespace fab {
namespace {

struct LauncherVariable {
  const char* name;
  const char* size_name;  ///< where the launcher tells the number of processes; nullptr: nowhere
};

/// Slurm's SLURM_PROCID and SLURM_NTASKS are not here: a batch script, which is one process, has them too.
constexpr std::array<LauncherVariable, 9> kLauncherVariables = {{
    {kPmixNamespaceVariable, nullptr},
    {"PMIX_RANK", nullptr},
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_SIZE"},  // Open MPI
    {"PMI_RANK", "PMI_SIZE"},                          // MPICH's hydra, Slurm's pmi2
    {"SLURM_STEP_NUM_TASKS", "SLURM_STEP_NUM_TASKS"},  // Slurm's srun
    {"FLUX_TASK_RANK", "FLUX_JOB_SIZE"},               // Flux
    {"PALS_RANKID", nullptr},                          // HPE Cray
    {"JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_SIZE"},      // IBM's jsrun
    {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE"},    // MVAPICH
}};

constexpr std::size_t kLongestValue = 80;  ///< that a message shows

}  // namespace

std::optional<std::string> find_other_launcher_variable(const Environment& environment) {
  if (environment("OMPI_MCA_ess") != "singleton") return std::nullopt;
  return find_launcher_variable([&](const std::string& name) {
    return name.starts_with("PMIX_") || name.starts_with("OMPI_") ? std::nullopt : environment(name);
  });
}

std::optional<std::string> find_launcher_variable(const Environment& environment) {
  for (const LauncherVariable& variable : kLauncherVariables) {
    const std::optional<std::string> value = environment(variable.name);
    if (!value) continue;
    const bool is_alone = variable.size_name != nullptr && environment(variable.size_name) == "1";
    if (!is_alone)
      return std::string(variable.name) + "=" + (value->size() <= kLongestValue ? escaped(*value) : in_quotes(*value));
  }
  return std::nullopt;
}

}  // namespace fab
