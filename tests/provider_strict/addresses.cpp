#include "addresses.h"

#include <rdma/fi_errno.h>

#include "object.h"
#include "profile.h"
#include "violation.h"

namespace strict {

namespace {

Addresses& addresses_of(fid* object) { return *static_cast<Addresses*>(reinterpret_cast<fid_av*>(object)); }

int close_addresses(fid* object) {
  delete &addresses_of(object);
  return 0;
}

int insert_addresses(fid_av* object, const void* addresses, std::size_t count, fi_addr_t* handles, std::uint64_t flags,
                     void*) {
  if (flags != 0) return -FI_ENOSYS;
  return static_cast<Addresses*>(object)->insert(addresses, count, handles);
}

fi_ops fid_operations = object_operations(close_addresses);
fi_ops_av operations = {.size = sizeof(fi_ops_av),
                        .insert = insert_addresses,
                        .insertsvc = nullptr,
                        .insertsym = nullptr,
                        .remove = nullptr,
                        .lookup = nullptr,
                        .straddr = nullptr,
                        .av_set = nullptr};

}  // namespace

Addresses::Addresses(fid_av* lower, std::size_t address_bytes)
    : fid_av{.fid = {.fclass = FI_CLASS_AV, .context = nullptr, .ops = &fid_operations}, .ops = &operations},
      lower_(lower),
      address_bytes_(address_bytes) {}

Addresses::~Addresses() { fi_close(&lower_->fid); }

// A table counts from 0; what a map returns says nothing.
fi_addr_t Addresses::handle_of(std::size_t place) const noexcept {
  return profile().av_type == FI_AV_TABLE ? place : (place + 1) * 0x9e3779b97f4a7c15ull;
}

int Addresses::insert(const void* addresses, std::size_t count, fi_addr_t* handles) {
  int inserted = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string raw(static_cast<const char*>(addresses) + i * address_bytes_, address_bytes_);
    const fi_addr_t lower = lower_of(raw);
    const fi_addr_t handle = lower == FI_ADDR_NOTAVAIL ? FI_ADDR_NOTAVAIL : handle_of(all_.size());
    if (handles != nullptr) handles[i] = handle;
    if (lower == FI_ADDR_NOTAVAIL) continue;
    places_[handle] = all_.size();
    all_.push_back({raw, lower});
    ++inserted;
  }
  return inserted;
}

const Address& Addresses::at(const char* call, fi_addr_t handle) const {
  const auto found = places_.find(handle);
  demand(found != places_.end(), "{}: address {:#x} was never inserted", call, handle);
  return all_[found->second];
}

fi_addr_t Addresses::lower_of(const std::string& raw) {
  const auto found = lower_by_raw_.find(raw);
  if (found != lower_by_raw_.end()) return found->second;
  fi_addr_t lower = FI_ADDR_NOTAVAIL;
  if (fi_av_insert(lower_, raw.data(), 1, &lower, 0, nullptr) != 1) return FI_ADDR_NOTAVAIL;
  return lower_by_raw_[raw] = lower;
}

}  // namespace strict
