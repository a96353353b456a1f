#include "bindings/dropin/rules.h"

#include <gtest/gtest.h>

namespace fab::dropin {
namespace {

constexpr Situation blocking(Function function, int ranks, bool one_node) {
  return {function, Form::blocking, ranks, one_node};
}

TEST(Rules, CarryWhatFabIsFasterAt) {
  EXPECT_TRUE(pays(blocking(Function::allreduce, 2, true), {.bytes = 4096}));
  EXPECT_TRUE(pays({Function::allreduce, Form::non_blocking, 2, true}, {.bytes = 8}));
  EXPECT_TRUE(pays(blocking(Function::allreduce, 4, false), {.bytes = 524288}));
  EXPECT_TRUE(pays(blocking(Function::alltoallv, 4, false), {}));
}

TEST(Rules, LeaveShortBlockingCallsToMpi) {
  for (const Function function : {Function::barrier, Function::allreduce, Function::scan}) {
    EXPECT_FALSE(pays(blocking(function, 2, true), {.bytes = 0}));
    EXPECT_FALSE(pays(blocking(function, 2, false), {.bytes = 0}));
    EXPECT_TRUE(pays({function, Form::non_blocking, 2, true}, {.bytes = 0}));
    EXPECT_TRUE(pays({function, Form::persistent, 2, false}, {.bytes = 0}));
  }
  EXPECT_FALSE(pays(blocking(Function::allreduce, 2, true), {.bytes = 4095}));
  EXPECT_FALSE(pays(blocking(Function::allreduce, 2, false), {.bytes = 32767}));
  EXPECT_TRUE(pays(blocking(Function::allreduce, 2, false), {.bytes = 32768}));
}

TEST(Rules, LeaveTheLossesToMpi) {
  EXPECT_FALSE(pays({Function::reduce, Form::non_blocking, 2, true}, {.bytes = 1024}));
  EXPECT_TRUE(pays({Function::reduce, Form::non_blocking, 2, false}, {.bytes = 1024}));
  EXPECT_TRUE(pays({Function::reduce, Form::non_blocking, 3, true}, {.bytes = 1024}));
  EXPECT_TRUE(pays({Function::reduce, Form::persistent, 2, true}, {.bytes = 1024}));
  EXPECT_FALSE(pays(blocking(Function::reduce, 2, true), {.bytes = 524288}));
  EXPECT_TRUE(pays({Function::reduce, Form::non_blocking, 2, true}, {.bytes = 524288}));
  EXPECT_FALSE(pays({Function::exscan, Form::non_blocking, 2, true}, {.bytes = 8}));
  EXPECT_TRUE(pays({Function::exscan, Form::persistent, 2, true}, {.bytes = 8}));
  EXPECT_TRUE(pays({Function::gather, Form::persistent, 2, true}, {.bytes = 8}));
  EXPECT_FALSE(pays(blocking(Function::exscan, 2, true), {.bytes = 262144}));
}

TEST(Rules, LeaveToMpiWhatWasNotMeasured) {
  EXPECT_FALSE(pays(blocking(Function::allreduce, 9, true), {.bytes = 65536}));
  EXPECT_FALSE(pays(blocking(Function::allreduce, 2, true), {.bytes = 65536, .user_operation = true}));
  EXPECT_FALSE(pays(blocking(Function::allreduce, 1, true), {.bytes = 65536}));
}

TEST(Rules, CarryNeighborsOnAnyNumberOfRanks) {
  EXPECT_TRUE(pays(blocking(Function::neighbor_alltoallv, 1000, false), {}));
  EXPECT_FALSE(pays(blocking(Function::neighbor_alltoallv, 1, true), {}));
}

}  // namespace
}  // namespace fab::dropin
