// Reading, printing, storing and restoring schedules.
#include "fab/schedule.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <random>

#include "core/schedule/header.h"
#include "fab/error.h"
#include "unit/support/expect_error.h"

namespace fab {
namespace {

using test::expect_error;

/// Every kind of operation, contiguous and nested layouts, scratch and user buffers, a combined message.
Schedule sample() {
  const Layout row = Layout::vector(3, 1, 16, Layout::contiguous(4));
  const Layout plane = Layout::vector(2, 1, 100, row);
  ScheduleBuilder builder("sample", 8);
  const std::ptrdiff_t aside = builder.scratch(24);
  builder.copy({BufferId::recv, 0, plane}, {BufferId::scratch, aside, Layout::contiguous(24)});
  builder.round();
  builder.recv(5, 0, {BufferId::recv, 0, plane});
  builder.recv(5, 1, {BufferId::recv, 400, Layout::contiguous(8)});
  builder.send(3, 0, {BufferId::scratch, aside, Layout::contiguous(24)});
  builder.copy({user_buffer(0), 8, row}, {user_buffer(1), 0, Layout::contiguous(12)});
  return builder.commit({.combine_bytes = 1024});
}

std::vector<std::byte> stored(const Schedule& schedule) { return {schedule.bytes().begin(), schedule.bytes().end()}; }

TEST(Schedule, PrintsItself) {
  EXPECT_EQ(sample().to_string(),
            "schedule sample: 2 peers, 2 rounds, 4 operations, 64 B scratch\n"
            "  round 0\n"
            "    copy recv[0] 24 B in 6 pieces -> scratch[0] 24 B\n"
            "  round 1\n"
            "    recv from rank 5 slot 0: recv[0] 24 B in 6 pieces + recv[400] 8 B\n"
            "    send to rank 3 slot 0: scratch[0] 24 B\n"
            "    copy user0[8] 12 B in 3 pieces -> user1[0] 12 B\n");
}

TEST(Schedule, DrawsItself) {
  ScheduleBuilder builder("two rounds", 3);
  builder.recv(2, 1, {BufferId::recv, 0, Layout::contiguous(4)});
  builder.send(1, 0, {BufferId::send, 0, Layout::contiguous(4)});
  builder.round();
  builder.copy({BufferId::send, 0, Layout::contiguous(4)}, {BufferId::recv, 4, Layout::contiguous(4)});
  EXPECT_EQ(builder.commit().to_graphviz(),
            "digraph \"two rounds\" {\n"
            "  rankdir=LR;\n"
            "  node [shape=box];\n"
            "  subgraph cluster_0 {\n"
            "    label=\"round 0\";\n"
            "    r0 [label=\"self\"];\n"
            "    r0p2 [label=\"rank 2\"];\n"
            "    r0p2 -> r0 [label=\"recv from rank 2 slot 1: recv[0] 4 B\"];\n"
            "    r0p1 [label=\"rank 1\"];\n"
            "    r0 -> r0p1 [label=\"send to rank 1 slot 0: send[0] 4 B\"];\n"
            "  }\n"
            "  subgraph cluster_1 {\n"
            "    label=\"round 1\";\n"
            "    r1 [label=\"self\"];\n"
            "    r1 -> r1 [label=\"copy send[0] 4 B -> recv[4] 4 B\"];\n"
            "  }\n"
            "  r0 -> r1 [style=dashed];\n"
            "}\n");
}

TEST(Schedule, EmptyOnesPrintToo) {
  const Schedule empty = ScheduleBuilder("empty", 1).commit();
  EXPECT_EQ(empty.to_string(), "schedule empty: 0 peers, 0 rounds, 0 operations, 0 B scratch\n");
  EXPECT_EQ(Schedule::from_bytes(empty.bytes()), empty);
}

TEST(Schedule, SurvivesStorage) {
  const Schedule schedule = sample();
  const Schedule copy = Schedule::from_bytes(stored(schedule));
  EXPECT_EQ(copy, schedule);
  EXPECT_EQ(copy.to_string(), schedule.to_string());
  EXPECT_EQ(copy.name(), "sample");
  EXPECT_EQ(copy.buffer_count(), 5u);
}

// Relocatable: the bytes are read where they lie, at an odd address too, and nothing points back to the original.
TEST(Schedule, SurvivesAMoveToAnotherAddress) {
  std::vector<std::byte> moved;
  {
    const Schedule original = sample();
    moved.resize(original.bytes().size() + 1);
    std::memcpy(moved.data() + 1, original.bytes().data(), original.bytes().size());
  }
  const Schedule copy = Schedule::from_bytes(std::span(moved).subspan(1));
  std::fill(moved.begin(), moved.end(), std::byte{0xff});
  EXPECT_EQ(copy, sample());
  EXPECT_EQ(copy.to_graphviz(), sample().to_graphviz());
}

TEST(Schedule, CopiesShareTheirBytes) {
  const Schedule schedule = sample();
  const Schedule copy = schedule;  // NOLINT(performance-unnecessary-copy-initialization)
  EXPECT_EQ(copy.bytes().data(), schedule.bytes().data());
}

TEST(FromBytes, RefusesEveryWrongLength) {
  const std::vector<std::byte> bytes = stored(sample());
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_THROW(Schedule::from_bytes(std::span(bytes).first(length)), Error) << length;
}

void set_word(std::vector<std::byte>& bytes, std::size_t offset, std::uint32_t value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(value));
}

TEST(FromBytes, NamesTheFault) {
  std::vector<std::byte> other = stored(sample());
  set_word(other, 0, 1);
  expect_error(Errc::invalid_schedule, {"Schedule::from_bytes: not a schedule"}, [&] { Schedule::from_bytes(other); });
  other = stored(sample());
  set_word(other, 4, 99);
  expect_error(Errc::invalid_schedule, {"another version"}, [&] { Schedule::from_bytes(other); });
}

/// Changes a record of the sample where it lies.
template <class Record>
std::vector<std::byte> with(std::span<const Record> (*table)(const Schedule&), std::size_t index,
                            const std::function<void(Record&)>& change) {
  const Schedule schedule = sample();
  const std::span<const Record> records = table(schedule);
  const auto offset =
      static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&records[index]) - schedule.bytes().data());
  std::vector<std::byte> bytes = stored(schedule);
  Record record = records[index];
  change(record);
  std::memcpy(bytes.data() + offset, &record, sizeof(record));
  return bytes;
}

