#include "region.h"

#include <fmt/format.h>
#include <rdma/fi_errno.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "object.h"
#include "profile.h"
#include "violation.h"

namespace strict {

namespace {

std::atomic<unsigned long> registrations = 0;

Region& region_of(fid* object) { return *static_cast<Region*>(reinterpret_cast<fid_mr*>(object)); }

bool has_mr_mode(std::uint64_t bit) noexcept { return (profile().mr_mode & bit) != 0; }

std::uint64_t greatest_key() noexcept {
  return profile().key_bytes >= 8 ? ~0ull : (1ull << (8 * profile().key_bytes)) - 1;
}

bool is_mapped(const void* memory, std::size_t bytes) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(memory) & ~(page - 1);
  const auto end = reinterpret_cast<std::uintptr_t>(memory) + bytes;
  std::vector<unsigned char> resident((end - first + page - 1) / page);
  return ::mincore(reinterpret_cast<void*>(first), end - first, resident.data()) == 0;
}

int close_region(fid* object) {
  Region& region = region_of(object);
  region.regions->close(region);
  return 0;
}

int bind_region(fid* object, fid* other, std::uint64_t flags) {
  Region& region = region_of(object);
  demand(has_mr_mode(FI_MR_ENDPOINT) && other->fclass == FI_CLASS_EP && flags == 0,
         "fi_mr_bind: flags {:#x}, object of class {}; valid is an endpoint, without flags, with FI_MR_ENDPOINT", flags,
         other->fclass);
  demand(region.endpoint == nullptr, "fi_mr_bind: the region is bound already");
  region.endpoint = reinterpret_cast<const Endpoint*>(other->context);
  return 0;
}

int control_region(fid* object, int command, void*) {
  Region& region = region_of(object);
  if (command != FI_ENABLE) return -FI_ENOSYS;
  return region.regions->enable(region);
}

fi_ops operations = object_operations(close_region, bind_region, control_region);

}  // namespace

bool Region::covers(const void* memory, std::size_t length) const noexcept {
  const auto* first = static_cast<const std::byte*>(memory);
  return first >= start && first + length <= start + bytes;
}

int Regions::add(const void* memory, std::size_t bytes, std::uint64_t access, std::uint64_t requested_key,
                 fid_mr** result) {
  demand(memory != nullptr && bytes > 0, "fi_mr_reg: {} bytes at {}", bytes, memory);
  demand((access & ~(FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE)) == 0 && access != 0,
         "fi_mr_reg: access {:#x}", access);
  if (has_mr_mode(FI_MR_ALLOCATED))
    demand(is_mapped(memory, bytes), "fi_mr_reg: no memory behind {} bytes at {} (FI_MR_ALLOCATED)", bytes, memory);
  std::uint64_t key = requested_key;
  if (has_mr_mode(FI_MR_PROV_KEY)) {
    do {
      if (::getrandom(&key, sizeof(key), 0) != sizeof(key)) return -FI_ENOMEM;
      key &= greatest_key();
    } while (by_key_.contains(key));
  }
  demand(key <= greatest_key(), "fi_mr_reg: key {:#x}; the domain has keys of {} bytes", key, profile().key_bytes);
  if (by_key_.contains(key)) return -FI_ENOKEY;
  auto region = std::make_unique<Region>();
  region->fid = {.fclass = FI_CLASS_MR, .context = nullptr, .ops = &operations};
  region->mem_desc = region.get();
  region->regions = this;
  region->start = static_cast<std::byte*>(const_cast<void*>(memory));
  region->bytes = bytes;
  region->access = access;
  region->its_key = key;
  region->key = has_mr_mode(FI_MR_ENDPOINT) ? FI_KEY_NOTAVAIL : key;
  region->enabled = !has_mr_mode(FI_MR_ENDPOINT);
  by_key_[key] = region.get();
  all_.insert(region.get());
  *result = region.release();
  ++registrations;
  return 0;
}

void Regions::close(Region& region) {
  demand(all_.contains(&region), "fi_close: not a region of this domain, or closed already");
  demand(region.uses == 0, "fi_close: a region of {} bytes at {} is closed while {} operations in flight use it",
         region.bytes, fmt::ptr(region.start), region.uses);
  by_key_.erase(region.its_key);
  all_.erase(&region);
  delete &region;
}

int Regions::enable(Region& region) {
  demand(region.endpoint != nullptr, "fi_mr_enable: the region is not bound to an endpoint (FI_MR_ENDPOINT)");
  region.enabled = true;
  region.key = region.its_key;
  return 0;
}

bool Regions::any_bound_to(const Endpoint& endpoint) const noexcept {
  return std::ranges::any_of(all_, [&endpoint](const Region* region) { return region->endpoint == &endpoint; });
}

void Regions::check_descriptors(const char* call, const iovec* pieces, void* const* descriptors, std::size_t count,
                                std::uint64_t access, const Endpoint& endpoint) const {
  if (!has_mr_mode(FI_MR_LOCAL)) return;
  for (std::size_t i = 0; i < count; ++i) {
    if (pieces[i].iov_len == 0) continue;
    demand(descriptors != nullptr && descriptors[i] != nullptr, "{}: piece {} has no descriptor (FI_MR_LOCAL)", call,
           i);
    const auto found = all_.find(static_cast<Region*>(descriptors[i]));
    demand(found != all_.end(), "{}: the descriptor of piece {} is not that of a living region", call, i);
    const Region& region = **found;
    demand(region.covers(pieces[i].iov_base, pieces[i].iov_len),
           "{}: piece {}, {} bytes at {}, is not within its region, {} bytes at {}", call, i, pieces[i].iov_len,
           pieces[i].iov_base, region.bytes, fmt::ptr(region.start));
    demand((region.access & access) == access, "{}: the region of piece {} has access {:#x}; {:#x} is needed", call, i,
           region.access, access);
    demand(region.enabled && (!has_mr_mode(FI_MR_ENDPOINT) || region.endpoint == &endpoint),
           "{}: the region of piece {} is not enabled for this endpoint (FI_MR_ENDPOINT)", call, i);
  }
}

void Regions::take(void* const* descriptors, const iovec* pieces, std::size_t count, int change) {
  if (!has_mr_mode(FI_MR_LOCAL)) return;
  for (std::size_t i = 0; i < count; ++i)
    if (pieces[i].iov_len > 0) static_cast<Region*>(descriptors[i])->uses += change;
}

void Regions::forget_uses() noexcept {
  for (Region* region : all_) region->uses = 0;
}

std::byte* Regions::target(std::uint64_t key, std::uint64_t address, std::size_t bytes) const noexcept {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  const Region& region = *found->second;
  if ((region.access & FI_REMOTE_WRITE) == 0 || !region.enabled) return nullptr;
  const std::uint64_t start = has_mr_mode(FI_MR_VIRT_ADDR) ? reinterpret_cast<std::uint64_t>(region.start) : 0;
  if (address < start || address - start > region.bytes || bytes > region.bytes - (address - start)) return nullptr;
  return region.start + (address - start);
}

}  // namespace strict

/// For tests: how often memory was registered in this process.
extern "C" __attribute__((visibility("default"))) unsigned long fi_strict_registrations() {
  return strict::registrations;
}
