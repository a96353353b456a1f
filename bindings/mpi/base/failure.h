// The failures of this binding's calls: an MPI error class, and a message in fab's log.
#pragma once

#include <mpi.h>

#include <stdexcept>
#include <string>
#include <string_view>

#include "fab/error.h"

namespace fab::mpi {

/// Thrown inside a call; never leaves it.
class Failure : public std::runtime_error {
 public:
  Failure(int error_class, const std::string& message) : std::runtime_error(message), error_class_(error_class) {}
  [[nodiscard]] int error_class() const noexcept { return error_class_; }

 private:
  int error_class_;
};

/// For arguments that every MPI library refuses, too: a negative count, no datatype, no operation.
class BadArgument : public Failure {
 public:
  using Failure::Failure;
};

/// The class that stands for a code of fab's.
[[nodiscard]] int error_class_of(Errc code) noexcept;

/// Throws what a return code of MPI's own stands for. `call` is the function that gave it.
void require(int code, const char* call);

/// Whether MPI functions may be called.
[[nodiscard]] bool mpi_is_usable() noexcept;

// One line in the log at the level of that name.
void log_error(const char* call, std::string_view message) noexcept;
void log_info(const char* call, std::string_view message) noexcept;
/// Calls the error handler of `comm` (what is no handle: of MPI_COMM_WORLD) and returns the code if that returns.
int call_error_handler(MPI_Comm comm, int code) noexcept;
/// Logs the exception that is being handled; returns its error class.
int log_exception(const char* call) noexcept;
/// log_exception, and calls the error handler.
int report_exception(const char* call, MPI_Comm comm) noexcept;

/// Runs the body of a call and makes its exceptions MPI errors.
template <class Body>
int guarded(const char* call, MPI_Comm comm, Body&& body) noexcept {
  try {
    body();
    return MPI_SUCCESS;
  } catch (...) {
    return report_exception(call, comm);
  }
}

}  // namespace fab::mpi
