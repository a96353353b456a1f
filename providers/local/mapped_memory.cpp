#include "providers/local/mapped_memory.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "fab/error.h"

namespace fab::local {

namespace {

bool holds(const core::SharedRegion& region, std::span<const iovec> pieces) noexcept {
  return std::ranges::all_of(pieces, [&](const iovec& piece) { return region.holds(piece.iov_base, piece.iov_len); });
}

}  // namespace

RegionName OwnMemory::region_of(std::span<const iovec> pieces) {
  const std::uint64_t generation = heap_.generation();
  if (generation == 0 || pieces.empty()) return {};
  if (generation != generation_) {
    generation_ = generation;
    last_ = {};
    outside_.fill(nullptr);
  }
  if (holds(last_, pieces)) return {last_.number, last_.descriptor};
  const void* const first = pieces[0].iov_base;
  const void*& outside = outside_[reinterpret_cast<std::uintptr_t>(first) / kCacheLine % kOutside];
  if (outside == first) return {};
  const auto found = heap_.find(first, pieces[0].iov_len);
  if (!found) outside = first;
  if (!found || !holds(*found, pieces)) return {};
  last_ = *found;
  return {last_.number, last_.descriptor};
}

bool PeerMemory::translate(const RegionName& name, std::span<iovec> pieces) {
  const Region& region = find(name);
  const auto* here = region.here.as<const std::byte>();
  if (here == nullptr || !holds(region.there, pieces)) return false;
  for (iovec& piece : pieces)
    piece.iov_base =
        const_cast<std::byte*>(here + (static_cast<const std::byte*>(piece.iov_base) - region.there.begin));
  return true;
}

const PeerMemory::Region& PeerMemory::find(const RegionName& name) {
  const auto found = std::ranges::find(regions_, name.number, &Region::number);
  if (found != regions_.end()) return *found;
  drop_ended();
  return regions_.emplace_back(map(name));
}

PeerMemory::Region PeerMemory::map(const RegionName& name) const {
  Region region{.number = name.number};
  const std::string path = fmt::format("/proc/{}/fd/{}", process_, name.descriptor);
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!file.open() || ::fstat(file.get(), &status) != 0 || status.st_uid != ::geteuid()) return region;
  const auto bytes = static_cast<std::size_t>(status.st_size);
  if (bytes < sizeof(core::SharedRegionHead)) return region;
  try {
    Mapping here(file.get(), 0, bytes, PROT_READ);
    const auto& head = *here.as<const core::SharedRegionHead>();
    if (head.magic != core::SharedRegionHead::kMagic || head.number != name.number) return region;
    region.there = {.number = name.number, .begin = reinterpret_cast<const std::byte*>(head.begin), .bytes = bytes};
    region.here = std::move(here);
  } catch (const Error&) {  // no addresses left: the message travels in another way
  }
  return region;
}

// The other process has freed them: they hold no memory any more, only addresses of this process.
void PeerMemory::drop_ended() {
  std::erase_if(regions_, [](const Region& region) {
    const auto* head = region.here.as<const core::SharedRegionHead>();
    return head == nullptr || head->magic != core::SharedRegionHead::kMagic;
  });
}

}  // namespace fab::local
