// Spares libfabric's start the reading of the kernel's symbols.
#pragma once

#include <cstdint>
#include <optional>

#include "providers/ofi/imported_slot.h"

namespace fab::ofi {

/// Whether the kernel knows a device with RDMA (InfiniBand, RoCE, EFA, Omni-Path), or a Slingshot one.
[[nodiscard]] bool has_network_card();

/// While it lives, libfabric finds no /proc/kallsyms. In its first fi_getinfo, for any provider, 1.17 reads all of it
/// twice to learn whether the driver of an InfiniBand device would register memory of graphics cards: 50 to 100 ms of
/// the 110 to 130 that a first fi_getinfo takes. Without a device the answer does not matter. It stands in for
/// libfabric's calls of fopen; where it cannot, libfabric reads. One at a time, around a call of libfabric's.
class KernelSymbolsUnread {
 public:
  KernelSymbolsUnread() noexcept;
  ~KernelSymbolsUnread();
  KernelSymbolsUnread(const KernelSymbolsUnread&) = delete;
  KernelSymbolsUnread& operator=(const KernelSymbolsUnread&) = delete;

 private:
  std::optional<ImportedSlot> slot_;  ///< where libfabric's calls of fopen lead
  std::uintptr_t before_ = 0;
};

}  // namespace fab::ofi
