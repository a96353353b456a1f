// A kernel that forbids what containers and hardened systems do.
#pragma once

namespace fab::test {

/// From now on process_vm_readv fails with EPERM for the calling thread, for ever. Returns false where that cannot be.
[[nodiscard]] bool forbid_cross_memory_reads();

}  // namespace fab::test
