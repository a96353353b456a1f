#include "providers/ofi/imported_slot.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <new>
#include <span>

#include "core/base/dynamic_section.h"

namespace fab::ofi {

namespace {

struct Search {
  std::string_view function;
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
int visit(dl_phdr_info* info, std::size_t, void* data) noexcept try {
  if (info->dlpi_name == nullptr || std::string_view(info->dlpi_name).find("/libfabric.so") == std::string_view::npos)
    return 0;
  auto& search = *static_cast<Search*>(data);
  const core::DynamicSection dynamic(*info);
  if (!dynamic.usable()) return 1;
  const std::array<std::string_view, 1> names{search.function};
  dynamic.for_each_slot(names, [&](const ElfW(Sym)&, const std::uintptr_t* address) {
    search.address = const_cast<std::uintptr_t*>(address);
    search.is_read_only = is_in_read_only_part(*info, reinterpret_cast<std::uintptr_t>(address));
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

std::optional<ImportedSlot> ImportedSlot::find(std::string_view function) noexcept {
  Search search{.function = function};
  static_cast<void>(::dl_iterate_phdr(visit, &search));
  if (search.address == nullptr) return std::nullopt;
  return ImportedSlot(search.address, search.is_read_only);
}

bool ImportedSlot::set(std::uintptr_t target) const noexcept {
  if (is_read_only_ && !protect(address_, PROT_READ | PROT_WRITE)) return false;
  std::atomic_ref(*address_).store(target, std::memory_order_release);
  if (is_read_only_) static_cast<void>(protect(address_, PROT_READ));
  return true;
}

}  // namespace fab::ofi
