#include "providers/local/numa.h"

#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <limits>

namespace fab::local {

namespace {

using Word = unsigned long;
constexpr std::size_t kWordBits = std::numeric_limits<Word>::digits;
constexpr std::size_t kMostNodes = 1024;  // of Linux

}  // namespace

NumaNode this_numa_node() noexcept {
  unsigned processor = 0;
  unsigned node = 0;
  return ::getcpu(&processor, &node) == 0 ? node : kNoNumaNode;
}

// The policy is the file's, so it holds in all processes. Containers may refuse it, which costs only speed.
void place_on(NumaNode node, void* memory, std::size_t bytes) noexcept {
  if (node >= kMostNodes) return;
  std::array<Word, kMostNodes / kWordBits> nodes{};
  nodes[node / kWordBits] = Word{1} << (node % kWordBits);
  static_cast<void>(::syscall(SYS_mbind, memory, bytes, MPOL_PREFERRED, nodes.data(), kMostNodes + 1, 0));
}

}  // namespace fab::local
