// A process of another user that sends to the ranks of a job reaches none of them and disturbs nothing.
#include "process/stranger.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bindings/native/base/access.h"
#include "bindings/native/context/open_context.h"
#include "core/communicator/communicator.h"
#include "core/point/envelope.h"
#include "core/wire/match_tag.h"
#include "fab/fab.h"
#include "process/forked_job.h"
#include "support/time_limit.h"

namespace fab::test {
namespace {

const double kTimeLimitS = time_limit_s(60);  ///< of a rank with another
constexpr int kRanks = 2;
constexpr Rank kVictim = 1;
constexpr Rank kOther = 0;
constexpr std::uint64_t kRight = 0x5249474854;
constexpr std::uint64_t kForged = 0x464f52474544;

/// What the processes of a test tell each other.
struct Stage {
  std::array<char, 64> place;           ///< where the victim listens; an attacker would read it in /proc/net/tcp
  std::optional<core::TagFormat> tags;  ///< as the ranks lay them out; an attacker knows fab
  std::atomic<bool> listens;
  std::atomic<std::uint64_t> dropped;       ///< what the victim knows of
  std::atomic<std::uint64_t> unmistakable;  ///< messages of the attacker's that the victim has to drop
  std::atomic<bool> attack_is_over;
  std::atomic<bool> victim_has_seen_enough;  ///< what waits in connections goes with the attacker
};

class SharedStage {
 public:
  SharedStage() {
    void* memory = ::mmap(nullptr, sizeof(Stage), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("no shared memory");
    stage_ = new (memory) Stage{};
  }
  ~SharedStage() { ::munmap(stage_, sizeof(Stage)); }
  SharedStage(const SharedStage&) = delete;
  SharedStage& operator=(const SharedStage&) = delete;
  Stage* operator->() const noexcept { return stage_; }
  Stage& operator*() const noexcept { return *stage_; }

 private:
  Stage* stage_;
};

template <class Condition>
void wait_until(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(kTimeLimitS);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error("nothing happens on the stage");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}
void wait_for(const std::atomic<bool>& flag) {
  wait_until([&flag] { return flag.load(); });
}

/// A rank whose messages all go through the network.
struct NetworkRank {
  NetworkRank(std::unique_ptr<Store> store, const std::string& provider,
              OneSidedMode one_sided = OneSidedMode::automatic) {
    Config config = read_config([](const std::string&) { return std::nullopt; });
    config.local = false;
    config.provider = provider;
    config.one_sided = one_sided;
    config.wait_timeout_s = kTimeLimitS;
    context = open_context(config, std::move(store));
    world = std::make_unique<Communicator>(Access::communicator(core::Communicator::world(context)));
  }
  NetworkRank(const NetworkRank&) = delete;
  NetworkRank& operator=(const NetworkRank&) = delete;
  /// Meets the others, as what this rank sent last may still be on its way to them.
  ~NetworkRank() {
    if (std::uncaught_exceptions() == 0) static_cast<void>(context->close(kTimeLimitS));
  }

  [[nodiscard]] std::uint64_t strangers() const {
    const core::Lock lock(context->engine());
    return context->strangers();
  }

  void appear_on(Stage& stage) const {
    const std::string text = context->transport();
    const std::size_t begin = text.rfind('(') + 1;
    const std::string place = text.substr(begin, text.rfind(')') - begin);
    std::memcpy(stage.place.data(), place.c_str(), place.size() + 1);
    stage.tags = context->tags();
    stage.listens.store(true);
  }

