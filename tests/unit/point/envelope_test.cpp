// Invalid envelopes: fab does not trust lengths, ranks and numbers from the wire.
#include "core/point/envelope.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <deque>
#include <vector>

#include "core/point/point_to_point.h"
#include "support/outcome.h"
#include "unit/harness/exchange.h"
#include "unit/harness/in_process_job.h"
#include "unit/harness/recording_rig.h"

namespace fab::test {
namespace {

using core::Envelope;
using core::EnvelopeKind;

constexpr Rank kVictim = 0;
constexpr int kRanksOfJob = 3;
constexpr std::uint64_t kPayload = 0x7061796c6f6164;

class Envelopes : public testing::Test {
 protected:
  Envelopes() {
    for (Rank rank = 0; rank < kRanksOfJob; ++rank) {
      const core::Lock lock(job_.context(rank).engine());
      static_cast<void>(job_.context(rank).point_to_point());
    }
  }

  /// Rank 1 sends the envelope and so many bytes of payload behind it, all of it cut to `wire_bytes`.
  void send(Rank from, const Envelope& envelope, std::size_t payload_bytes, std::size_t wire_bytes = ~std::size_t{0}) {
    std::vector<std::byte>& wire = wires_.emplace_back(sizeof(envelope) + payload_bytes);
    std::memcpy(wire.data(), &envelope, sizeof(envelope));
    std::memcpy(wire.data() + sizeof(envelope), &kPayload, std::min(payload_bytes, sizeof(kPayload)));
    const std::array<iovec, 1> pieces{{{wire.data(), std::min(wire.size(), wire_bytes)}}};
    core::Context& context = job_.context(from);
    PostResult result = PostResult::again;
    for (int tries = 0; tries < 1000 && result == PostResult::again; ++tries) {
      {
        const core::Lock lock(context.engine());
        result = context.transports().network->post_send(kVictim, pieces, context.tags().point_to_point(),
                                                         outcomes_.emplace_back());
      }
      job_.progress();
    }
    ASSERT_NE(result, PostResult::again);
    for (int i = 0; i < 100; ++i) job_.progress();
  }

  [[nodiscard]] std::uint64_t misfits() { return job_.context(kVictim).counters()[core::Counter::strangers]; }

  /// A message of rank 1's, the first one.
  static Envelope message() {
    return {.kind = EnvelopeKind::eager, .sender = 1, .source = 1, .tag = Tag{5}, .bytes = sizeof(kPayload)};
  }

