// Schedules that commit refuses, and the changes that it makes to others.
#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "fab/schedule.h"
#include "unit/schedule/schedule_blocks.h"
#include "unit/support/expect_error.h"

namespace fab {
namespace {

using test::expect_error;
using test::in;
using test::out;

std::vector<const OperationRecord*> operations_of(const Schedule& schedule, OperationKind kind) {
  std::vector<const OperationRecord*> found;
  for (const OperationRecord& operation : schedule.operations())
    if (operation.kind == kind) found.push_back(&operation);
  return found;
}

TEST(Commit, NamesRoundOperationAndPeer) {
  ScheduleBuilder builder("test", 4);
  builder.send(1, 0, out(0, 8));
  builder.round();
  builder.recv(2, 0, in(0, 8));
  builder.recv(4, 0, in(8, 8));
  expect_error(Errc::invalid_schedule,
               {"commit of schedule 'test'", "round 1, operation 1 (recv)", "peer 4 is not one of the 4 ranks"},
               [&] { (void)builder.commit(); });
}

TEST(Commit, RefusesNegativePeer) {
  ScheduleBuilder builder("test", 4);
  builder.send(-1, 0, out(0, 8));
  expect_error(Errc::invalid_schedule, {"round 0, operation 0 (send)", "peer -1 is not one of the 4 ranks"},
               [&] { (void)builder.commit(); });
}

TEST(Commit, RefusesCommunicatorWithoutRanks) {
  const ScheduleBuilder builder("test", 0);
  expect_error(Errc::invalid_schedule, {"'test'", "0 ranks; at least 1 is needed"}, [&] { (void)builder.commit(); });
}

TEST(Commit, RefusesBlocksOutsideTheirBuffer) {
  for (const Block& block : {in(-1, 4), in(13, 4), in(0, 17)}) {
    ScheduleBuilder builder("test", 2);
    builder.declare(BufferId::recv, 16);
    builder.recv(1, 0, block);
    const auto end = block.offset + static_cast<std::ptrdiff_t>(block.layout.size());
    expect_error(Errc::invalid_schedule,
                 {("bytes [" + std::to_string(block.offset) + ", " + std::to_string(end) + ")").c_str(),
                  "outside buffer 'recv' of 16 bytes"},
                 [&] { (void)builder.commit(); });
  }
}

TEST(Commit, JudgesStridedBlocksByTheirTrueBounds) {
  const Layout backwards = Layout::vector(3, 1, -8, Layout::contiguous(4));  // bytes [-16, 4)
  ScheduleBuilder fits("test", 2);
  fits.declare(user_buffer(1), 20);
  fits.send(1, 0, {user_buffer(1), 16, backwards});
  EXPECT_NO_THROW((void)fits.commit());
  ScheduleBuilder sticks_out("test", 2);
  sticks_out.declare(user_buffer(1), 20);
  sticks_out.send(1, 0, {user_buffer(1), 15, backwards});
  expect_error(Errc::invalid_schedule, {"bytes [-1, 19)", "buffer 'user1' of 20 bytes"},
               [&] { (void)sticks_out.commit(); });
}

TEST(Commit, EmptyBlocksMayLieAnywhere) {
  ScheduleBuilder builder("test", 2);
  builder.declare(BufferId::recv, 0);
  builder.recv(1, 0, in(100, 0));
  EXPECT_EQ(builder.commit().operations().size(), 1u);
}

TEST(Commit, ScratchIsAlwaysChecked) {
  ScheduleBuilder builder("test", 2);
  const std::ptrdiff_t first = builder.scratch(10);
  const std::ptrdiff_t second = builder.scratch(64);
  EXPECT_EQ(first % 64, 0);
  EXPECT_EQ(second % 64, 0);
  EXPECT_GE(second, first + 10);
  builder.copy(out(0, 10), test::block(BufferId::scratch, first, 10));
  builder.copy(out(10, 64), test::block(BufferId::scratch, second, 64));
  EXPECT_EQ(builder.commit().scratch_bytes(), 128u);
  builder.copy(out(10, 65), test::block(BufferId::scratch, second, 65));
  expect_error(Errc::invalid_schedule, {"round 0, operation 2 (copy)", "buffer 'scratch' of 128 bytes"},
               [&] { (void)builder.commit(); });
}

TEST(Commit, RefusesASlotTwice) {
  ScheduleBuilder builder("test", 2);
  builder.send(1, 3, out(0, 8));
  builder.recv(1, 3, in(0, 8));
  builder.round();
  builder.send(1, 3, out(0, 8));
  EXPECT_NO_THROW((void)builder.commit()) << "another direction or another round is no conflict";
  builder.send(1, 3, out(8, 8));
  expect_error(Errc::invalid_schedule, {"round 1, operation 1 (send)", "slot 3 is used twice with peer 1"},
               [&] { (void)builder.commit(); });
}

TEST(Commit, RefusesCopiesThatOverlapInPart) {
  ScheduleBuilder builder("test", 1);
  builder.copy(in(0, 8), in(8, 8));
  builder.copy(in(0, 8), in(0, 8));
  builder.copy(in(0, 8), out(4, 8));
  EXPECT_NO_THROW((void)builder.commit()) << "apart, the same, or another buffer";
  builder.copy(in(0, 8), in(7, 8));
  expect_error(Errc::invalid_schedule, {"operation 3 (copy)", "overlap in part"}, [&] { (void)builder.commit(); });
}

TEST(Commit, DropsEmptyRounds) {
  ScheduleBuilder builder("test", 2);
  builder.round();
  builder.send(1, 0, out(0, 1));
  builder.round();
  builder.round();
  builder.recv(1, 0, in(0, 1));
  builder.round();
  const Schedule schedule = builder.commit();
  ASSERT_EQ(schedule.rounds().size(), 2u);
  EXPECT_EQ(schedule.operations(schedule.rounds()[0])[0].kind, OperationKind::send);
  EXPECT_EQ(schedule.operations(schedule.rounds()[1])[0].kind, OperationKind::recv);
  EXPECT_EQ(ScheduleBuilder("empty", 1).commit().rounds().size(), 0u);
}

TEST(Commit, ReceivesComeFirstAndCopiesLast) {
  ScheduleBuilder builder("test", 3);
  builder.copy(out(0, 4), in(0, 4));
  builder.send(1, 0, out(0, 4));
  builder.recv(2, 0, in(4, 4));
  builder.send(2, 0, out(0, 4));
  const Schedule schedule = builder.commit();
  std::vector<OperationKind> kinds;
  for (const OperationRecord& operation : schedule.operations()) kinds.push_back(operation.kind);
  EXPECT_EQ(kinds, (std::vector{OperationKind::recv, OperationKind::send, OperationKind::send, OperationKind::copy}));
}

TEST(Commit, MergesCopiesThatContinueEachOther) {
  ScheduleBuilder builder("test", 1);
  builder.copy(out(0, 4), in(100, 4));
  builder.copy(out(4, 8), in(104, 8));
  builder.copy(out(12, 1), in(113, 1));  // the target leaves a gap
  builder.copy(out(14, 1), in(114, 1));  // the source leaves a gap
  const Schedule schedule = builder.commit();
  ASSERT_EQ(schedule.operations().size(), 3u);
  const auto blocks = schedule.blocks(schedule.operations()[0]);
  EXPECT_EQ(blocks[0].offset, 0);
  EXPECT_EQ(blocks[0].bytes, 12u);
  EXPECT_EQ(blocks[1].offset, 100);
  EXPECT_EQ(blocks[1].bytes, 12u);
  EXPECT_EQ(schedule.operations()[0].bytes, 12u);
}

TEST(Commit, DoesNotMergeCopiesOfDifferentRounds) {
  ScheduleBuilder builder("test", 1);
  builder.copy(out(0, 4), in(0, 4));
  builder.round();
  builder.copy(out(4, 4), in(4, 4));
  EXPECT_EQ(builder.commit().operations().size(), 2u);
}

Schedule three_sends(std::size_t combine_bytes) {
  ScheduleBuilder builder("test", 3);
  builder.send(1, 7, out(0, 5));
  builder.send(2, 0, out(50, 4));
  builder.send(1, 2, out(20, 6));
  builder.recv(1, 1, in(0, 100));
  return builder.commit({.combine_bytes = combine_bytes});
}

TEST(Commit, CombinesBlocksToOnePeerBySlot) {
  const Schedule schedule = three_sends(11);
  const auto sends = operations_of(schedule, OperationKind::send);
  ASSERT_EQ(sends.size(), 2u);
  EXPECT_EQ(schedule.peers()[sends[0]->peer], 1);
  EXPECT_EQ(sends[0]->slot, 2u);
  EXPECT_EQ(sends[0]->bytes, 11u);
  const auto blocks = schedule.blocks(*sends[0]);
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].offset, 20);
  EXPECT_EQ(blocks[1].offset, 0);
  EXPECT_EQ(schedule.blocks(*sends[1]).size(), 1u);
  EXPECT_EQ(operations_of(schedule, OperationKind::recv).size(), 1u);
}