  std::shared_ptr<core::Context> context;
  std::unique_ptr<Communicator> world;
};

/// Values that come wrong out of allreduce and of messages of three lengths.
int wrong_values(const NetworkRank& rank, std::uint64_t round) {
  const Rank own = rank.world->rank();
  const Rank other = 1 - own;
  int wrong = 0;
  const std::vector<std::uint64_t> mine{round + static_cast<std::uint64_t>(own)};
  std::vector<std::uint64_t> sum(1);
  allreduce(*rank.world, mine, sum, ReduceOp::sum);
  wrong += sum[0] == 2 * round + 1 ? 0 : 1;
  for (const std::size_t words : {1u, 400u, 20'000u}) {
    const std::vector<std::uint64_t> out(words, round + static_cast<std::uint64_t>(own));
    std::vector<std::uint64_t> in(words);
    sendrecv(*rank.world, out, {other, Tag{1}}, in, {other, Tag{1}});
    for (const std::uint64_t value : in) wrong += value == round + static_cast<std::uint64_t>(other) ? 0 : 1;
  }
  return wrong;
}

/// Exchanges for as long as the victim wants; how it went.
std::string exchange_while(const NetworkRank& rank, const std::function<bool()>& wanted) {
  int wrong = 0;
  for (std::uint64_t round = 0;; ++round) {
    wrong += wrong_values(rank, round);
    std::vector<int> more{wanted() ? 1 : 0};
    bcast(*rank.world, more, Root{kVictim});
    if (more[0] == 0) return wrong == 0 ? "right" : std::to_string(wrong) + " wrong";
  }
}

/// Until the attack is over and all that it sent was met; not for ever.
std::string exchange_under_attack(const NetworkRank& rank, Stage& stage) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(kTimeLimitS / 2);
  const std::string went = exchange_while(rank, [&] {
    if (rank.world->rank() != kVictim || std::chrono::steady_clock::now() > end) return false;
    stage.dropped.store(rank.strangers());
    return !stage.attack_is_over.load() || rank.strangers() < stage.unmistakable.load();
  });
  if (rank.world->rank() == kVictim) stage.victim_has_seen_enough.store(true);
  return went;
}

/// Strangers who send one message each where libfabric ends the connection of one whose message is dropped.
class Crowd {
 public:
  Crowd(std::string provider, Stage& stage) : provider_(std::move(provider)), stage_(stage) {}

  /// A message that the victim has to drop.
  bool send(std::uint64_t tag, std::span<const std::byte> bytes) {
    if (strangers_.empty() || provider_ == "net")
      strangers_.push_back(std::make_unique<Stranger>(provider_, stage_.place.data()));
    if (!strangers_.back()->send(tag, bytes)) return false;
    ++stage_.unmistakable;
    return true;
  }

 private:
  const std::string provider_;
  Stage& stage_;
  std::vector<std::unique_ptr<Stranger>> strangers_;
};

void end_attack(Stage& stage) {
  stage.attack_is_over.store(true);
  wait_for(stage.victim_has_seen_enough);
}

class StrangerTest : public testing::TestWithParam<std::string> {
 protected:
  static std::string provider() { return GetParam(); }

  /// The victim says what came of it, and how many messages it dropped, as far as it can know.
  void expect_right(ForkedJob& job, StrangeProcess& attacker, const std::string& right) {
    EXPECT_TRUE(attacker.ended_well());
    EXPECT_EQ(job.result(kVictim, kTimeLimitS), right + ", all met");
    EXPECT_EQ(job.result(kOther, kTimeLimitS), right);
  }
  [[nodiscard]] std::string met(const NetworkRank& rank) const {
    return rank.strangers() >= stage_->unmistakable.load()
               ? ", all met"
               : ", " + std::to_string(rank.strangers()) + " met of " + std::to_string(stage_->unmistakable.load());
  }

  /// One that exchanges until the attack is over.
  [[nodiscard]] ForkedJob::Body ranks() const {
    return [this](std::unique_ptr<Store> store) {
      const NetworkRank rank(std::move(store), provider());
      wrong_values(rank, 0);
      if (rank.world->rank() == kVictim) rank.appear_on(*stage_);
      const std::string went = exchange_under_attack(rank, *stage_);
      return went + (rank.world->rank() == kVictim ? met(rank) : "");
    };
  }

