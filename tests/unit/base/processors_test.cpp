#include "core/base/processors.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

namespace fab::core {
namespace {

TEST(Processors, AreCountedInTheKernelsLists) {
  EXPECT_EQ(count_listed("0"), 1);
  EXPECT_EQ(count_listed("0-3"), 4);
  EXPECT_EQ(count_listed("0-3,8,10-11"), 7);
}

TEST(Processors, OfAListWithoutSenseAreNone) {
  for (const char* list : {"", "x", "-1", "3-1", "0,", "0;1", "0-", "99999999999"})
    EXPECT_EQ(count_listed(list), 0) << list;
}

TEST(Processors, AreThoseThatTheKernelAllows) {
  cpu_set_t set;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(set), &set), 0);
  const Processors processors = count_processors();
  EXPECT_EQ(processors.of_process, CPU_COUNT(&set));
  EXPECT_GE(processors.of_node, 1);
  EXPECT_LE(processors.of_node, processors.online);
  EXPECT_EQ(processors.online, ::sysconf(_SC_NPROCESSORS_ONLN));
}

}  // namespace
}  // namespace fab::core
