#include "bindings/dropin/carry.h"

#include "bindings/mpi/base/failure.h"
#include "bindings/mpi/base/process_context.h"
#include "fab/error.h"

namespace fab::dropin {

bool mpi_refuses_it_too() noexcept {
  try {
    throw;
  } catch (const mpi::BadArgument&) {
    return true;
  } catch (const Error& error) {
    return error.errc() == Errc::invalid_rank;  // the root
  } catch (...) {
    return false;
  }
}

int report(const char* name, MPI_Comm comm) noexcept {
  const int error_class = mpi::log_exception(name);
  if (!mpi::is_open()) mpi::log_error(name, "with FAB_DROPIN=off the program runs without fab");
  return mpi::call_error_handler(comm, error_class);
}

}  // namespace fab::dropin