  SharedStage stage_;
};

std::span<const std::byte> bytes_of(const std::uint64_t& value) { return std::as_bytes(std::span(&value, 1)); }

TEST_P(StrangerTest, ForgesNoBroadcast) {
  const auto root = [&](std::unique_ptr<Store> store) {
    const NetworkRank rank(std::move(store), provider());
    wait_for(stage_->attack_is_over);
    std::vector<std::uint64_t> value{kRight};
    bcast(*rank.world, value, Root{kOther});
    exchange_under_attack(rank, *stage_);
    return std::to_string(value[0]);
  };
  const auto victim = [&](std::unique_ptr<Store> store) {
    const NetworkRank rank(std::move(store), provider());
    std::vector<std::uint64_t> value(1);
    auto request = bcast.start(*rank.world, value, Root{kOther});
    rank.appear_on(*stage_);
    request.wait();
    exchange_under_attack(rank, *stage_);
    return std::to_string(value[0]) + met(rank);
  };
  ForkedJob job({root, victim});
  StrangeProcess attacker([&] {
    wait_for(stage_->listens);
    Crowd strangers(provider(), *stage_);
    const core::TagFormat tags = *stage_->tags;
    bool all_left = true;
    for (std::uint64_t sequence = 0; sequence < 4; ++sequence)
      for (std::uint32_t slot = 0; slot < 4 && all_left; ++slot)
        all_left = strangers.send(tags.context({0, 0}) | tags.sequence(sequence) | tags.message(kOther, slot),
                                  bytes_of(kForged));
    end_attack(*stage_);
    return all_left;
  });
  expect_right(job, attacker, std::to_string(kRight));
}

// Envelopes of messages are received from every sender, also from strangers.
TEST_P(StrangerTest, ForgesNoMessageWithAnEnvelope) {
  ForkedJob job({ranks(), ranks()});
  StrangeProcess attacker([&] {
    wait_for(stage_->listens);
    Crowd strangers(provider(), *stage_);
    const std::uint64_t tag = stage_->tags->point_to_point();
    std::array<std::byte, sizeof(core::Envelope) + sizeof(kForged)> wire{};
    std::memcpy(wire.data() + sizeof(core::Envelope), &kForged, sizeof(kForged));
    bool all_left = true;
    for (std::uint32_t i = 0; i < 40 && all_left; ++i) {
      core::Envelope envelope{.kind = static_cast<core::EnvelopeKind>(i % 8), .sequence = i / 8, .tag = Tag{1}};
      envelope.bytes = i % 3 == 0 ? sizeof(kForged) : 1ull << 40;
      envelope.sender = i % 5 == 0 ? 1 << 20 : kOther;
      std::memcpy(wire.data(), &envelope, sizeof(envelope));
      all_left = strangers.send(tag, wire);
    }
    end_attack(*stage_);
    return all_left;
  });
  expect_right(job, attacker, "right");
}

TEST_P(StrangerTest, DisturbsNothingWithGarbage) {
  ForkedJob job({ranks(), ranks()});
  StrangeProcess attacker([&] {
    wait_for(stage_->listens);
    const std::string place = stage_->place.data();
    std::mt19937_64 random(1);
    const std::vector<std::byte> bytes(1 << 20, std::byte{0x5a});
    const std::uint64_t later = stage_->tags->later_mark();
    const std::uint64_t first_parts = (later - 1) | stage_->tags->framed();  // what is taken in
    bool all_left = true;
    Crowd strangers(provider(), *stage_);
    for (int i = 0; i < 50 && all_left; ++i)
      all_left = strangers.send(random() & first_parts, std::span(bytes).first(random() % 10'000));
    wait_until([&] { return stage_->dropped.load() == stage_->unmistakable.load(); });
    // Many messages of one stranger, and what ends its connection or never leaves it, harm no other rank.
    Stranger tireless(provider(), place);
    tireless.set_time_limit(std::chrono::milliseconds(100));
    for (int i = 0; i < 100 && tireless.send(random() & first_parts, std::span(bytes).first(100)); ++i) continue;
    Stranger hasty(provider(), place);
    hasty.set_time_limit(std::chrono::milliseconds(100));
    for (int i = 0; i < 60; ++i) hasty.send(random() | later, std::span(bytes).first(8));
    hasty.send(random() | later, bytes);
    Stranger verbose(provider(), place);
    verbose.set_time_limit(std::chrono::milliseconds(100));
    verbose.send(random() & first_parts, bytes);
    Stranger writer(provider(), place);
    writer.set_time_limit(std::chrono::milliseconds(100));
    for (std::uint64_t i = 0; i < 20; ++i) writer.write(i, random(), std::span(bytes).first(100), i);
    end_attack(*stage_);
    return all_left;
  });
  expect_right(job, attacker, "right");
}

/// Where fab receives any message itself.
class EarlyStrangerTest : public StrangerTest {};

// What has begun to come and never ends must not be waited for.
TEST_P(EarlyStrangerTest, HoldsUpNothingWithHalfAMessage) {
  ForkedJob job({ranks(), ranks()});
  StrangeProcess attacker([&] {
    wait_for(stage_->listens);
    constexpr std::size_t kMessageBytes = 60'000;
    HalfWay half_way(stage_->place.data(), kMessageBytes / 2);
    Stranger stranger(provider(), half_way.place());
    const bool has_left = stranger.send(1, std::vector<std::byte>(kMessageBytes));
    wait_for(half_way.stands());
    ++stage_->unmistakable;
    end_attack(*stage_);
    return has_left;
  });
  expect_right(job, attacker, "right");
}

// A write tells the number of its message; what names no memory needs no key.
TEST_P(StrangerTest, TellsOfNoWrite) {
  const auto body = [&](std::unique_ptr<Store> store) {
    const NetworkRank rank(std::move(store), provider(), OneSidedMode::on);
    const bool is_victim = rank.world->rank() == kVictim;
    std::vector<std::uint64_t> out(10'000, 1);
    std::vector<std::uint64_t> in(10'000);
    const auto neighbors = core::Communicator::world(rank.context);
    neighbors->set_topology(DistributedGraph({1 - neighbors->rank()}, {1 - neighbors->rank()}));
    const Communicator communicator = Access::communicator(neighbors);
    auto exchange =
        neighbor_xchg.persistent(communicator, out.data(), in.data(), Layout::contiguous(out.size() * sizeof(out[0])));
    exchange.start();
    exchange.wait();
    std::fill(out.begin(), out.end(), kRight);
    if (!is_victim) wait_for(stage_->attack_is_over);
    exchange.start();
    if (is_victim) rank.appear_on(*stage_);
    exchange.wait();
    const std::string text = std::to_string(in.front()) + " to " + std::to_string(in.back());
    exchange_under_attack(rank, *stage_);
    return text + (is_victim ? met(rank) : "");
  };
  ForkedJob job({body, body});
  StrangeProcess attacker([&] {
    wait_for(stage_->listens);
    Stranger stranger(provider(), stage_->place.data());
    bool all_left = true;
    for (std::uint64_t data = 0; data < 64 && all_left; ++data, ++stage_->unmistakable) all_left = stranger.tell(data);
    end_attack(*stage_);
    return all_left;
  });
  expect_right(job, attacker, std::to_string(kRight) + " to " + std::to_string(kRight));
}

// What a rank sends too early stays with the provider until its receive comes, however often that looks at it.
TEST_P(StrangerTest, IsNoRankThatIsEarly) {
  const auto body = [&](std::unique_ptr<Store> store) {
    const NetworkRank rank(std::move(store), provider());
    const Communicator pair = rank.world->cartesian({kRanks}, {false});
    std::vector<std::uint64_t> none(1);
    Request later = irecv(*rank.world, std::span(none), {1 - rank.world->rank(), Tag{2}});
    const auto late = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
    while (rank.world->rank() == kVictim && std::chrono::steady_clock::now() < late) static_cast<void>(later.test());
    std::deque<std::vector<std::uint64_t>> memory;
    std::vector<Request> requests;
    for (const std::size_t words : {0u, 10u, 1'000u, 7'000u, 40'000u}) {
      const std::uint64_t* const out = memory.emplace_back(words, words + static_cast<unsigned>(pair.rank())).data();
      std::uint64_t* const in = memory.emplace_back(words).data();
      requests.push_back(neighbor_xchg.start(pair, out, in, Layout::contiguous(words * sizeof(*in))));
    }
    Request::wait_all(requests);
    send(*rank.world, std::span<const std::uint64_t>(none), {1 - rank.world->rank(), Tag{2}});
    later.wait();
    std::size_t wrong = 0;
    for (std::size_t i = 1; i < memory.size(); i += 2) {
      const std::uint64_t right = memory[i].size() + static_cast<unsigned>(1 - pair.rank());
      wrong += static_cast<std::size_t>(std::ranges::count_if(memory[i], [&](auto word) { return word != right; }));
    }
    return std::to_string(wrong) + " wrong, " + std::to_string(rank.strangers()) + " strangers";
  };
  ForkedJob job({body, body});
  for (const Rank rank : {kOther, kVictim}) EXPECT_EQ(job.result(rank, kTimeLimitS), "0 wrong, 0 strangers");
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  for (char& character : name)
    if (character == ';') character = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Providers, StrangerTest, testing::Values("net", "tcp;ofi_rxm"), test_name);
INSTANTIATE_TEST_SUITE_P(Providers, EarlyStrangerTest, testing::Values("net"), test_name);

}  // namespace
}  // namespace fab::test
