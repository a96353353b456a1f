// The layer below: libfabric's own TCP endpoint.
#pragma once

#include <rdma/fabric.h>

#include <memory>

namespace strict {

struct FreeInfo {
  void operator()(fi_info* info) const noexcept { fi_freeinfo(info); }
};
using Info = std::unique_ptr<fi_info, FreeInfo>;

/// All that it offers for messages without tags; null when there is nothing.
[[nodiscard]] Info find_lower();
/// The one of a fabric, and of a domain and an address where they are given.
[[nodiscard]] Info find_lower(const char* fabric, const fi_info* info);

}  // namespace strict
