#include "bindings/mpi/interception/loaded_objects.h"

#include <link.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <span>

namespace fab::mpi {

namespace {

#if __ELF_NATIVE_CLASS == 64
constexpr std::size_t symbol_of(ElfW(Xword) info) noexcept { return ELF64_R_SYM(info); }
#else
constexpr std::size_t symbol_of(ElfW(Word) info) noexcept { return ELF32_R_SYM(info); }
#endif

/// The dynamic section of one object.
class Dynamic {
 public:
  explicit Dynamic(const dl_phdr_info& info) : base_(info.dlpi_addr) {
    for (const ElfW(Phdr) & header : std::span(info.dlpi_phdr, info.dlpi_phnum))
      if (header.p_type == PT_DYNAMIC) entries_ = reinterpret_cast<const ElfW(Dyn)*>(base_ + header.p_vaddr);
    symbols_ = table<ElfW(Sym)>(DT_SYMTAB);
    strings_ = table<char>(DT_STRTAB);
  }

  [[nodiscard]] bool usable() const noexcept { return symbols_ != nullptr && strings_ != nullptr; }
  [[nodiscard]] const char* string(std::size_t offset) const noexcept { return strings_ + offset; }

  /// Calls visit(value) for each entry of a kind.
  template <class Visit>
  void for_each(ElfW(Sxword) tag, Visit&& visit) const {
    for (const ElfW(Dyn)* entry = entries_; entry != nullptr && entry->d_tag != DT_NULL; ++entry)
      if (entry->d_tag == tag) visit(entry->d_un.d_val);
  }

  /// Calls visit(symbol, slot) for each place that the linker has filled in with the address of a symbol, or will. A
  /// slot of a symbol that is no function may lie where nothing may be read.
  template <class Visit>
  void for_each_slot(Visit&& visit) const {
    visit_slots<ElfW(Rela)>(DT_RELA, value(DT_RELASZ), visit);
    visit_slots<ElfW(Rel)>(DT_REL, value(DT_RELSZ), visit);
    if (value(DT_PLTREL) == DT_RELA)
      visit_slots<ElfW(Rela)>(DT_JMPREL, value(DT_PLTRELSZ), visit);
    else
      visit_slots<ElfW(Rel)>(DT_JMPREL, value(DT_PLTRELSZ), visit);
  }

 private:
  [[nodiscard]] std::size_t value(ElfW(Sxword) tag) const {
    std::size_t found = 0;
    for_each(tag, [&found](std::size_t value) { found = value; });
    return found;
  }
  /// The linker has made addresses of most offsets, and left some alone.
  template <class Element>
  [[nodiscard]] const Element* table(ElfW(Sxword) tag) const {
    const std::size_t found = value(tag);
    if (found == 0) return nullptr;
    return reinterpret_cast<const Element*>(found < base_ ? base_ + found : found);
  }
  template <class Relocation, class Visit>
  void visit_slots(ElfW(Sxword) tag, std::size_t bytes, Visit&& visit) const {
    const Relocation* const first = table<Relocation>(tag);
    if (first == nullptr) return;
    for (const Relocation& each : std::span(first, bytes / sizeof(Relocation)))
      if (const std::size_t symbol = symbol_of(each.r_info); symbol != 0)
        visit(symbols_[symbol], reinterpret_cast<const std::uintptr_t*>(base_ + each.r_offset));
  }

  std::uintptr_t base_;
  const ElfW(Dyn) * entries_ = nullptr;
  const ElfW(Sym) * symbols_ = nullptr;
  const char* strings_ = nullptr;
};

struct Reading {
  bool (*wanted)(std::string_view name);
  std::vector<LoadedObject> objects;
};

// A slot that leads into its own object has not been bound yet: it leads to what binds it. Unless the object has the
// function itself.
void read_imports(const Dynamic& dynamic, std::uintptr_t base, Reading& reading, LoadedObject& object) {
  dynamic.for_each_slot([&](const ElfW(Sym) & symbol, const std::uintptr_t* slot) {
    const char* const name = dynamic.string(symbol.st_name);
    if (!reading.wanted(name)) return;
    const std::uintptr_t target = *slot;
    const bool own = symbol.st_shndx != SHN_UNDEF && target == base + symbol.st_value;
    const bool bound = own || !object.contains(target);
    object.imports.push_back({.name = name, .target = bound ? target : 0, .bound = bound});
  });
}

LoadedObject read_object(const dl_phdr_info& info, Reading& reading) {
  LoadedObject object;
  if (info.dlpi_name != nullptr) object.path = info.dlpi_name;
  for (const ElfW(Phdr) & header : std::span(info.dlpi_phdr, info.dlpi_phnum))
    if (header.p_type == PT_LOAD)
      object.ranges.emplace_back(info.dlpi_addr + header.p_vaddr, info.dlpi_addr + header.p_vaddr + header.p_memsz);
  const Dynamic dynamic(info);
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

std::vector<LoadedObject> read_loaded_objects(bool (*wanted)(std::string_view name)) {
  Reading reading{.wanted = wanted, .objects = {}};
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
