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

TEST(Processors, HaveAKindByTheNumbersOfTheirMakers) {
  EXPECT_EQ(processor_kind_in("processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 207\n"
                              "model name\t: Intel(R) Xeon(R) Processor\nstepping\t: 2\n\n"
                              "processor\t: 1\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 1\n"),
            "GenuineIntel, family 6, model 207");
  EXPECT_EQ(processor_kind_in("processor\t: 0\nBogoMIPS\t: 2000.00\nCPU implementer\t: 0x41\n"
                              "CPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0xd4f\n"),
            "implementer 0x41, part 0xd4f");
}

TEST(Processors, OfWhichTheKernelTellsNothingHaveNoKind) {
  for (const char* text : {"", "\n", "model\n", "model :\n", "model name\t: fast\n", "\nmodel\t: 3\n"})
    EXPECT_EQ(processor_kind_in(text), text == std::string("\nmodel\t: 3\n") ? "model 3" : "") << text;
}

}  // namespace
}  // namespace fab::core
