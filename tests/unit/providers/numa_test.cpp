// Where the pages of rings come from. On a machine with one node the policy is all that can be seen.
#include <gtest/gtest.h>
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "unit/support/local_ends.h"

namespace fab::test {
namespace {

/// Mappings of this process's segments whose pages shall come from one node.
std::size_t placed_mappings() {
  std::size_t found = 0;
  std::ifstream maps("/proc/self/numa_maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find("memfd:fab\\040") != std::string::npos && line.find(" prefer:") != std::string::npos) ++found;
  return found;
}

/// Containers may refuse all policies for memory. The rings then come from the node of the first user.
bool may_place_memory() { return ::syscall(SYS_set_mempolicy, MPOL_DEFAULT, nullptr, 0) == 0; }

class NumaOfRings : public LocalEnds {};

TEST_P(NumaOfRings, PagesComeFromTheReadersNode) {
  if (!std::ifstream("/proc/self/numa_maps")) GTEST_SKIP() << "this kernel has no nodes";
  if (!may_place_memory()) GTEST_SKIP() << "the system refuses policies for memory";
  const std::size_t by_writers = placed_mappings();
  EXPECT_GE(by_writers, 2u) << "each end has made a ring to the other one";
  std::deque<Message> sent;
  std::deque<Message> received;
  receive(received.emplace_back(std::vector<std::byte>(4096)), 1);
  send(sent.emplace_back(periodic_bytes(4096, 1)), 1);
  ASSERT_NO_FATAL_FAILURE(poll_until_all_ended(received));
  EXPECT_EQ(placed_mappings(), by_writers + 1) << "the reader's mapping has the writer's policy";
}

constexpr Way kNumaWays[] = {{"automatic", LocalLong::automatic}};
INSTANTIATE_TEST_SUITE_P(Ways, NumaOfRings, testing::ValuesIn(kNumaWays), name_of);

}  // namespace
}  // namespace fab::test
