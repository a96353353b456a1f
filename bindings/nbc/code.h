// The failures of this binding's calls: a code of LibNBC's, and a message in fab's log.
#pragma once

#include "bindings/mpi/base/failure.h"

namespace fab::nbc {

using mpi::Failure;

/// The code for an MPI error class; the class itself where LibNBC has no code for it.
[[nodiscard]] int code_of(int error_class) noexcept;

/// Runs the body of a call, which returns its code; makes exceptions codes.
template <class Body>
int guarded(const char* call, Body&& body) noexcept {
  try {
    return body();
  } catch (...) {
    return code_of(mpi::log_exception(call));
  }
}

}  // namespace fab::nbc