constexpr auto kPeers = [](const Schedule& schedule) { return schedule.peers(); };
constexpr auto kRounds = [](const Schedule& schedule) { return schedule.rounds(); };
constexpr auto kOperations = [](const Schedule& schedule) { return schedule.operations(); };
constexpr auto kScratchBlock = [](const Schedule& schedule) {
  return schedule.blocks(schedule.operations()[0]).subspan(1);
};
constexpr auto kCombinedBlocks = [](const Schedule& schedule) { return schedule.blocks(schedule.operations()[1]); };
constexpr auto kPlane = [](const Schedule& schedule) {
  return schedule.nodes(schedule.blocks(schedule.operations()[0])[0]);
};

TEST(FromBytes, RefusesWhatWouldReachOutside) {
  const std::vector<std::pair<const char*, std::vector<std::byte>>> faults = {
      {"negative peer", with<Rank>(kPeers, 0, [](Rank& rank) { rank = -1; })},
      {"round", with<RoundRecord>(kRounds, 1, [](RoundRecord& round) { round.operation_count = 4; })},
      {"kind", with<OperationRecord>(kOperations, 0,
                                     [](OperationRecord& record) { record.kind = static_cast<OperationKind>(9); })},
      {"peer", with<OperationRecord>(kOperations, 1, [](OperationRecord& record) { record.peer = 2; })},
      {"first block", with<OperationRecord>(kOperations, 1, [](OperationRecord& record) { record.first_block = 99; })},
      {"no blocks", with<OperationRecord>(kOperations, 2, [](OperationRecord& record) { record.block_count = 0; })},
      {"payload", with<OperationRecord>(kOperations, 2, [](OperationRecord& record) { record.bytes = 8; })},
      {"copy's blocks", with<OperationRecord>(kOperations, 0, [](OperationRecord& record) { record.block_count = 1; })},
      {"scratch offset", with<BlockRecord>(kScratchBlock, 0, [](BlockRecord& block) { block.offset = 41; })},
      {"scratch below", with<BlockRecord>(kScratchBlock, 0, [](BlockRecord& block) { block.offset = -1; })},
      {"buffer", with<BlockRecord>(kCombinedBlocks, 1, [](BlockRecord& block) { block.buffer = user_buffer(9); })},
      {"nodes", with<BlockRecord>(kCombinedBlocks, 0, [](BlockRecord& block) { block.node_count = 99; })},
      {"block's bytes", with<BlockRecord>(kCombinedBlocks, 0, [](BlockRecord& block) { block.bytes = 23; })},
      {"node without end", with<LayoutNode>(kPlane, 0, [](LayoutNode& node) { node.nodes = 0; })},
      {"node too long", with<LayoutNode>(kPlane, 0, [](LayoutNode& node) { node.nodes = 77; })},
      {"children", with<LayoutNode>(kPlane, 0, [](LayoutNode& node) { node.children = 5; })},
      {"leaf with children", with<LayoutNode>(kPlane, 1, [](LayoutNode& node) { node.children = 1; })},
      {"count", with<LayoutNode>(kPlane, 0, [](LayoutNode& node) { node.count = ~0ull; })},
      {"size", with<LayoutNode>(kPlane, 1, [](LayoutNode& node) { node.bytes = 1ull << 62; })},
      {"stride", with<LayoutNode>(kPlane, 1, [](LayoutNode& node) { node.stride = INT64_MAX; })},
  };
  for (const auto& fault : faults) {
    SCOPED_TRACE(fault.first);
    expect_error(Errc::invalid_schedule, {"Schedule::from_bytes"}, [&] { Schedule::from_bytes(fault.second); });
  }
}

