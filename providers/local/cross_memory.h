// Reads and writes memory of another process, if the kernel permits it.
#pragma once

#include <cstdint>

#include "core/base/config.h"
#include "core/base/log.h"
#include "providers/local/pieces.h"

namespace fab::local {

/// process_vm_readv(2) and process_vm_writev(2): one copy and no help from the other process, for a system call and the
/// mapping of every page. Containers and hardened systems forbid them; that is found out by the first try, and told
/// once.
class CrossMemory {
 public:
  enum class Result { done, gone, refused };

  CrossMemory(LocalLong way, const Log& log);

  /// No process has refused to let this one read so far.
  [[nodiscard]] bool usable() const noexcept { return usable_; }
  /// Or write.
  [[nodiscard]] bool writes() const noexcept { return writes_; }
  /// Copies the first `bytes` of what the other process has to what this one has; both hold as many. gone: the other
  /// process has ended. refused: nothing useful was copied, and the other process must send.
  [[nodiscard]] Result read(long process, const Pieces& to, const Pieces& from, std::uint64_t bytes);
  /// The other way round. Precondition: the process has not ended, or its number could be another's.
  [[nodiscard]] Result write(long process, const Pieces& to, const Pieces& from, std::uint64_t bytes);

 private:
  const Log& log_;
  bool usable_;
  bool writes_;
};

}  // namespace fab::local
