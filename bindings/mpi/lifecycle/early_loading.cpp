#include "bindings/mpi/lifecycle/early_loading.h"

#include "bindings/native/open_context.h"

namespace fab::mpi {

bool needs_network(bool local, const Environment& environment) {
  const auto ranks = environment("OMPI_COMM_WORLD_SIZE");
  const auto near = environment("OMPI_COMM_WORLD_LOCAL_SIZE");
  if (!ranks || !near || ranks == "1") return false;
  return !local || ranks != near;
}

void load_before_mpi() noexcept {
  try {
    if (needs_network(read_config(process_environment).local, process_environment)) load_network_library();
  } catch (...) {
  }
}

}  // namespace fab::mpi
