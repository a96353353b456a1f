// Registered memory, and the operations that may still use it.
#pragma once

#include <rdma/fi_domain.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>

#include "chance.h"

namespace strict {

class Endpoint;
class Regions;

struct Region : fid_mr {
  Regions* regions = nullptr;
  std::byte* start = nullptr;
  std::size_t bytes = 0;
  std::uint64_t access = 0;
  std::uint64_t its_key = 0;
  const Endpoint* endpoint = nullptr;  ///< that it is bound to
  bool enabled = false;
  int uses = 0;  ///< by operations in flight

  [[nodiscard]] bool covers(const void* memory, std::size_t length) const noexcept;
};

/// Those of a domain.
class Regions {
 public:
  int add(const void* memory, std::size_t bytes, std::uint64_t access, std::uint64_t requested_key, fid_mr** result);
  void close(Region& region);
  int enable(Region& region);
  [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
  [[nodiscard]] bool any_bound_to(const Endpoint& endpoint) const noexcept;

  /// Ends the process unless a post's descriptors are those of living regions that cover its memory (FI_MR_LOCAL).
  void check_descriptors(const char* call, const iovec* pieces, void* const* descriptors, std::size_t count,
                         std::uint64_t access, const Endpoint& endpoint) const;
  void take(void* const* descriptors, const iovec* pieces, std::size_t count, int change);

  /// The endpoint whose operations they were is closed.
  void forget_uses() noexcept;

  /// Where a peer's write of so many bytes goes; null when it may not.
  [[nodiscard]] std::byte* target(std::uint64_t key, std::uint64_t address, std::size_t bytes) const noexcept;

 private:
  std::set<Region*> all_;
  std::map<std::uint64_t, Region*> by_key_;
  Chance chance_{7};
};

}  // namespace strict
