// The dynamic section of a loaded object: the tables that the dynamic linker reads there.
#pragma once

#include <link.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/gnu_hash.h"

namespace fab::core {

namespace detail {
#if __ELF_NATIVE_CLASS == 64
constexpr std::size_t symbol_of(ElfW(Xword) info) noexcept { return ELF64_R_SYM(info); }
#else
constexpr std::size_t symbol_of(ElfW(Word) info) noexcept { return ELF32_R_SYM(info); }
#endif
}  // namespace detail

class DynamicSection {
 public:
  explicit DynamicSection(const dl_phdr_info& info) : base_(info.dlpi_addr) {
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

  /// Calls visit(symbol, slot) for each place that the linker has filled in with the address of a symbol of one of
  /// these names, or will. `names` is sorted. A slot of a symbol that is no function may lie where nothing may be read.
  template <class Visit>
  void for_each_slot(std::span<const std::string_view> names, Visit&& visit) const {
    const std::vector<std::size_t> symbols = find(names);
    if (symbols.empty()) return;
    for_each_relocation([&](std::size_t symbol, std::uintptr_t offset) {
      if (std::ranges::binary_search(symbols, symbol))
        visit(symbols_[symbol], reinterpret_cast<const std::uintptr_t*>(base_ + offset));
    });
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
  /// Calls visit(number of a symbol, offset of its slot).
  template <class Visit>
  void for_each_relocation(Visit&& visit) const {
    visit_relocations<ElfW(Rela)>(DT_RELA, value(DT_RELASZ), visit);
    visit_relocations<ElfW(Rel)>(DT_REL, value(DT_RELSZ), visit);
    if (value(DT_PLTREL) == DT_RELA)
      visit_relocations<ElfW(Rela)>(DT_JMPREL, value(DT_PLTRELSZ), visit);
    else
      visit_relocations<ElfW(Rel)>(DT_JMPREL, value(DT_PLTRELSZ), visit);
  }
  template <class Relocation, class Visit>
  void visit_relocations(ElfW(Sxword) tag, std::size_t bytes, Visit&& visit) const {
    const Relocation* const first = table<Relocation>(tag);
    if (first == nullptr) return;
    for (const Relocation& each : std::span(first, bytes / sizeof(Relocation)))
      if (const std::size_t symbol = detail::symbol_of(each.r_info); symbol != 0) visit(symbol, each.r_offset);
  }

  /// The numbers of the symbols of these names, sorted. A large program has some hundred thousand relocations, of as
  /// many symbols: most of these are its own, so they are in its hash table and need not be looked at one by one.
  [[nodiscard]] std::vector<std::size_t> find(std::span<const std::string_view> names) const {
    std::vector<std::size_t> found;
    const GnuHash own(table<std::uint32_t>(DT_GNU_HASH));
    const std::optional<std::size_t> first_own = own.first_symbol();
    const std::size_t others = first_own ? *first_own : count_symbols();
    for (std::size_t symbol = 1; symbol < others; ++symbol)
      if (const char* const name = name_of(symbol);
          may_be_one_of(names, name) && std::ranges::binary_search(names, name))
        found.push_back(symbol);
    if (first_own)
      for (const std::string_view name : names)
        own.for_each(name, [&](std::size_t symbol) {
          if (name == name_of(symbol)) found.push_back(symbol);
        });
    std::ranges::sort(found);
    return found;
  }
  [[nodiscard]] const char* name_of(std::size_t symbol) const noexcept { return string(symbols_[symbol].st_name); }
  /// By its first character: most names are of C++ and begin with an underscore.
  [[nodiscard]] static bool may_be_one_of(std::span<const std::string_view> names, const char* name) noexcept {
    return *name >= names.front().front() && *name <= names.back().front();
  }
  /// As many as relocations know of.
  [[nodiscard]] std::size_t count_symbols() const {
    std::size_t count = 0;
    for_each_relocation([&count](std::size_t symbol, std::uintptr_t) { count = std::max(count, symbol + 1); });
    return count;
  }

  std::uintptr_t base_;
  const ElfW(Dyn) * entries_ = nullptr;
  const ElfW(Sym) * symbols_ = nullptr;
  const char* strings_ = nullptr;
};

}  // namespace fab::core
