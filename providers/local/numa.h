// Takes pages from the memory of a given processor, on machines whose processors have their own.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fab::local {

/// A part of the machine's memory, by the kernel's number.
using NumaNode = std::uint32_t;
constexpr NumaNode kNoNumaNode = ~NumaNode{0};

/// Of the processor that runs the caller.
[[nodiscard]] NumaNode this_numa_node() noexcept;

/// Pages of shared memory that are not in use yet shall come from that node, not from that of the first process that
/// touches them. Takes whole pages. Does nothing where the system has no such nodes, or refuses.
void place_on(NumaNode node, void* memory, std::size_t bytes) noexcept;

}  // namespace fab::local
