// Owning handles for libfabric's objects, and its error codes as fab's errors.
#pragma once

#include <fmt/format.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <memory>

#include "fab/error.h"

namespace fab::ofi {

struct CloseFid {
  template <class Object>
  void operator()(Object* object) const noexcept {
    // Closing in the order endpoint, queue, vector, domain, fabric cannot fail with "busy", the only documented error.
    fi_close(&object->fid);
  }
};
template <class Object>
using Handle = std::unique_ptr<Object, CloseFid>;

struct FreeInfo {
  void operator()(fi_info* info) const noexcept { fi_freeinfo(info); }
};
using InfoHandle = std::unique_ptr<fi_info, FreeInfo>;

/// Throws Error(code) unless the libfabric call succeeded.
inline void check(long result, const char* call, const std::string& provider, Errc code = Errc::transport) {
  if (result < 0) throw Error(code, fmt::format("{} ({}): {}", call, provider, fi_strerror(static_cast<int>(-result))));
}

}  // namespace fab::ofi