/// Every schedule that from_bytes accepts can be read and printed, and stays within its scratch.
void read_everything(const Schedule& schedule) {
  EXPECT_FALSE(schedule.to_string().empty());
  EXPECT_FALSE(schedule.to_graphviz().empty());
  for (const OperationRecord& operation : schedule.operations()) {
    std::uint64_t bytes = 0;
    for (const BlockRecord& block : schedule.blocks(operation)) bytes += block.bytes;
    if (is_message(operation.kind)) {
      EXPECT_EQ(operation.bytes, bytes);
    }
  }
}

void try_bytes(const std::vector<std::byte>& bytes) {
  try {
    read_everything(Schedule::from_bytes(bytes));
  } catch (const Error& error) {
    EXPECT_EQ(error.errc(), Errc::invalid_schedule) << error.what();
  }
}

TEST(FromBytes, SurvivesEveryFlippedBit) {
  const std::vector<std::byte> bytes = stored(sample());
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::vector<std::byte> changed = bytes;
    changed[bit / 8] ^= std::byte{1} << (bit % 8);
    SCOPED_TRACE(bit);
    try_bytes(changed);
  }
}

TEST(FromBytes, SurvivesRandomWords) {
  const std::vector<std::byte> bytes = stored(sample());
  constexpr std::uint32_t kValues[] = {0, 1, 2, 8, 0x7fffffff, 0x80000000, 0xffffffff};
  std::mt19937 random(1);
  for (int i = 0; i < 5000; ++i) {
    std::vector<std::byte> changed = bytes;
    for (auto n = 1 + random() % 3; n > 0; --n)
      set_word(changed, 4 * (2 + random() % (bytes.size() / 4 - 2)), kValues[random() % std::size(kValues)]);
    SCOPED_TRACE(i);
    try_bytes(changed);
  }
}

}  // namespace
}  // namespace fab
