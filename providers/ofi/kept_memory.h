// Memory that stays registered for longer than one message, found by address.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

struct fid_mr;

namespace fab::ofi {

/// Each user of a region has a share of it, so that none is closed while a message is in flight there. Regions may
/// overlap. At most kMost of them: what comes on top is registered message by message.
class KeptMemory {
 public:
  static constexpr std::size_t kMost = 4096;

  [[nodiscard]] bool full() const noexcept { return all_.size() >= kMost; }
  /// `access` is what the memory was registered for.
  void add(const iovec& memory, std::uint64_t access, std::shared_ptr<fid_mr> region);
  /// No effect on what was never added.
  void remove(const fid_mr* region);
  /// A region that covers the piece and has at least this access; null: there is none.
  [[nodiscard]] std::shared_ptr<fid_mr> find(const iovec& piece, std::uint64_t access) const;

 private:
  struct Kept {
    std::uintptr_t end = 0;
    std::uint64_t access = 0;
    std::shared_ptr<fid_mr> region;
  };

  std::multimap<std::uintptr_t, Kept> all_;  ///< by where they begin
  std::size_t longest_ = 0;                  ///< that was ever there
};

/// The fewest regions that cover all pieces: pieces are one where they overlap, or are on the same page or adjacent
/// ones. So memory between them is mapped wherever theirs is.
[[nodiscard]] std::vector<iovec> joined(std::span<const iovec> pieces, std::size_t page_bytes);

}  // namespace fab::ofi
