// Ranks that disagree about sizes, combining or the call: errors, no hang, nothing written beyond a block, and the next
// exchange works.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include "collectives/neighbor/cart_shift_xchg.h"
#include "collectives/neighbor/neighbor_xchg.h"
#include "collectives/start.h"
#include "core/run/wait.h"
#include "unit/harness/in_process_job.h"
#include "unit/harness/recording_rig.h"

namespace fab::test {
namespace {

using collectives::BlockList;
using testing::HasSubstr;

/// How messages find their receives, and whether they come before them.
struct Meeting {
  const char* name;
  bool directed_receive = false;
  bool early_messages_block = false;
  bool receiver_is_late = false;
  bool takes_longer_messages = false;
};

void PrintTo(const Meeting& meeting, std::ostream* out) { *out << meeting.name; }

/// Two ranks joined by several edges.
class Disagreement : public testing::TestWithParam<Meeting> {
 protected:
  void make_job(const Config& first, const Config& second, std::size_t iov_limit = 4) {
    job_ = std::make_unique<InProcessJob>(std::vector<Config>{first, second},
                                          NetworkOptions{.seed = 17,
                                                         .directed_receive = GetParam().directed_receive,
                                                         .iov_limit = iov_limit,
                                                         .inject_bytes = 16,
                                                         .early_messages_block = GetParam().early_messages_block,
                                                         .takes_longer_messages = GetParam().takes_longer_messages});
  }
  void make_job() { make_job(caller_config(), caller_config()); }

  /// Rank 0 sends blocks of the sizes sent, rank 1 expects the sizes expected; nothing the other way.
  struct Ends {
    std::vector<std::size_t> sent;
    std::vector<std::size_t> expected;
  };

  static DistributedGraph edges_of(Rank rank, const Ends& ends) {
    if (rank == 0) return {{}, std::vector<int>(ends.sent.size(), 1)};
    return {std::vector<int>(ends.expected.size(), 0), {}};
  }
  static std::vector<BlockShape> shapes_of(const std::vector<std::size_t>& sizes) {
    std::vector<BlockShape> shapes;
    std::ptrdiff_t offset = 0;
    for (const std::size_t bytes : sizes) {
      shapes.push_back({offset, Layout::contiguous(bytes)});
      offset += static_cast<std::ptrdiff_t>(bytes);
    }
    return shapes;
  }
  void progress_until_all_has_come() {
    for (int i = 0; i < 1000; ++i) job_->progress();
  }
  static std::size_t sum(const std::vector<std::size_t>& sizes) {
    std::size_t bytes = 0;
    for (const std::size_t size : sizes) bytes += size;
    return bytes;
  }

  /// Returns how rank 0 and rank 1 ended.
  std::array<Status, 2> exchange(const Ends& ends) {
    const auto communicators = job_->communicators([&](Rank rank) { return edges_of(rank, ends); });
    std::vector<std::byte> send(sum(ends.sent), std::byte{5});
    std::vector<std::byte> recv(sum(ends.expected) + kGuard, std::byte{9});
    std::vector<core::Run*> runs;
    for (const auto& communicator : communicators) {
      const bool sends = communicator->rank() == 0;
      if (!sends && GetParam().receiver_is_late) progress_until_all_has_come();
      const auto shapes = shapes_of(sends ? ends.sent : ends.expected);
      runs.push_back(&start_locked(*communicator, [&](core::Communicator& its) -> core::Run& {
        core::engine_lock.assert_held();
        return collectives::start_neighbor_xchg(
            its, send.data(), recv.data(),
            {.send = BlockList::general(sends ? shapes : std::vector<BlockShape>{}),
             .recv = BlockList::general(sends ? std::vector<BlockShape>{} : shapes)});
      }));
    }
    job_->finish(runs);
    progress_until_all_has_come();  // what is thrown away too
    EXPECT_EQ(std::count(recv.end() - kGuard, recv.end(), std::byte{9}), kGuard) << "written beyond the last block";
    return {release(*runs[0]), release(*runs[1])};
  }
  void expect_clean() {
    EXPECT_EQ(job_->left_over(), 0u) << "something of the exchange that failed is still around";
    const auto statuses = exchange({{8, 100000, 3}, {8, 100000, 3}});
    EXPECT_TRUE(statuses[0].ok()) << statuses[0].message;
    EXPECT_TRUE(statuses[1].ok()) << statuses[1].message;
  }

