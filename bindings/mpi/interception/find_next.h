// Finds the next definition of a function that fab defines as well: a tool's, or MPI's.
#pragma once

#include <dlfcn.h>
#include <mpi.h>

#include <string>

#include "bindings/mpi/base/failure.h"

namespace fab::mpi {

/// `found`, or if that is the other of fab's libraries, the definition behind it. Null if there is none.
[[nodiscard]] void* skip_fab(void* found, const char* name) noexcept;

/// The MPI library's own definition. Null if it has none.
[[nodiscard]] void* find_in_mpi(const char* name) noexcept;

/// Stands where there is no definition.
template <class Function>
struct Missing;
template <class Result, class... Arguments>
struct Missing<Result (*)(Arguments...)> {
  static Result call(Arguments...) {
    log_error("libfab_mpi", "the MPI library lacks a function that fab takes over; was fab built for another one?");
    return MPI_ERR_INTERN;
  }
};

/// Behind fab's library there is nothing where the MPI library comes first: then it is MPI's. A program that is linked
/// to libfab_mpi and runs under libfab_dropin has both, of which the first does the work of either.
template <class Function>
Function find_next(const std::string& name) {
  void* found = skip_fab(::dlsym(RTLD_NEXT, name.c_str()), name.c_str());
  if (found == nullptr) found = find_in_mpi(name.c_str());
  return found == nullptr ? Missing<Function>::call : reinterpret_cast<Function>(found);
}

}  // namespace fab::mpi
