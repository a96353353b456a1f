// Providers on their own: two ends in this process, over each provider that every machine has.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "providers/local/local_provider.h"
#include "support/provider_pair.h"
#include "unit/support/allocation_count.h"

namespace fab::test {
namespace {

using testing::HasSubstr;

struct ProviderSetting {
  const char* provider;
  bool registered = false;  ///< memory is registered for each message, as FI_MR_LOCAL demands
};

void PrintTo(const ProviderSetting& setting, std::ostream* out) {
  *out << setting.provider << (setting.registered ? " with registered memory" : "");
}

class ProviderTest : public testing::TestWithParam<ProviderSetting>, protected ProviderPair {
 protected:
  ProviderTest() : ProviderPair(open(0), open(1)) {}

  static std::unique_ptr<Provider> open(Rank rank, OneSidedMode one_sided = OneSidedMode::on) {
    if (std::string(GetParam().provider) == "local")
      return std::make_unique<local::LocalProvider>(LocalLong::automatic, one_of_two(rank), log_of_ends());
    Config config;
    config.provider = GetParam().provider;
    config.one_sided = one_sided;
    auto provider = open_end(config, rank);
    if (GetParam().registered) provider->always_register();
    return provider;
  }
};

TEST_P(ProviderTest, MovesMessagesOfAllSizesInPieces) {
  const std::size_t most_pieces = left_->capabilities().iov_limit;
  for (const std::size_t bytes : {0u, 1u, 64u, 128u, 4096u, 32768u, 300'000u, 3'000'001u})
    for (std::size_t pieces = 1; pieces <= most_pieces; ++pieces)
      ASSERT_NO_FATAL_FAILURE(transfer(bytes, pieces, most_pieces + 1 - pieces));
}

TEST_P(ProviderTest, ReceivesCanBeTakenBack) {
  Bytes memory(100);
  Outcome taken_back;
  ASSERT_NO_FATAL_FAILURE(receive(cut(memory, 1), tag_ + 1, taken_back));
  right_->cancel(taken_back);
  ASSERT_NO_FATAL_FAILURE(poll_until_ended(taken_back));
  EXPECT_EQ(taken_back.status.errc(), Errc::cancelled) << taken_back.status.message;
  ASSERT_NO_FATAL_FAILURE(transfer(100, 1, 1)) << "a later receive of the same tag";
}

// As the messages of a persistent exchange are; libfabric's own allocations are its own matter.
TEST_P(ProviderTest, AllocatesNothingForMessagesInMemoryThatIsHeld) {
  Bytes sent = pattern(4000, 1);
  Bytes received(sent.size());
  const std::vector<iovec> from = cut(sent, 1);
  const std::vector<iovec> to = cut(received, 1);
  const auto held_at_left = left_->hold(from, {});
  const auto held_at_right = right_->hold({}, to);
  constexpr std::uint64_t kMessages = 3;
  std::array<std::size_t, 3> allocations{};
  for (std::size_t& count : allocations) {
    std::array<Outcome, kMessages> arrivals;
    std::array<Outcome, kMessages> departures;
    const std::size_t before = allocation_count();
    for (std::uint64_t i = 0; i < kMessages; ++i) ASSERT_NO_FATAL_FAILURE(receive(to, tag_ + i, arrivals[i]));
    for (std::uint64_t i = 0; i < kMessages; ++i) ASSERT_NO_FATAL_FAILURE(send(from, tag_ + i, departures[i]));
    ASSERT_NO_FATAL_FAILURE(poll_until_ended(arrivals[0], arrivals[1], arrivals[2]));
    ASSERT_NO_FATAL_FAILURE(poll_until_ended(departures[0], departures[1], departures[2]));
    count = allocation_count() - before;
    for (const Outcome& arrival : arrivals) EXPECT_TRUE(arrival.status.ok()) << arrival.status.message;
  }
  EXPECT_EQ(received, sent);
  EXPECT_EQ(allocations[2], 0u) << "the first took " << allocations[0] << ", the second " << allocations[1];
}

TEST_P(ProviderTest, RefusesAddressesOfOtherProviders) {
  try {
    left_->connect("nonsense");
    ADD_FAILURE() << "took an address without parts";
  } catch (const Error& error) {
    EXPECT_EQ(error.errc(), Errc::mismatch);
  }
}

/// Shared memory has addresses of its own kind, which are asked for under a key of their own.
class NetworkProviderTest : public ProviderTest {};

TEST_P(NetworkProviderTest, SaysWhatOtherProviderAPeerUses) {
  try {
    const char separator = right_->address().at(right_->name().size());
    left_->connect(fmt::format("pigeon{0}messages{0}pigeon on roof{0}x", separator));
    ADD_FAILURE() << "took a pigeon's address";
  } catch (const Error& error) {
    EXPECT_EQ(error.errc(), Errc::mismatch);
    EXPECT_THAT(error.what(), HasSubstr("it uses pigeon on roof, this rank " + left_->description()));
  }
}

TEST_P(NetworkProviderTest, RefusesAPeerWhosePersistentExchangesTravelOtherwise) {
  const std::unique_ptr<Provider> third = open(1, OneSidedMode::off);
  EXPECT_FALSE(third->capabilities().writes);
  try {
    third->connect(left_->address());
    ADD_FAILURE() << "took a peer that writes";
  } catch (const Error& error) {
    EXPECT_EQ(error.errc(), Errc::mismatch);
    EXPECT_THAT(error.what(), HasSubstr("its persistent exchanges are writes, this rank's messages; FAB_ONE_SIDED"));
  }
}

// As an inbox looks, often.
TEST_P(NetworkProviderTest, ALookForMessagesInVainAllocatesNothing) {
  Bytes memory(4000);
  const std::vector<iovec> to = cut(memory, 1);
  const auto held = right_->hold({}, to);
  const auto look = [&] {
    Outcome looked;
    ASSERT_NO_FATAL_FAILURE(receive(to, 0, looked, ~0ull));
    right_->cancel(looked);
    ASSERT_NO_FATAL_FAILURE(poll_until_ended(looked));
    EXPECT_EQ(looked.status.errc(), Errc::cancelled);
  };
  EXPECT_EQ(fewest_allocations(look), 0u);
}

// Libfabric's own TCP endpoint (1.17), if asked for receives by source, looks for those of a source that it does not
// know in the memory of other messages: here of short ones, which waited behind a long one and left no addresses there.
TEST_P(NetworkProviderTest, TakesAMessageOfAPeerThatItDoesNotKnowYet) {
  constexpr std::size_t kShort = 200;
  Bytes long_message = pattern(16 << 20, 1);
  Bytes short_message(100, std::byte{0xff});
  Bytes received(long_message.size());
  std::array<Outcome, 1 + kShort> departures;
  std::array<Outcome, 1 + kShort> arrivals;
  for (std::size_t i = 0; i <= kShort; ++i) {
    const std::vector<iovec> from = cut(i == 0 ? long_message : short_message, 1);
    ASSERT_NO_FATAL_FAILURE(
        poll_until([&] { return right_->post_send(from_left_, from, tag_ + i, departures[i]) != PostResult::again; }));
  }
  for (std::size_t i = 0; i <= kShort; ++i) {
    const std::vector<iovec> to = cut(std::span(received).first(i == 0 ? received.size() : short_message.size()), 1);
    ASSERT_NO_FATAL_FAILURE(
        poll_until([&] { return left_->post_recv(to_right_, to, tag_ + i, 0, arrivals[i]) != PostResult::again; }));
  }
  for (const Outcome& departure : departures) ASSERT_NO_FATAL_FAILURE(poll_until_ended(departure));
  for (const Outcome& arrival : arrivals) ASSERT_NO_FATAL_FAILURE(poll_until_ended(arrival));

  const std::vector<iovec> to = cut(received, 1);
  std::array<Outcome, kShort * 3 / 4> waiting;
  for (Outcome& one : waiting) ASSERT_NO_FATAL_FAILURE(receive(to, tag_, one));
  Outcome arrival;
  ASSERT_EQ(right_->post_recv(kAnyPeer, to, tag_ + 1, 0, arrival), PostResult::pending);
  const std::unique_ptr<Provider> third = open(0);
  const PeerHandle to_right = third->connect(right_->address());
  Bytes sent = pattern(short_message.size(), 2);
  const std::vector<iovec> from = cut(sent, 1);
  Outcome departure;
  ASSERT_NO_FATAL_FAILURE(poll_until([&] {
    third->poll();
    return third->post_send(to_right, from, tag_ + 1, departure) != PostResult::again;
  }));
  ASSERT_NO_FATAL_FAILURE(poll_until([&] {
    third->poll();
    return arrival.ended && departure.ended;
  }));
  EXPECT_TRUE(arrival.status.ok()) << arrival.status.message;
  EXPECT_EQ(arrival.bytes, sent.size());
  EXPECT_TRUE(std::equal(sent.begin(), sent.end(), received.begin()));
  for (Outcome& one : waiting) right_->cancel(one);
  for (const Outcome& one : waiting) ASSERT_NO_FATAL_FAILURE(poll_until_ended(one));
}

TEST_P(NetworkProviderTest, WritesIntoAPeersMemoryAndTellsIt) {
  ASSERT_TRUE(left_->capabilities().writes) << "all these can";
  for (const std::uint32_t bytes : {1u, 40u, 5000u, 300'000u}) {
    const std::size_t pieces = std::min<std::size_t>(left_->capabilities().iov_limit, bytes > 1 ? 2 : 1);
    ASSERT_NO_FATAL_FAILURE(write_and_tell(bytes, pieces, 0x8000'0000u | bytes));
  }
}

// Where memory is named by its address the write fails, and the connection may end: it is not tried there.
TEST_P(NetworkProviderTest, LateWritesToMemoryThatWasTakenBackGoNowhere) {
  if (std::string(GetParam().provider) == "shm") GTEST_SKIP() << "names memory by its address";
  for (const std::size_t bytes : {100u, 300'000u, 5000u}) {
    Bytes memory(bytes, kUntouched);
    auto target = right_->expose(memory);
    const RemoteMemory place = target->remote();
    right_->withdraw(std::move(target));
    Bytes sent = pattern(bytes, 5);
    const std::vector<iovec> from = cut(sent, 1);
    const auto source = left_->prepare_source(from);
    heard_.numbers.clear();
    Outcome departure;
    ASSERT_NO_FATAL_FAILURE(write(from, *source, place, 7, departure));
    ASSERT_NO_FATAL_FAILURE(poll_until([&] { return !heard_.numbers.empty(); }));
    ASSERT_NO_FATAL_FAILURE(poll_until_ended(departure));
    EXPECT_TRUE(departure.status.ok()) << departure.status.message;
    EXPECT_TRUE(are_untouched(memory));
    ASSERT_NO_FATAL_FAILURE(transfer(100, 1, 1)) << "the connection is whole";
  }
}

TEST_P(NetworkProviderTest, KeysAreNotGuessed) {
  Bytes memory(100);
  const auto first = right_->expose(memory);
  const auto second = right_->expose(memory);
  const std::uint64_t a = first->remote().key;
  const std::uint64_t b = second->remote().key;
  EXPECT_NE(a, b);
  EXPECT_GT(std::max(a, b) - std::min(a, b), 1000u) << "near each other: " << a << ", " << b;
}

const auto networks =
    testing::Values(ProviderSetting{"net"}, ProviderSetting{"net", true}, ProviderSetting{"tcp;ofi_rxm"},
                    ProviderSetting{"tcp;ofi_rxm", true}, ProviderSetting{"sockets"}, ProviderSetting{"sockets", true},
                    ProviderSetting{"shm"}, ProviderSetting{"shm", true});

INSTANTIATE_TEST_SUITE_P(Networks, ProviderTest, networks);
INSTANTIATE_TEST_SUITE_P(Node, ProviderTest, testing::Values(ProviderSetting{"local"}));
INSTANTIATE_TEST_SUITE_P(Networks, NetworkProviderTest, networks);

}  // namespace
}  // namespace fab::test
