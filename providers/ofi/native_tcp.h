// libfabric's native TCP endpoint, which has two names.
#pragma once

#include <rdma/fabric.h>

#include <string_view>

namespace fab::ofi {

/// In version 1.17 `tcp` has connections only, and `net` the endpoints without. Later `tcp` has both, and there is no
/// `net`.
inline const char* native_tcp() { return FI_VERSION_LT(fi_version(), FI_VERSION(1, 18)) ? "net" : "tcp"; }
inline bool is_native_tcp(std::string_view provider) { return provider == "tcp" || provider == "net"; }

/// Whether the bytes travel in TCP connections of the kernel's.
inline bool goes_by_tcp(std::string_view provider) {
  return is_native_tcp(provider) || provider == "tcp;ofi_rxm" || provider == "sockets";
}

}  // namespace fab::ofi
