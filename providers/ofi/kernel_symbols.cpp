#include "providers/ofi/kernel_symbols.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace fab::ofi {

namespace {

std::FILE* open_unless_symbols(const char* path, const char* mode) noexcept {
  if (std::string_view(path) != "/proc/kallsyms") return std::fopen(path, mode);
  errno = ENOENT;
  return nullptr;
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

KernelSymbolsUnread::KernelSymbolsUnread() noexcept : slot_(ImportedSlot::find("fopen")) {
  if (!slot_) return;
  before_ = slot_->target();
  slot_->set(reinterpret_cast<std::uintptr_t>(&open_unless_symbols));
}

KernelSymbolsUnread::~KernelSymbolsUnread() {
  if (slot_) slot_->set(before_);
}

}  // namespace fab::ofi
