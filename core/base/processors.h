// The number of processors that this process may use, compared with the number of ranks on the node.
#pragma once

#include <string_view>

namespace fab::core {

struct Processors {
  int of_process = 1;  ///< processing units this thread may run on
  int of_node = 1;     ///< processing units that the operating system lets processes like this one use
  int online = 1;      ///< of the machine: all processes on it count the same
};

/// Asks the kernel, once. What it does not tell counts as 1 (never spin).
[[nodiscard]] Processors count_processors();

/// In a list of the kernel's, "0-3,8"; 0 where it makes no sense.
[[nodiscard]] int count_listed(std::string_view list) noexcept;

}  // namespace fab::core
