// What the dynamic linker reads in an object that it has loaded.
#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>
#include <span>

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
      if (const std::size_t symbol = detail::symbol_of(each.r_info); symbol != 0)
        visit(symbols_[symbol], reinterpret_cast<const std::uintptr_t*>(base_ + each.r_offset));
  }

  std::uintptr_t base_;
  const ElfW(Dyn) * entries_ = nullptr;
  const ElfW(Sym) * symbols_ = nullptr;
  const char* strings_ = nullptr;
};

}  // namespace fab::core
