#include "bindings/mpi/interception/loaded_objects.h"

#include <link.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <span>

#include "core/base/dynamic_section.h"

namespace fab::mpi {

namespace {

struct Reading {
  std::span<const std::string_view> names;
  std::vector<LoadedObject> objects;
};

// A slot that leads into its own object has not been bound yet: it leads to what binds it. Unless the object has the
// function itself.
void read_imports(const core::DynamicSection& dynamic, std::uintptr_t base, const Reading& reading,
                  LoadedObject& object) {
  dynamic.for_each_slot(reading.names, [&](const ElfW(Sym) & symbol, const std::uintptr_t* slot) {
    const std::uintptr_t target = *slot;
    const bool own = symbol.st_shndx != SHN_UNDEF && target == base + symbol.st_value;
    const bool bound = own || !object.contains(target);
    object.imports.push_back({.name = dynamic.string(symbol.st_name), .target = bound ? target : 0, .bound = bound});
  });
}

LoadedObject read_object(const dl_phdr_info& info, const Reading& reading) {
  LoadedObject object;
  if (info.dlpi_name != nullptr) object.path = info.dlpi_name;
  for (const ElfW(Phdr) & header : std::span(info.dlpi_phdr, info.dlpi_phnum))
    if (header.p_type == PT_LOAD)
      object.ranges.emplace_back(info.dlpi_addr + header.p_vaddr, info.dlpi_addr + header.p_vaddr + header.p_memsz);
  const core::DynamicSection dynamic(info);
  if (!dynamic.usable()) return object;
  dynamic.for_each(DT_SONAME, [&](std::size_t offset) { object.soname = dynamic.string(offset); });
  dynamic.for_each(DT_NEEDED, [&](std::size_t offset) { object.needed.emplace_back(dynamic.string(offset)); });
  read_imports(dynamic, info.dlpi_addr, reading, object);
  return object;
}

/// Nothing can be thrown through the dynamic linker.
int visit(dl_phdr_info* info, std::size_t, void* reading) noexcept {
  try {
    auto& into = *static_cast<Reading*>(reading);
    into.objects.push_back(read_object(*info, into));
    return 0;
  } catch (const std::bad_alloc&) {
    return 1;
  }
}

int read_count(dl_phdr_info* info, std::size_t, void* count) noexcept {
  *static_cast<std::uint64_t*>(count) = info->dlpi_adds;
  return 1;
}

}  // namespace

bool LoadedObject::contains(std::uintptr_t address) const noexcept {
  return std::ranges::any_of(ranges,
                             [address](const auto& range) { return address >= range.first && address < range.second; });
}

std::vector<LoadedObject> read_loaded_objects(std::span<const std::string_view> names) {
  Reading reading{.names = names, .objects = {}};
  if (::dl_iterate_phdr(visit, &reading) != 0) throw std::bad_alloc();
  return std::move(reading.objects);
}

std::uint64_t count_loads() noexcept {
  std::uint64_t count = 0;
  ::dl_iterate_phdr(read_count, &count);
  return count;
}

std::string_view name_of(const LoadedObject& object) noexcept {
  return object.path.empty() ? std::string_view("the program") : std::string_view(object.path);
}

}  // namespace fab::mpi