TEST(Commit, CombinesNothingAboveTheLimit) {
  EXPECT_EQ(operations_of(three_sends(10), OperationKind::send).size(), 3u);
  EXPECT_EQ(operations_of(three_sends(0), OperationKind::send).size(), 3u);
}

TEST(Commit, CombinesNotEvenEmptyBlocksWhenTold) {
  ScheduleBuilder builder("test", 2);
  builder.send(1, 0, out(0, 0));
  builder.send(1, 1, out(0, 0));
  EXPECT_EQ(builder.commit({.combine_bytes = 0}).operations().size(), 2u);
  EXPECT_EQ(builder.commit({.combine_bytes = 1}).operations().size(), 1u);
}

TEST(ScheduleBuilder, SomePeersMessagesAreNotCombined) {
  ScheduleBuilder builder("test", 3);
  for (const Rank peer : {1, 2})
    for (const std::uint32_t slot : {0u, 1u})
      builder.send(peer, slot, {BufferId::send, 8 * (2 * peer + static_cast<int>(slot)), Layout::contiguous(8)});
  const Schedule schedule =
      builder.commit({.combine_bytes = 1024, .combine_bytes_of = [](Rank peer) { return peer == 2 ? 1024u : 0u; }});
  std::map<Rank, int> messages;
  for (const OperationRecord& operation : schedule.operations(schedule.rounds()[0]))
    ++messages[schedule.peers()[operation.peer]];
  EXPECT_EQ(messages, (std::map<Rank, int>{{1, 2}, {2, 1}}));
}

TEST(Commit, KeepsPeersOnceInOrderOfAppearance) {
  ScheduleBuilder builder("test", 10);
  builder.recv(9, 0, in(0, 1));
  builder.send(4, 0, out(0, 1));
  builder.round();
  builder.send(9, 0, out(0, 1));
  builder.send(2, 0, out(0, 1));
  const Schedule schedule = builder.commit();
  EXPECT_EQ(std::vector<Rank>(schedule.peers().begin(), schedule.peers().end()), (std::vector<Rank>{9, 4, 2}));
}

TEST(Commit, BufferCountCoversEveryBuffer) {
  ScheduleBuilder builder("test", 1);
  builder.copy(out(0, 1), in(0, 1));
  EXPECT_EQ(builder.commit().buffer_count(), 3u);
  builder.copy(test::block(user_buffer(2), 0, 1), in(1, 1));
  EXPECT_EQ(builder.commit().buffer_count(), 6u);
}

TEST(Commit, ManyRepeatedCommitsAreEqual) {
  EXPECT_EQ(three_sends(11), three_sends(11));
  EXPECT_FALSE(three_sends(11) == three_sends(10));
}

}  // namespace
}  // namespace fab
