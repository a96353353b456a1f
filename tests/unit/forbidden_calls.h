// A kernel that forbids what containers and hardened systems do.
#pragma once

namespace fab::test {

/// From now on that system call fails with EPERM for the calling thread, for ever. Returns false where that cannot be.
[[nodiscard]] bool forbid(long system_call);

}  // namespace fab::test
