// The resources of the machine that this process uses.
#pragma once

#include <cstddef>

namespace bench {

struct CpuUse {
  double percent = 0;        ///< of one core, all threads together
  double wakeups_per_s = 0;  ///< how often a thread that slept or waited was given a core again
};

/// Sleeps that long and says what the other threads of the process used meanwhile.
[[nodiscard]] CpuUse cpu_use_while_sleeping(double seconds);

/// Of the C library's heap, large blocks that it maps alone included.
[[nodiscard]] std::size_t heap_bytes();

/// Memory of this process alone that is resident: heap, stacks, written data. Throws std::runtime_error.
[[nodiscard]] std::size_t anonymous_resident_bytes();

}  // namespace bench
