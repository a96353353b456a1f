// MPI_Init and MPI_Init_thread: before, fab loads what MPI would load and unload; after, it looks whether it needs MPI
// to find the other processes.
#include <mpi.h>

#include <memory>

#include "bindings/mpi/interception/next.h"
#include "bindings/mpi/lifecycle/early_loading.h"
#include "bindings/mpi/lifecycle/lifecycle.h"

namespace fab::mpi {

namespace {

template <class Initialize>
int initialize(Initialize&& with_mpi) noexcept {
  const std::shared_ptr<void> loaded = load_before_mpi();
  const int code = with_mpi();
  if (code == MPI_SUCCESS) mpi_is_initialized();
  return code;
}

}  // namespace

}  // namespace fab::mpi

using fab::mpi::initialize;
using fab::mpi::next_mpi_init;
using fab::mpi::next_pmpi_init;

int MPI_Init(int* argc, char*** argv) {
  return initialize([&] { return next_mpi_init.init(argc, argv); });
}
int PMPI_Init(int* argc, char*** argv) {
  return initialize([&] { return next_pmpi_init.init(argc, argv); });
}
int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return initialize([&] { return next_mpi_init.init_thread(argc, argv, required, provided); });
}
int PMPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return initialize([&] { return next_pmpi_init.init_thread(argc, argv, required, provided); });
}
