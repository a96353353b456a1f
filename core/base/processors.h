// The number of processors that this process may use, compared with the number of ranks on the node.
#pragma once

#include <string>
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

/// Which kind the node has, as rules files name it: "GenuineIntel, family 6, model 207"; what the kernel does not tell
/// is left out. Reads a file.
[[nodiscard]] std::string processor_kind();

/// The same of the text of /proc/cpuinfo.
[[nodiscard]] std::string processor_kind_in(std::string_view cpuinfo);

}  // namespace fab::core
