// Providers on their own: two ends in this process, over each provider that every machine has.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <chrono>
#include <functional>
#include <vector>

#include "core/log.h"
#include "providers/local/local_provider.h"
#include "providers/ofi/ofi_provider.h"
#include "unit/outcome.h"

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

class ProviderTest : public testing::TestWithParam<ProviderSetting> {
 protected:
  ProviderTest() : left_(make(0)), right_(make(1)) {
    to_right_ = left_->connect(right_->address());
    from_left_ = right_->connect(left_->address());
  }

  void poll_until(const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!done()) {
      left_->poll();
      right_->poll();
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << "nothing comes";
    }
  }
  void post(const std::function<PostResult()>& post_it, PostResult& result) {
    poll_until([&] { return (result = post_it()) != PostResult::again; });
  }
  /// Sends one message in pieces and receives it in pieces.
  void transfer(std::span<iovec> sent, std::span<iovec> received, std::uint64_t tag, Outcome& arrival) {
    Outcome departure;
    PostResult result = PostResult::again;
    post([&] { return right_->post_recv(from_left_, received, tag, 0, arrival); }, result);
    ASSERT_EQ(result, PostResult::pending);
    post([&] { return left_->post_send(to_right_, sent, tag, departure); }, result);
    if (result == PostResult::done) departure.ended = true;
    poll_until([&] { return departure.ended && arrival.ended; });
    EXPECT_TRUE(departure.status.ok()) << departure.status.message;
  }
  /// Cuts memory into about equal pieces.
  static std::vector<iovec> cut(std::vector<std::byte>& memory, std::size_t pieces) {
    std::vector<iovec> result;
    std::size_t begin = 0;
    for (std::size_t i = 1; i <= pieces; ++i) {
      const std::size_t end = memory.size() * i / pieces;
      result.push_back({memory.data() + begin, end - begin});
      begin = end;
    }
    return result;
  }

  std::unique_ptr<Provider> make(Rank rank) const {
    JobInfo job;
    job.rank = rank;
    job.size = job.local_size = 2;
    job.node_ranks = {0, 1};
    if (std::string(GetParam().provider) == "local")
      return std::make_unique<local::LocalProvider>(LongMessages::automatic, job, log_);
    Config config;
    config.provider = GetParam().provider;
    config.one_sided = one_sided_;
    auto provider = std::make_unique<ofi::OfiProvider>(config, job, log_);
    if (GetParam().registered) provider->always_register();
    return provider;
  }

  Log log_{LogLevel::warn, 0};
  OneSided one_sided_ = OneSided::on;
  std::unique_ptr<Provider> left_;
  std::unique_ptr<Provider> right_;
  PeerHandle to_right_ = 0;
  PeerHandle from_left_ = 0;
};

TEST_P(ProviderTest, MovesMessagesOfAllSizesInPieces) {
  std::uint64_t tag = 0x1234;
  for (const std::size_t bytes : {0u, 1u, 64u, 128u, 4096u, 32768u, 300'000u, 3'000'001u})
    for (std::size_t pieces = 1; pieces <= left_->capabilities().iov_limit; ++pieces) {
      SCOPED_TRACE(testing::Message() << bytes << " bytes in " << pieces << " pieces");
      std::vector<std::byte> sent(bytes);
      for (std::size_t i = 0; i < bytes; ++i) sent[i] = static_cast<std::byte>(i * 7 + pieces);
      std::vector<std::byte> received(bytes);
      std::vector<iovec> from = cut(sent, pieces);
      std::vector<iovec> to = cut(received, left_->capabilities().iov_limit + 1 - pieces);
      Outcome arrival;
      ASSERT_NO_FATAL_FAILURE(transfer(from, to, ++tag, arrival));
      EXPECT_TRUE(arrival.status.ok()) << arrival.status.message;
      EXPECT_EQ(arrival.bytes, bytes);
      EXPECT_EQ(arrival.tag, tag);
      EXPECT_TRUE(received == sent);
    }
}

TEST_P(ProviderTest, ReceivesCanBeTakenBack) {
  std::vector<std::byte> memory(100);
  std::vector<iovec> pieces = cut(memory, 1);
  Outcome taken_back;
  ASSERT_EQ(right_->post_recv(from_left_, pieces, 5, 0, taken_back), PostResult::pending);
  right_->cancel(taken_back);
  ASSERT_NO_FATAL_FAILURE(poll_until([&] { return taken_back.ended; }));
  EXPECT_EQ(taken_back.status.errc(), Errc::cancelled) << taken_back.status.message;

  Outcome arrival;
  ASSERT_NO_FATAL_FAILURE(transfer(pieces, pieces, 5, arrival));
  EXPECT_TRUE(arrival.status.ok()) << "a later receive of the same tag";
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
  one_sided_ = OneSided::off;
  const std::unique_ptr<Provider> third = make(1);
  EXPECT_FALSE(third->capabilities().writes);
  try {
    third->connect(left_->address());
    ADD_FAILURE() << "took a peer that writes";
  } catch (const Error& error) {
    EXPECT_EQ(error.errc(), Errc::mismatch);
    EXPECT_THAT(error.what(), HasSubstr("its persistent exchanges are writes, this rank's messages; FAB_ONE_SIDED"));
  }
}

struct Heard final : WriteListener {
  void written(std::uint32_t data) noexcept override { numbers.push_back(data); }
  std::vector<std::uint32_t> numbers;
};

TEST_P(NetworkProviderTest, WritesIntoAPeersMemoryAndTellsIt) {
  ASSERT_TRUE(left_->capabilities().writes) << "all these can";
  Heard heard;
  right_->set_listener(&heard);
  for (const std::size_t bytes : {1u, 40u, 5000u, 300'000u}) {
    SCOPED_TRACE(testing::Message() << bytes << " bytes");
    std::vector<std::byte> sent(bytes);
    for (std::size_t i = 0; i < bytes; ++i) sent[i] = static_cast<std::byte>(i * 7 + 1);
    std::vector<std::byte> exposed(bytes + 200, std::byte{9});
    const auto target = right_->expose(exposed);
    std::vector<iovec> pieces = cut(sent, std::min<std::size_t>(left_->capabilities().iov_limit, bytes > 1 ? 2 : 1));
    const auto source = left_->prepare_source(pieces);
    Outcome departure;
    PostResult result = PostResult::again;
    const std::uint32_t data = 0x8000'0000u | static_cast<std::uint32_t>(bytes);
    heard.numbers.clear();
    post([&] { return left_->post_write(to_right_, pieces, *source, target->remote().behind(100), data, departure); },
         result);
    ASSERT_EQ(result, PostResult::pending);
    poll_until([&] { return departure.ended && !heard.numbers.empty(); });
    EXPECT_TRUE(departure.status.ok()) << departure.status.message;
    EXPECT_EQ(heard.numbers, std::vector<std::uint32_t>{data});
    EXPECT_TRUE(std::equal(sent.begin(), sent.end(), exposed.begin() + 100));
    EXPECT_EQ(std::count(exposed.begin(), exposed.begin() + 100, std::byte{9}), 100);
    EXPECT_EQ(std::count(exposed.end() - 100, exposed.end(), std::byte{9}), 100);
  }
}

TEST_P(NetworkProviderTest, KeysAreNotGuessed) {
  std::vector<std::byte> memory(100);
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
