#include "providers/ofi/kernel_symbols.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <new>
#include <span>
#include <string_view>
#include <system_error>

#include "core/base/dynamic_section.h"

namespace fab::ofi {

namespace {

std::FILE* open_unless_symbols(const char* path, const char* mode) noexcept {
  if (std::string_view(path) != "/proc/kallsyms") return std::fopen(path, mode);
  errno = ENOENT;
  return nullptr;
}

struct Slot {
  std::uintptr_t* address = nullptr;
  bool is_read_only = false;
};

std::uintptr_t page_of(std::uintptr_t address) noexcept {
  const auto bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  return address / bytes * bytes;
}

/// The linker makes whole pages of this part read-only when it has filled it in.
bool is_in_read_only_part(const dl_phdr_info& info, std::uintptr_t address) noexcept {
  for (const ElfW(Phdr) & header : std::span(info.dlpi_phdr, info.dlpi_phnum)) {
    const std::uintptr_t begin = info.dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_GNU_RELRO && address >= begin && address < page_of(begin + header.p_memsz)) return true;
  }
  return false;
}

/// Nothing can be thrown through the dynamic linker. Without memory no slot is found.
int visit(dl_phdr_info* info, std::size_t, void* found) noexcept try {
  if (info->dlpi_name == nullptr || std::string_view(info->dlpi_name).find("/libfabric.so") == std::string_view::npos)
    return 0;
  const core::DynamicSection dynamic(*info);
  if (!dynamic.usable()) return 1;
  constexpr std::array<std::string_view, 1> kNames{"fopen"};
  dynamic.for_each_slot(kNames, [&](const ElfW(Sym)&, const std::uintptr_t* address) {
    *static_cast<Slot*>(found) = {const_cast<std::uintptr_t*>(address),
                                  is_in_read_only_part(*info, reinterpret_cast<std::uintptr_t>(address))};
  });
  return 1;
} catch (const std::bad_alloc&) {
  return 1;
}

bool protect(const std::uintptr_t* slot, int protection) noexcept {
  const std::uintptr_t page = page_of(reinterpret_cast<std::uintptr_t>(slot));
  return ::mprotect(reinterpret_cast<void*>(page), sizeof(*slot), protection) == 0;
}

}  // namespace

bool has_network_card() {
  namespace fs = std::filesystem;
  for (const char* kind : {"/sys/class/infiniband", "/sys/class/cxi"}) {
    std::error_code none;
    if (fs::directory_iterator(kind, none) != fs::directory_iterator()) return true;
  }
  return false;
}

KernelSymbolsUnread::KernelSymbolsUnread() noexcept {
  Slot slot;
  static_cast<void>(::dl_iterate_phdr(visit, &slot));
  slot_ = slot.address;
  is_read_only_ = slot.is_read_only;
  if (slot_ == nullptr) return;
  before_ = *slot_;
  set(reinterpret_cast<std::uintptr_t>(&open_unless_symbols));
}

KernelSymbolsUnread::~KernelSymbolsUnread() {
  if (slot_ != nullptr) set(before_);
}

// Another thread may be calling, and finds one or the other.
void KernelSymbolsUnread::set(std::uintptr_t target) noexcept {
  if (is_read_only_ && !protect(slot_, PROT_READ | PROT_WRITE)) return;
  std::atomic_ref(*slot_).store(target, std::memory_order_release);
  if (is_read_only_) static_cast<void>(protect(slot_, PROT_READ));
}

}  // namespace fab::ofi
