// The number of processors that this process may use, compared with the number of ranks on the node.
#pragma once

namespace fab::core {

struct Processors {
  int of_process = 1;  ///< processing units this process may run on
  int of_node = 1;     ///< processing units that the operating system lets processes use
};

/// Reads both through hwloc, which takes milliseconds, once; 1 and 1 (never spin) when it fails.
[[nodiscard]] Processors count_processors();

}  // namespace fab::core
