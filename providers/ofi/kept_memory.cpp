#include "providers/ofi/kept_memory.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace fab::ofi {

namespace {

std::uintptr_t begin_of(const iovec& piece) noexcept { return reinterpret_cast<std::uintptr_t>(piece.iov_base); }
std::uintptr_t end_of(const iovec& piece) noexcept { return begin_of(piece) + piece.iov_len; }

}  // namespace

void KeptMemory::add(const iovec& memory, std::uint64_t access, std::shared_ptr<fid_mr> region) {
  all_.insert({begin_of(memory), {end_of(memory), access, std::move(region)}});
  longest_ = std::max(longest_, memory.iov_len);
}

void KeptMemory::remove(const fid_mr* region) {
  std::erase_if(all_, [region](const auto& each) { return each.second.region.get() == region; });
}

// Those that begin last come first; none that begins more than the longest ahead of the piece reaches it.
std::shared_ptr<fid_mr> KeptMemory::find(const iovec& piece, std::uint64_t access) const {
  for (auto next = all_.upper_bound(begin_of(piece)); next != all_.begin();) {
    const auto& [begin, kept] = *--next;
    if (begin_of(piece) - begin > longest_) break;
    if (end_of(piece) <= kept.end && (kept.access & access) == access) return kept.region;
  }
  return nullptr;
}

std::vector<iovec> joined(std::span<const iovec> pieces, std::size_t page_bytes) {
  std::vector<iovec> sorted;
  std::ranges::copy_if(pieces, std::back_inserter(sorted), [](const iovec& piece) { return piece.iov_len > 0; });
  std::ranges::sort(sorted, {}, begin_of);
  std::vector<iovec> regions;
  for (const iovec& piece : sorted) {
    const bool joins =
        !regions.empty() && begin_of(piece) / page_bytes <= (end_of(regions.back()) - 1) / page_bytes + 1;
    if (!joins) {
      regions.push_back(piece);
      continue;
    }
    iovec& last = regions.back();
    last.iov_len = std::max(end_of(last), end_of(piece)) - begin_of(last);
  }
  return regions;
}

}  // namespace fab::ofi