  std::deque<std::vector<std::byte>> wires_;
  std::deque<Outcome> outcomes_;
  InProcessJob job_{kRanksOfJob, caller_config(), {.inject_bytes = 64}};
};

TEST(BriefEnvelopes, SayWhatTheFullOnesSay) {
  const Envelope full{.kind = EnvelopeKind::eager,
                      .credits = 7,
                      .sender = 2,
                      .sequence = 11,
                      .source = 1,
                      .tag = Tag{5},
                      .context_owner = 3,
                      .context_number = 9,
                      .bytes = core::kMostBriefBytes};
  ASSERT_TRUE(core::may_be_brief(full));
  const Envelope again = core::in_full(core::brief(full), 2);
  EXPECT_EQ(std::memcmp(&again, &full, sizeof(full)), 0);
}

TEST(BriefEnvelopes, AreForShortMessagesWithoutAnAnswer) {
  Envelope envelope{.kind = EnvelopeKind::eager, .mode = SendMode::buffered};
  EXPECT_TRUE(core::may_be_brief(envelope));
  for (const SendMode mode : {SendMode::synchronous, SendMode::ready}) {
    envelope.mode = mode;
    EXPECT_FALSE(core::may_be_brief(envelope));
  }
  envelope.mode = SendMode::standard;
  envelope.kind = EnvelopeKind::rts;
  EXPECT_FALSE(core::may_be_brief(envelope));
  envelope.kind = EnvelopeKind::eager;
  envelope.bytes = core::kMostBriefBytes + 1;
  EXPECT_FALSE(core::may_be_brief(envelope));
}

// From the network they are none: only the sender of a message through shared memory is known by the way.
TEST_F(Envelopes, OfTheShortKindAreDroppedWhereTheSenderIsNotKnown) {
  Envelope envelope = message();
  envelope.kind = EnvelopeKind::brief;
  ASSERT_NO_FATAL_FAILURE(send(1, envelope, sizeof(kPayload)));
  EXPECT_EQ(misfits(), 1u);
}

TEST_F(Envelopes, ThatMakeNoSenseAreDroppedAndCounted) {
  std::vector<Envelope> senseless;
  const auto with = [&senseless](auto change) { change(senseless.emplace_back(message())); };
  for (const std::uint64_t bytes :
       {std::uint64_t{0}, sizeof(kPayload) - 1, sizeof(kPayload) + 1, std::uint64_t{1} << 40, ~std::uint64_t{0}})
    with([bytes](Envelope& envelope) { envelope.bytes = bytes; });
  for (const Rank rank : {-1, kRanksOfJob, 1 << 30}) {
    with([rank](Envelope& envelope) { envelope.sender = rank; });
    with([rank](Envelope& envelope) { envelope.source = rank; });
    with([rank](Envelope& envelope) { envelope.context_owner = rank; });
  }
  with([](Envelope& envelope) { envelope.kind = static_cast<EnvelopeKind>(200); });
  with([](Envelope& envelope) { envelope.mode = static_cast<SendMode>(200); });
  with([](Envelope& envelope) { envelope.credits = core::kWindow + 1; });
  with([](Envelope& envelope) { envelope.kind = EnvelopeKind::rts; });
  for (const Envelope& each : senseless) ASSERT_NO_FATAL_FAILURE(send(1, each, sizeof(kPayload)));
  ASSERT_NO_FATAL_FAILURE(send(1, message(), 0, 10));
  EXPECT_EQ(misfits(), senseless.size() + 1);

  const auto communicators = job_.communicators([](Rank) { return std::optional<Topology>(); });
  std::uint64_t received = 0;
  core::Pending* receive = nullptr;
  Envelope sensible = message();
  {
    const core::Lock lock(job_.context(kVictim).engine());
    receive = &job_.context(kVictim).point_to_point().receive(
        *communicators[kVictim], {reinterpret_cast<std::byte*>(&received), sizeof(received)}, {kAnySource, kAnyTag});
    sensible.context_owner = communicators[kVictim]->context_id().owner;
    sensible.context_number = communicators[kVictim]->context_id().number;
  }
  ASSERT_NO_FATAL_FAILURE(send(1, sensible, sizeof(kPayload)));
  ASSERT_TRUE(receive->done()) << "what makes sense is received";
  EXPECT_EQ(received, kPayload);
  const core::Lock lock(job_.context(kVictim).engine());
  receive->let_go();
}

TEST_F(Envelopes, OfARankThatAMessageDoesNotConcernChangeNothing) {
  const auto communicators = job_.communicators([](Rank) { return std::optional<Topology>(); });
  std::uint64_t sent = kPayload;
  core::Pending* pending = nullptr;
  {
    const core::Lock lock(job_.context(kVictim).engine());
    pending = &job_.context(kVictim).point_to_point().send(*communicators[kVictim],
                                                           {reinterpret_cast<std::byte*>(&sent), sizeof(sent)},
                                                           {1, Tag{0}}, SendMode::synchronous);
  }
  for (const EnvelopeKind kind : {EnvelopeKind::ack, EnvelopeKind::nack, EnvelopeKind::cts})
    ASSERT_NO_FATAL_FAILURE(send(2, {.kind = kind, .sender = 2}, 0));
  EXPECT_FALSE(pending->done()) << "rank 2 answered for rank 1";
  std::uint64_t received = 0;
  core::Pending* receive = nullptr;
  {
    const core::Lock lock(job_.context(1).engine());
    receive = &job_.context(1).point_to_point().receive(
        *communicators[1], {reinterpret_cast<std::byte*>(&received), sizeof(received)}, {kVictim, Tag{0}});
  }
  for (int i = 0; i < 1000 && !(pending->done() && receive->done()); ++i) job_.progress();
  ASSERT_TRUE(pending->done() && receive->done());
  EXPECT_EQ(received, kPayload);
  for (const auto& [rank, operation] : {std::pair{kVictim, pending}, std::pair{1, receive}}) {
    const core::Lock lock(job_.context(rank).engine());
    EXPECT_TRUE(operation->status().ok()) << operation->status().message;
    operation->let_go();
  }
}

}  // namespace
}  // namespace fab::test
