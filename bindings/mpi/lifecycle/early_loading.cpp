#include "bindings/mpi/lifecycle/early_loading.h"

#include <mpi.h>

#include <string>
#include <string_view>

#include "bindings/mpi/lifecycle/whereabouts.h"
#include "bindings/native/context/open_context.h"

namespace fab::mpi {

namespace {

bool names(std::string_view list, std::string_view component) {
  while (!list.empty()) {
    const std::string_view name = list.substr(0, list.find(','));
    if (name == component) return true;
    list.remove_prefix(name.size() < list.size() ? name.size() + 1 : name.size());
  }
  return false;
}

/// By Open MPI's rules: "a,b" allows these alone, "^a,b" all others, and no list all.
bool allows(const Environment& environment, const char* variable, std::string_view component) {
  const std::string list = environment(variable).value_or("");
  if (list.empty()) return true;
  return list.front() == '^' ? !names(std::string_view(list).substr(1), component) : names(list, component);
}

/// MPICH's MPI_Init loads none of them.
bool mpi_loads_its_libraries() {
#if defined(MPICH_VERSION)
  return false;
#else
  return open_mpi_looks_for_cards(process_environment);
#endif
}

}  // namespace

bool open_mpi_looks_for_cards(const Environment& environment) {
  if (allows(environment, "OMPI_MCA_btl", "ofi")) return true;
  if (!allows(environment, "OMPI_MCA_pml", "cm")) return false;
  for (const char* component : {"psm", "psm2", "ofi"})
    if (allows(environment, "OMPI_MCA_mtl", component)) return true;
  return false;
}

std::shared_ptr<void> load_before_mpi() noexcept {
  try {
    if (!mpi_loads_its_libraries()) return nullptr;
    if (!need_network(read_config(process_environment).local, process_environment)) return hold_off_card_libraries();
    load_network_library();
  } catch (...) {
  }
  return nullptr;
}

}  // namespace fab::mpi
