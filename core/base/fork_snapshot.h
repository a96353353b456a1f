// Memory that is shared with other processes, as a child of fork() expects it: what it was when fork() was called.
#pragma once

#include <cstddef>

namespace fab::core {

/// The parent waits in fork() until the child has its copies. Its other threads go on, so what they write meanwhile
/// may be in the copies, or not.
class ForkSnapshot {
 public:
  /// The child may make copies from now on.
  void begin() noexcept;
  /// In the parent: waits until the child has made them, or has ended, or there is none.
  void wait_in_parent() noexcept;
  /// In the child.
  void end_in_child() noexcept;

 private:
  int pipe_[2] = {-1, -1};
};

/// In the child: puts a copy in the place of a shared mapping of that file. Pages that were never touched cost nothing.
/// False, and nothing has changed, where there is no memory to be had.
[[nodiscard]] bool replace_by_copy(std::byte* mapping, std::size_t bytes, int descriptor) noexcept;

}  // namespace fab::core
