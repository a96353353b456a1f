// Throws the exception that stands for a status.
#pragma once

#include "fab/error.h"
#include "fab/result.h"

namespace fab {

/// Throws a failure; does nothing for success.
inline void raise(const Status& status) {
  if (!status.ok()) throw Error(status.errc(), status.message);
}

}  // namespace fab