  static constexpr std::ptrdiff_t kGuard = 64;
  std::unique_ptr<InProcessJob> job_;
};

INSTANTIATE_TEST_SUITE_P(
    Meetings, Disagreement,
    testing::Values(
        Meeting{.name = "BySource", .directed_receive = true}, Meeting{.name = "ByTag"},
        Meeting{.name = "Late", .receiver_is_late = true}, Meeting{.name = "Blocking", .early_messages_block = true},
        Meeting{.name = "LateBlocking", .early_messages_block = true, .receiver_is_late = true},
        Meeting{.name = "Cutting", .directed_receive = true, .takes_longer_messages = true},
        Meeting{
            .name = "LateCutting", .directed_receive = true, .receiver_is_late = true, .takes_longer_messages = true}),
    [](const auto& each) { return each.param.name; });

TEST_P(Disagreement, AboutTheSizeOfOneBlock) {
  for (const std::size_t iov_limit : {1u, 4u}) {
    make_job(caller_config(), caller_config(), iov_limit);
    // Those of several parts end in parts that their tags' 7 bits of a hash tell apart.
    constexpr std::size_t kSizes[] = {0,
                                      1,
                                      8,
                                      24,
                                      100,
                                      5000,
                                      core::kHeadBytes,
                                      core::kHeadBytes + 1,
                                      75'000,
                                      210'000,
                                      core::kHeadBytes + core::kMiddleBytes,
                                      330'000,
                                      700'000};
    for (const std::size_t sent : kSizes)
      for (const std::size_t expected : kSizes) {
        SCOPED_TRACE(testing::Message() << sent << " bytes to " << expected << ", iov limit " << iov_limit);
        const auto statuses = exchange({{sent}, {expected}});
        EXPECT_TRUE(statuses[0].ok()) << "the sender has done nothing wrong: " << statuses[0].message;
        if (sent == expected) {
          EXPECT_TRUE(statuses[1].ok()) << statuses[1].message;
          continue;
        }
        EXPECT_EQ(statuses[1].errc(), sent > expected ? Errc::truncated : Errc::mismatch) << statuses[1].message;
        EXPECT_THAT(statuses[1].message, HasSubstr("neighbor_xchg: receive from rank 0 ("));
      }
    expect_clean();
  }
}

TEST_P(Disagreement, AboutOneOfSeveralCombinedBlocks) {
  make_job();
  const auto longer = exchange({{8, 9, 8}, {8, 8, 8}});
  EXPECT_EQ(longer[1].errc(), Errc::truncated);
  EXPECT_THAT(longer[1].message, HasSubstr("block 1 of this message 9 bytes where 8 were declared"));
  const auto shorter = exchange({{8, 8, 0}, {8, 8, 8}});
  EXPECT_EQ(shorter[1].errc(), Errc::mismatch);
  EXPECT_THAT(shorter[1].message, HasSubstr("block 2 of this message 0 bytes where 8 were declared"));
  const auto shifted = exchange({{7, 9}, {8, 8}});
  EXPECT_EQ(shifted[1].errc(), Errc::mismatch) << "the first block that differs is too short";
  expect_clean();
}

// As long as both combine: who expects more messages than come waits for them, as for every message that never comes.
TEST_P(Disagreement, AboutTheNumberOfEdges) {
  make_job();
  for (const auto& [sent, expected] : {std::pair<std::size_t, std::size_t>{1, 2}, {2, 1}, {3, 2}, {2, 5}}) {
    SCOPED_TRACE(testing::Message() << sent << " blocks to " << expected);
    const auto statuses = exchange({std::vector<std::size_t>(sent, 8), std::vector<std::size_t>(expected, 8)});
    EXPECT_FALSE(statuses[1].ok());
  }
}

// What must be the same everywhere is compared when ranks meet: both get to know, and nothing is sent.
TEST_P(Disagreement, AboutSettings) {
  struct Difference {
    void (*set)(Config&);
    const char* name;
    const char* value;
    const char* other_value;
  };
  const Difference differences[] = {
      {[](Config& config) { config.combine_bytes = 77; }, "FAB_COMBINE_BYTES", "77", "32768"},
      {[](Config& config) { config.segment_bytes = 78; }, "FAB_SEGMENT_BYTES", "78", "65536"},
      {[](Config& config) { config.check = true; }, "FAB_CHECK", "1", "0"},
      {[](Config& config) { config.local = false; }, "FAB_LOCAL", "off", "on"},
      {[](Config& config) { config.algorithms[1] = "chain"; }, "FAB_ALGO_BCAST", "chain", "auto"}};
  for (const auto& [set, name, value, other_value] : differences) {
    Config other = caller_config();
    set(other);
    make_job(other, caller_config());
    const auto statuses = exchange({{8}, {8}});
    const auto expect = [variable = name](const Status& status, Rank peer, const char* here, const char* there) {
      EXPECT_EQ(status.errc(), Errc::mismatch);
      EXPECT_THAT(status.message, HasSubstr(fmt::format("neighbor_xchg: rank {}: {} is {} here and {} there; all ranks "
                                                        "need the same",
                                                        peer, variable, here, there)));
    };
    expect(statuses[0], 1, value, other_value);
    expect(statuses[1], 0, other_value, value);
    EXPECT_EQ(job_->network().messages(), 0u);
  }
}

TEST_P(Disagreement, AboutTheCallIsNoticedWhereCallsAreChecked) {
  Config checking = caller_config();
  checking.check = true;
  checking.algorithms[1] = "binomial";
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{700'000}}) {
    SCOPED_TRACE(bytes);
    make_job(checking, checking);
    const auto communicators = job_->communicators([](Rank) { return Cartesian({2}, {false}); });
    const Layout block = Layout::contiguous(bytes);
    std::vector<std::byte> buffer(3 * bytes);
    // A shift by one and a broadcast use the same slot for a message of the same size.
    std::vector<core::Run*> runs;
    runs.push_back(&start_locked(*communicators[0], [&](core::Communicator& its) -> core::Run& {
      core::engine_lock.assert_held();
      return collectives::start(its, nullptr, buffer.data(), collectives::bcast_call(block, 0));
    }));
    runs.push_back(&start_locked(*communicators[1], [&](core::Communicator& its) -> core::Run& {
      core::engine_lock.assert_held();
      return collectives::start_cart_shift_xchg(
          its, buffer.data() + bytes, buffer.data() + 2 * bytes,
          {.send = {0, 1, &block}, .recv = {0, 1, &block}, .dimension = 0, .displacement = 1});
    }));
    job_->finish(runs);
    const std::string calls[] = {fmt::format("rank 0 called bcast(root 0, {} bytes, by binomial)", bytes),
                                 "rank 1 called cart_shift_xchg(dimension 0, displacement 1)"};
    for (core::Run* run : runs) {
      const Status status = release(*run);
      EXPECT_EQ(status.errc(), Errc::mismatch);
      for (const std::string& call : calls) EXPECT_THAT(status.message, HasSubstr(call));
    }
    progress_until_all_has_come();
    EXPECT_EQ(job_->left_over(), 0u);
  }
}

}  // namespace
}  // namespace fab::test
