// Reductions and pipelines in schedules.
#include <gmock/gmock.h>

#include <cstring>
#include <map>

#include "fab/schedule.h"
#include "unit/schedule/schedule_blocks.h"
#include "unit/support/expect_error.h"

namespace fab {
namespace {

using test::expect_error;
using test::in;
using test::out;
using testing::HasSubstr;

constexpr Reduction kSum{ReduceOp::sum, ElementType::int32};
constexpr Reduction kUser{ReduceOp::user, ElementType::byte};

void expect_refused(const char* fault, const std::function<void(ScheduleBuilder&)>& add) {
  SCOPED_TRACE(fault);
  ScheduleBuilder builder("test", 4);
  add(builder);
  expect_error(Errc::invalid_schedule, {"commit of schedule 'test'", fault}, [&] { (void)builder.commit(); });
}

TEST(ReduceOperation, IsStoredWithWhatItNeeds) {
  ScheduleBuilder builder("test", 2);
  builder.reduce(kSum, 4, out(0, 12), in(8, 12));
  builder.reduce(kUser, 6, out(0, 12), in(8, 12));
  const Schedule schedule = Schedule::from_bytes(builder.commit().bytes());
  ASSERT_EQ(schedule.operations().size(), 2u);
  const OperationRecord& record = schedule.operations()[0];
  EXPECT_EQ(record.kind, OperationKind::reduce);
  EXPECT_EQ(record.reduction, kSum);
  EXPECT_EQ(record.element_bytes, 4u);
  EXPECT_EQ(record.bytes, 12u);
  EXPECT_TRUE(schedule.peers().empty());
  EXPECT_THAT(schedule.to_string(), HasSubstr("reduce send[0] 12 B with sum of int32 -> recv[8] 12 B"));
  EXPECT_THAT(schedule.to_string(), HasSubstr("with user operation on 6 B ->"));
  EXPECT_THAT(schedule.to_graphviz(), HasSubstr("sum of int32"));
}

TEST(ReduceOperation, StandsBehindMessagesAndInOrderWithCopies) {
  ScheduleBuilder builder("test", 2);
  builder.copy(out(0, 4), in(0, 4));
  builder.reduce(kSum, 4, out(0, 4), in(4, 4));
  builder.copy(out(4, 4), in(8, 4));  // would continue the first copy, if nothing were between them
  builder.send(1, 0, out(0, 4));
  std::vector<OperationKind> kinds;
  const Schedule schedule = builder.commit();
  for (const OperationRecord& record : schedule.operations()) kinds.push_back(record.kind);
  EXPECT_EQ(kinds, (std::vector{OperationKind::send, OperationKind::copy, OperationKind::reduce, OperationKind::copy}));
}

TEST(ReduceOperation, IsRefusedWhereItCannotBeDone) {
  expect_refused("bit_and of float64 is not defined", [](ScheduleBuilder& builder) {
    builder.reduce({ReduceOp::bit_and, ElementType::float64}, 8, out(0, 8), in(0, 8));
  });
  expect_refused("elements of 8 bytes", [](ScheduleBuilder& builder) { builder.reduce(kSum, 8, out(0, 8), in(0, 8)); });
  expect_refused("elements of 0 bytes",
                 [](ScheduleBuilder& builder) { builder.reduce(kUser, 0, out(0, 8), in(0, 8)); });
  expect_refused("blocks of 8 and 12 bytes",
                 [](ScheduleBuilder& builder) { builder.reduce(kSum, 4, out(0, 8), in(0, 12)); });
  expect_refused("blocks of 10 and 10 bytes",
                 [](ScheduleBuilder& builder) { builder.reduce(kSum, 4, out(0, 10), in(0, 10)); });
  expect_refused("must be contiguous", [](ScheduleBuilder& builder) {
    builder.reduce(kSum, 4, {BufferId::send, 0, Layout::vector(2, 1, 8, Layout::contiguous(4))}, in(0, 8));
  });
  expect_refused("the operands overlap", [](ScheduleBuilder& builder) { builder.reduce(kSum, 4, in(0, 8), in(4, 8)); });
}

TEST(ReduceOperation, FromBytesRefusesWhatCannotBeDone) {
  ScheduleBuilder builder("test", 2);
  builder.reduce(kSum, 4, out(0, 12), in(8, 12));
  const Schedule schedule = builder.commit();
  const auto* record = reinterpret_cast<const std::byte*>(schedule.operations().data());
  const auto at = [&](const void* field) {
    return static_cast<std::size_t>(static_cast<const std::byte*>(field) - record) +
           static_cast<std::size_t>(record - schedule.bytes().data());
  };
  const OperationRecord& operation = schedule.operations()[0];
  const std::pair<std::size_t, int> changes[] = {{at(&operation.element_bytes), 8},
                                                 {at(&operation.element_bytes), 0},
                                                 {at(&operation.reduction.op), 200},
                                                 {at(&operation.reduction.type), 200},
                                                 {at(&operation.block_count), 1}};
  for (const auto& [place, value] : changes) {
    std::vector<std::byte> bytes(schedule.bytes().begin(), schedule.bytes().end());
    bytes[place] = static_cast<std::byte>(value);
    expect_error(Errc::invalid_schedule, {"Schedule::from_bytes"}, [&] { (void)Schedule::from_bytes(bytes); });
  }
}

/// A link of a chain that reduces: from rank 2, to rank 0.
ScheduleBuilder link(std::size_t bytes, std::size_t grain = 4) {
  ScheduleBuilder builder("test", 3);
  const Block scratch{BufferId::scratch, builder.scratch(bytes), Layout::contiguous(bytes)};
  builder.copy(in(1000, 4), in(2000, 4));
  builder.round();
  builder.begin_pipeline(bytes, grain);
  builder.recv(2, 0, scratch);
  builder.round();
  builder.reduce(kUser, grain, out(0, bytes), scratch);
  builder.round();
  builder.send(0, 0, scratch);
  builder.end_pipeline();
  builder.copy(in(1000, 4), in(3000, 4));
  return builder;
}

TEST(Pipeline, StaysWholeWhereItIsShortOrUnasked) {
  const Schedule whole = link(100).commit();
  EXPECT_EQ(whole.rounds().size(), 5u);
  EXPECT_EQ(link(100).commit({.segment_bytes = 100}), whole);
}

TEST(Pipeline, DoesWithSegmentJInRoundIAndJWhatItDoesInRoundI) {
  const Schedule schedule = link(100).commit({.segment_bytes = 30});  // 32, for whole elements
  ASSERT_EQ(schedule.rounds().size(), 1u + 3 + 3 + 1);
  constexpr std::size_t kSegments[] = {32, 32, 32, 4};
  for (std::size_t r = 0; r < schedule.rounds().size(); ++r) {
    const auto operations = schedule.operations(schedule.rounds()[r]);
    if (r == 0 || r == 7) {
      ASSERT_EQ(operations.size(), 1u);
      EXPECT_EQ(operations[0].kind, OperationKind::copy);
      continue;
    }
    std::map<OperationKind, const OperationRecord*> kinds;
    for (const OperationRecord& operation : operations) kinds[operation.kind] = &operation;
    EXPECT_EQ(kinds.size(), operations.size());
    const auto expect = [&](OperationKind kind, std::size_t delay) {
      const std::size_t segment = r - 1 - delay;
      if (r < 1 + delay || segment >= 4) {
        EXPECT_FALSE(kinds.contains(kind)) << "round " << r;
        return;
      }
      ASSERT_TRUE(kinds.contains(kind)) << "round " << r;
      EXPECT_EQ(kinds[kind]->bytes, kSegments[segment]);
      if (is_message(kind)) {
        EXPECT_EQ(kinds[kind]->slot, segment);
      }
      for (const BlockRecord& block : schedule.blocks(*kinds[kind]))
        EXPECT_EQ(block.offset, 32 * static_cast<std::ptrdiff_t>(segment));
    };
    expect(OperationKind::recv, 0);
    expect(OperationKind::reduce, 1);
    expect(OperationKind::send, 2);
  }
}

TEST(Pipeline, HasNoMoreSegmentsThanThereAreSlots) {
  const Schedule schedule = link(100'000, 8).commit({.segment_bytes = 8});
  std::uint32_t last = 0;
  for (const OperationRecord& operation : schedule.operations())
    if (is_message(operation.kind)) last = std::max(last, operation.slot);
  EXPECT_LE(last, 255u);
  EXPECT_GE(last, 250u);
}

TEST(Pipeline, IsRefusedWhereItIsNone) {
  expect_refused("a block of 8 bytes, which must be all 16", [](ScheduleBuilder& builder) {
    builder.begin_pipeline(16, 1);
    builder.send(1, 0, out(0, 8));
  });
  expect_refused("slot 1; 0 is needed", [](ScheduleBuilder& builder) {
    builder.begin_pipeline(16, 1);
    builder.send(1, 1, out(0, 16));
  });
  expect_refused("a second message with peer 1", [](ScheduleBuilder& builder) {
    builder.begin_pipeline(16, 1);
    builder.send(1, 0, out(0, 16));
    builder.round();
    builder.send(1, 0, out(0, 16));
  });
}

}  // namespace
}  // namespace fab
