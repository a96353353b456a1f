// Where late writes go: memory that is never read, under the keys of memory that its owner has taken back.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

struct fid_mr;

namespace fab::ofi {

/// A provider ends the connection on a write whose key it does not know, and what else was on its way is lost. So a
/// key has to stay for as long as its writer may write, or a write of it may be on its way: some 100 B for each message
/// that this rank was to receive in an exchange that has failed.
///
/// Keys stay until the provider ends, for nothing earlier tells that a writer is done. A writer that lives stops when
/// it has heard of the failure, but no message of it says that it has: that would be a new one, behind its last write,
/// from a rank whose exchange has just failed. The keys of a writer that is lost could go when its connection does.
/// They are the fewer: when a rank dies, the other writers of the exchange live.
class WithdrawnMemory {
 public:
  WithdrawnMemory() = default;
  ~WithdrawnMemory();
  WithdrawnMemory(const WithdrawnMemory&) = delete;
  WithdrawnMemory& operator=(const WithdrawnMemory&) = delete;

  /// The same for all, and no memory is behind it before something is written. Empty: there is none.
  [[nodiscard]] std::span<std::byte> room(std::size_t bytes);
  /// Of a key, in that room.
  void keep(std::shared_ptr<fid_mr> region) { regions_.push_back(std::move(region)); }

 private:
  std::vector<std::span<std::byte>> rooms_;  ///< the last is the largest
  std::vector<std::shared_ptr<fid_mr>> regions_;
};

}  // namespace fab::ofi
