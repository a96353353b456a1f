// Schedules that are put together from parts.
#include <gtest/gtest.h>

#include "fab/schedule.h"
#include "unit/schedule/schedule_blocks.h"
#include "unit/support/expect_error.h"

namespace fab {
namespace {

using test::block;
using test::expect_error;
using test::in;
using test::out;

/// Rank 1 of 3: from 0, through scratch, to 2.
ScheduleBuilder relay() {
  ScheduleBuilder part("relay", 3);
  const std::ptrdiff_t scratch = part.scratch(8);
  part.recv(0, 1, block(BufferId::scratch, scratch, 8));
  part.round();
  part.copy(block(BufferId::scratch, scratch, 8), in(16, 8));
  part.send(2, 255, out(4, 8));
  part.copy(block(user_buffer(0), 0, 8), block(user_buffer(0), 8, 8));
  return part;
}

TEST(Append, MakesRanksSlotsAndBuffersThoseOfTheWhole) {
  ScheduleBuilder whole("whole", 100);
  static_cast<void>(whole.scratch(64));
  whole.send(1, 0, out(0, 1));
  whole.append(relay(), {.rank_of = [](Rank rank) { return 10 * rank + 5; },
                         .first_slot = 2,
                         .send = {BufferId::recv, 1000},
                         .recv = {BufferId::scratch, 8}});
  whole.send(2, 0, out(0, 1));

  ScheduleBuilder expected("whole", 100);
  static_cast<void>(expected.scratch(64));
  const std::ptrdiff_t scratch = expected.scratch(8);
  expected.send(1, 0, out(0, 1));
  expected.round();
  expected.recv(5, 3, block(BufferId::scratch, scratch, 8));
  expected.round();
  expected.copy(block(BufferId::scratch, scratch, 8), block(BufferId::scratch, 24, 8));
  expected.send(25, 1, in(1004, 8));
  expected.copy(block(user_buffer(0), 0, 8), block(user_buffer(0), 8, 8));
  expected.round();
  expected.send(2, 0, out(0, 1));
  EXPECT_EQ(whole.commit().to_string(), expected.commit().to_string());
  EXPECT_EQ(whole.commit(), expected.commit());
}

TEST(Append, LeavesAPartAsItIsWhereNothingIsSaid) {
  ScheduleBuilder whole("relay", 3);
  whole.append(relay(), {});
  EXPECT_EQ(whole.commit(), relay().commit());
}

/// A vector of 100 bytes from the rank below to the one above.
ScheduleBuilder link() {
  ScheduleBuilder part("link", 3);
  part.begin_pipeline(100, 4);
  part.recv(0, 0, in(0, 100));
  part.round();
  part.send(2, 0, in(0, 100));
  return part;
}

TEST(Append, CutsEachPipelineByItself) {
  ScheduleBuilder whole("whole", 3);
  whole.append(link(), {});
  whole.append(link(), {.first_slot = 254, .most_segment_bytes = 25});
  const Schedule schedule = whole.commit({.segment_bytes = 50});
  struct Received {
    std::size_t round;
    std::uint32_t slot;
    std::int64_t offset;
    bool operator==(const Received&) const = default;
  };
  std::vector<Received> received;
  std::size_t sent = 0;
  for (std::size_t round = 0; round < schedule.rounds().size(); ++round)
    for (const OperationRecord& operation : schedule.operations(schedule.rounds()[round])) {
      if (operation.kind == OperationKind::recv)
        received.push_back({round, operation.slot, schedule.blocks(operation).front().offset});
      else
        ++sent;
    }
  // 52 and 48 bytes; then three times 28, and 16.
  EXPECT_EQ(received,
            (std::vector<Received>{{0, 0, 0}, {1, 1, 52}, {3, 254, 0}, {4, 255, 28}, {5, 0, 56}, {6, 1, 84}}));
  EXPECT_EQ(sent, received.size());
  EXPECT_EQ(schedule.rounds().size(), 8u);
}

TEST(Append, RefusesPeersThatAreNotOfThePart) {
  ScheduleBuilder part("part", 2);
  part.send(2, 0, out(0, 8));
  ScheduleBuilder whole("whole", 10);
  expect_error(Errc::invalid_schedule, {"'part'", "as a part, send", "peer 2 is not one of the 2 ranks"},
               [&] { whole.append(part, {}); });
}

}  // namespace
}  // namespace fab
