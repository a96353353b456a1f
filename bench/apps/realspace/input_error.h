// The one error that is the user's fault: every rank throws it alike, so one rank reports it and all end in order.
#ifndef BENCH_APPS_REALSPACE_INPUT_ERROR_H
#define BENCH_APPS_REALSPACE_INPUT_ERROR_H

#include <stdexcept>

namespace realspace {

struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace realspace

#endif
