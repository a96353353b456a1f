// Stands in for a function of the C library's in libfabric's calls alone, by the linker's table of that library.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fab::ofi {

/// Where libfabric's calls of a function lead.
class ImportedSlot {
 public:
  /// None: libfabric is not loaded, or does not call that function.
  [[nodiscard]] static std::optional<ImportedSlot> find(std::string_view function) noexcept;

  [[nodiscard]] std::uintptr_t target() const noexcept { return *address_; }
  /// False: the kernel does not let the table be written. Another thread may be calling, and finds one or the other.
  bool set(std::uintptr_t target) const noexcept;

 private:
  ImportedSlot(std::uintptr_t* address, bool is_read_only) noexcept : address_(address), is_read_only_(is_read_only) {}

  std::uintptr_t* address_;
  bool is_read_only_;
};

}  // namespace fab::ofi
