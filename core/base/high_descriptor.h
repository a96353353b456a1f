// File descriptors that end after none of the process's others.
#pragma once

namespace fab::core {

/// Moves `fd` to a number above those that a process uses; returns `fd` itself where the process may have no such
/// number. The kernel ends the descriptors of a process from the last one down, so this one ends before all others.
int moved_up(int fd) noexcept;

}  // namespace fab::core
