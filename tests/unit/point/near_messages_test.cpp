// Messages between ranks of one node: in the ring, and waiting at their senders.
#include <algorithm>
#include <deque>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "providers/local/local_provider.h"
#include "unit/point/point_to_point_fixture.h"

namespace fab::test::point {
namespace {

constexpr std::size_t kLong = 100'000;

class NearMessages : public testing::TestWithParam<LocalLong> {
 protected:
  static InProcessJob job() {
    return InProcessJob(
        [](const Config&, const JobInfo& its_job, const Log& log) {
          return Transports{.node = std::make_unique<local::LocalProvider>(GetParam(), its_job, log),
                            .network = nullptr};
        },
        2, caller_config());
  }
  template <class Done>
  void progress_until(Done&& done) {
    for (int turn = 0; turn < 20'000 && !done(); ++turn) job_.progress();
    ASSERT_TRUE(done()) << "stuck";
  }
  void progress(int turns) {
    for (int turn = 0; turn < turns; ++turn) job_.progress();
  }
  void expect_nothing_active() {
    progress(100);
    for (Rank rank = 0; rank < 2; ++rank) EXPECT_EQ(job_.context(rank).engine().active(), 0) << rank;
  }
  [[nodiscard]] Operation sent_to_1(std::uint32_t number, std::size_t bytes, SendMode mode = SendMode::standard) {
    Operation result{communicators_[0].get(), data(number, bytes)};
    send(result, {1, static_cast<Tag>(number)}, mode);
    return result;
  }
  [[nodiscard]] Operation received_from_0(std::uint32_t number, std::size_t bytes) {
    Operation result{communicators_[1].get(), std::vector<std::byte>(bytes, std::byte{0xee})};
    receive(result, {0, static_cast<Tag>(number)});
    return result;
  }
  static void give_up(Operation& operation) {
    const core::Lock lock(operation.communicator->engine());
    operation.pending->abandon({make_error_code(Errc::timed_out), "given up"});
  }
  /// Nothing that happened before harms it.
  void expect_a_message_to_pass() {
    for (const std::size_t bytes : {std::size_t{8}, kLong}) {
      Operation received = received_from_0(999, bytes);
      Operation sent = sent_to_1(999, bytes);
      ASSERT_NO_FATAL_FAILURE(progress_until([&] { return sent.done() && received.done(); }));
      sent.end();
      received.end();
      EXPECT_TRUE(received.status.ok()) << received.status.message;
      EXPECT_EQ(received.memory, data(999, bytes));
    }
    expect_nothing_active();
  }

  InProcessJob job_ = job();
  InProcessJob::Communicators communicators_ = job_.communicators(no_topology);
};

TEST_P(NearMessages, OfAllLengthsMeetTheirReceivesInAnyOrder) {
  std::vector<std::size_t> lengths;
  for (const std::size_t edge : {std::size_t{80}, std::size_t{464}, core::kNearEagerBytes, core::kNearEagerBytesInARow,
                                 core::kNearEagerBytesInARow + 64, core::kEagerBytes, kLong})
    for (const std::size_t bytes : {edge - 1, edge, edge + 1}) lengths.push_back(bytes);
  std::mt19937 random(7);
  for (const bool receives_first : {true, false})
    for (const SendMode mode : {SendMode::standard, SendMode::buffered, SendMode::synchronous}) {
      std::vector<std::uint32_t> order(lengths.size());
      std::iota(order.begin(), order.end(), 0u);
      std::ranges::shuffle(order, random);
      std::deque<Operation> sends;
      std::deque<Operation> receives(lengths.size());
      const auto post_receives = [&] {
        for (const std::uint32_t i : order) receives[i] = received_from_0(i, lengths[i]);
      };
      if (receives_first) post_receives();
      for (std::uint32_t i = 0; i < lengths.size(); ++i) sends.push_back(sent_to_1(i, lengths[i], mode));
      progress(100);
      if (!receives_first) post_receives();
      ASSERT_NO_FATAL_FAILURE(progress_until([&] {
        return std::ranges::all_of(sends, &Operation::done) && std::ranges::all_of(receives, &Operation::done);
      }));
      for (std::uint32_t i = 0; i < lengths.size(); ++i) {
        sends[i].end();
        receives[i].end();
        EXPECT_TRUE(sends[i].status.ok()) << sends[i].status.message;
        EXPECT_EQ(receives[i].memory, data(i, lengths[i])) << lengths[i];
      }
    }
  expect_nothing_active();
}

// Beyond what the receiver keeps, and in the order of their sends where one receive could take several.
TEST_P(NearMessages, KeepTheirOrderBeyondTheWindow) {
  for (const std::size_t bytes : {std::size_t{10'000}, kLong}) {
    const std::uint32_t messages = 2 * core::kWindow * core::kCreditBytes / 10'000;
    std::deque<Operation> sends;
    for (std::uint32_t i = 0; i < messages; ++i) {
      sends.push_back({communicators_[0].get(), data(i, bytes)});
      send(sends.back(), {1, Tag{5}});
    }
    progress(100);
    for (std::uint32_t i = 0; i < messages; ++i) {
      Operation received{communicators_[1].get(), std::vector<std::byte>(bytes)};
      receive(received, {kAnySource, kAnyTag});
      ASSERT_NO_FATAL_FAILURE(progress_until([&] { return received.done(); }));
      received.end();
      EXPECT_EQ(received.memory, data(i, bytes)) << i;
    }
    ASSERT_NO_FATAL_FAILURE(progress_until([&] { return std::ranges::all_of(sends, &Operation::done); }));
    for (Operation& each : sends) each.end();
    expect_nothing_active();
  }
}

TEST_P(NearMessages, ThatAreTooLongWriteNothing) {
  for (const std::size_t bytes : {std::size_t{10'000}, kLong})
    for (const bool receive_first : {true, false}) {
      Operation received;
      if (receive_first) received = received_from_0(1, bytes - 1);
      Operation sent = sent_to_1(1, bytes);
      progress(10);
      if (!receive_first) received = received_from_0(1, bytes - 1);
      ASSERT_NO_FATAL_FAILURE(progress_until([&] { return sent.done() && received.done(); }));
      sent.end();
      received.end();
      EXPECT_TRUE(sent.status.ok()) << sent.status.message;
      EXPECT_EQ(received.status.errc(), Errc::truncated);
      EXPECT_THAT(received.memory, testing::Each(std::byte{0xee}));
    }
  expect_a_message_to_pass();
}

TEST_P(NearMessages, WhoseSenderGivesUpAreErrorsOfTheirReceivers) {
  for (const bool receive_first : {false, true})
    for (const int turns : {0, 1, 20}) {
      SCOPED_TRACE(testing::Message() << receive_first << ' ' << turns);
      Operation received;
      Operation sent = sent_to_1(1, kLong);
      if (receive_first) received = received_from_0(1, kLong);
      progress(turns);
      if (receive_first && sent.done()) {  // it is over
        ASSERT_NO_FATAL_FAILURE(progress_until([&] { return received.done(); }));
        sent.end();
        received.end();
        EXPECT_EQ(received.memory, data(1, kLong));
        continue;
      }
      give_up(sent);
      std::ranges::fill(sent.memory, std::byte{0x55});
      sent.end();
      EXPECT_EQ(sent.status.errc(), Errc::timed_out);
      if (!receive_first) {
        progress(turns);
        received = received_from_0(1, kLong);
      }
      ASSERT_NO_FATAL_FAILURE(progress_until([&] { return received.done(); }));
      received.end();
      if (received.status.ok())
        EXPECT_EQ(received.memory, data(1, kLong)) << "all of it or an error";
      else
        EXPECT_EQ(received.status.errc(), Errc::cancelled) << received.status.message;
    }
  expect_a_message_to_pass();
}

TEST_P(NearMessages, WhoseReceiverGivesUpHarmNoOthers) {
  for (const int turns : {0, 1, 2}) {
    Operation received = received_from_0(1, kLong);
    Operation sent = sent_to_1(1, kLong);
    progress(turns);
    if (!received.done()) give_up(received);
    received.end();
    progress(100);
    if (!sent.done()) {  // no receive had met it
      Operation second = received_from_0(1, kLong);
      ASSERT_NO_FATAL_FAILURE(progress_until([&] { return sent.done() && second.done(); }));
      second.end();
      EXPECT_EQ(second.memory, data(1, kLong));
    }
    sent.end();
    EXPECT_TRUE(sent.status.ok()) << sent.status.message;
  }
  expect_a_message_to_pass();
}

TEST_P(NearMessages, ThatWaitForAnEndedCommunicatorFail) {
  auto others = job_.communicators(no_topology);
  {
    const core::Lock lock(others[1]->engine());
    EXPECT_EQ(point_to_point(*others[1]).find(*others[1], {0, Tag{99}}), std::nullopt);
  }
  Operation sent{others[0].get(), data(1, kLong)};
  send(sent, {1, Tag{7}});
  // A later one has come, so this one has.
  Operation later{others[0].get(), data(2, 8)};
  Operation last{others[1].get(), std::vector<std::byte>(8)};
  receive(last, {0, Tag{8}});
  send(later, {1, Tag{8}});
  ASSERT_NO_FATAL_FAILURE(progress_until([&] { return later.done() && last.done(); }));
  later.end();
  last.end();
  others[1].reset();
  ASSERT_NO_FATAL_FAILURE(progress_until([&] { return sent.done(); }));
  sent.end();
  EXPECT_EQ(sent.status.errc(), Errc::mismatch);
  others.clear();
  expect_a_message_to_pass();
}

std::string name_of(const testing::TestParamInfo<LocalLong>& info) {
  constexpr const char* kNames[] = {"automatic", "map", "read", "ring"};
  return kNames[static_cast<std::size_t>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(Ways, NearMessages,
                         testing::Values(LocalLong::automatic, LocalLong::read, LocalLong::ring, LocalLong::map),
                         name_of);

}  // namespace
}  // namespace fab::test::point
