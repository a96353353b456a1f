// Owning handles for libfabric's objects, and the conversion of its error codes to fab's errors.
#pragma once

#include <fmt/core.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <memory>
#include <string_view>

#include "core/base/forks.h"
#include "fab/error.h"

namespace fab::ofi {

/// In a child of fork() the object stays as it is: it is the parent's, and so are the connections behind it.
struct CloseFid {
  core::Birthplace birthplace{};

  template <class Object>
  void operator()(Object* object) const noexcept {
    if (birthplace.is_abroad()) return;
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

/// Of a libfabric error number.
inline Errc code_of(int error) {
  switch (error) {
    case FI_ETRUNC:
      return Errc::truncated;
    case FI_ECANCELED:
      return Errc::cancelled;
    case FI_ECONNREFUSED:
    case FI_ECONNRESET:
    case FI_ECONNABORTED:
    case FI_ENOTCONN:
    case FI_ETIMEDOUT:
    case FI_EHOSTUNREACH:
    case FI_ENETUNREACH:
      return Errc::unreachable;
    default:
      return Errc::transport;
  }
}

/// What the user can do about an error of that call; empty where fab knows nothing.
inline std::string_view remedy(std::string_view call, long result) {
  if (result == -FI_ENOMEM)
    return "; memory that a network card reads and writes is locked: `ulimit -l` on every node must allow it (usual: "
           "unlimited)";
  if (result == -FI_EINVAL && call == "fi_enable")
    return "; ofi_rxm wants 256 places in a queue for each of FI_UNIVERSE_SIZE ranks (256 unless it is set), which may "
           "be more than the network card has: set FI_UNIVERSE_SIZE to the ranks of the job or less";
  return {};
}

/// Throws Error(code) unless the libfabric call succeeded.
inline void check(long result, std::string_view call, const std::string& provider, Errc code = Errc::transport) {
  if (result >= 0) return;
  throw Error(
      code, fmt::format("{} ({}): {}{}", call, provider, fi_strerror(static_cast<int>(-result)), remedy(call, result)));
}

}  // namespace fab::ofi
