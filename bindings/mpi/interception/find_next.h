// Finds the next definition of a function that fab defines as well: a tool's, or MPI's.
#pragma once

#include <dlfcn.h>
#include <mpi.h>

#include <string>

#include "bindings/mpi/base/failure.h"

namespace fab::mpi {

/// `found`, or if that is the other of fab's libraries, the definition behind it. Null if there is none.
[[nodiscard]] void* skip_fab(void* found, const char* name) noexcept;

/// A handle of the MPI library for dlsym while this lives; fab keeps the library loaded.
class Library {
 public:
  Library() noexcept;
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  /// Null if it is not there.
  [[nodiscard]] void* find(const std::string& name) const noexcept;

 private:
  void* handle_ = nullptr;
};

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
Function find_next(const Library& library, const std::string& name) {
  void* found = skip_fab(::dlsym(RTLD_NEXT, name.c_str()), name.c_str());
  if (found == nullptr) found = library.find(name);
  return found == nullptr ? Missing<Function>::call : reinterpret_cast<Function>(found);
}

}  // namespace fab::mpi
