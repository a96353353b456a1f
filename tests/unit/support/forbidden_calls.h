// Simulates a kernel that forbids the calls that containers and hardened systems forbid.
#pragma once

namespace fab::test {

/// From now on that system call fails with EPERM for the calling thread, for ever. Returns false where that cannot be.
[[nodiscard]] bool forbid(long system_call);

}  // namespace fab::test
