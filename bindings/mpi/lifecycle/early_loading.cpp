#include "bindings/mpi/lifecycle/early_loading.h"

#include "bindings/mpi/lifecycle/whereabouts.h"
#include "bindings/native/context/open_context.h"

namespace fab::mpi {

void load_before_mpi() noexcept {
  try {
    if (need_network(read_config(process_environment).local, process_environment)) load_network_library();
  } catch (...) {
  }
}

}  // namespace fab::mpi
