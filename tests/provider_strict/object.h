// The functions that libfabric calls on each of its objects.
#pragma once

#include <rdma/fabric.h>

namespace strict {

/// Of all that there is, these alone are used.
constexpr fi_ops object_operations(decltype(fi_ops::close) close, decltype(fi_ops::bind) bind = nullptr,
                                   decltype(fi_ops::control) control = nullptr) noexcept {
  return {.size = sizeof(fi_ops),
          .close = close,
          .bind = bind,
          .control = control,
          .ops_open = nullptr,
          .tostr = nullptr,
          .ops_set = nullptr};
}

}  // namespace strict
