// Predicted times, against jobs that carry the same schedules out and against formulas.
#include <gmock/gmock.h>

#include <bit>
#include <chrono>

#include "bindings/sim/job.h"
#include "providers/sim/predict.h"
#include "unit/support/expect_error.h"
#include "unit/support/patterns.h"

namespace fab::sim {
namespace {

using std::chrono::nanoseconds;
using test::expect_error;

Model three_classes() {
  Model model;
  model.ranks_per_node = 3;
  model.nodes_per_switch = 2;
  return model;
}

/// The ranks of a node share a card that is slower than their ports together, and memory.
Model three_on_a_card() {
  Model model = three_classes();
  model.card = {nanoseconds(70), nanoseconds(31)};
  model.memory = {Time{}, nanoseconds(57)};
  return model;
}

/// Dissemination: in step k every rank tells the one 2^k further on.
Schedule dissemination(Rank self, int ranks, std::size_t bytes) {
  ScheduleBuilder builder("dissemination", ranks);
  std::uint32_t step = 0;
  for (int distance = 1; distance < ranks; distance *= 2, ++step) {
    builder.recv((self + ranks - distance) % ranks, step, {BufferId::recv, 0, Layout::contiguous(bytes)});
    builder.send((self + distance) % ranks, step, {BufferId::send, 0, Layout::contiguous(bytes)});
    builder.round();
  }
  return builder.commit();
}

/// Every rank tells rank 0, in a round that is too long to be searched for each message.
Schedule all_to_root(Rank self, int ranks, std::size_t bytes) {
  ScheduleBuilder builder("all_to_root", ranks);
  const Block block{BufferId::recv, 0, Layout::contiguous(bytes)};
  for (std::uint32_t slot = 0; slot < 3; ++slot) {
    for (int other = 1; self == 0 && other < ranks; ++other)
      builder.recv(slot % 2 == 0 ? other : ranks - other, slot, block);
    if (self != 0) builder.send(0, slot, block);
    if (slot > 0) builder.round();
  }
  return builder.commit();
}

struct Pattern {
  const char* name;
  Schedule (*schedule)(Rank self, int ranks, std::size_t bytes);
};

void PrintTo(const Pattern& pattern, std::ostream* out) { *out << pattern.name; }

class Predictions : public testing::TestWithParam<Pattern> {};

/// Compares all ranks, for some numbers of them and sizes.
void expect_what_jobs_take(const Pattern& pattern, const Model& model) {
  for (const int ranks : {2, 3, 7, 16, 50})
    for (const std::size_t bytes : {1u, 60u, 500u, 70'000u}) {
      SCOPED_TRACE(testing::Message() << ranks << " ranks, " << bytes << " B");
      Options options;
      options.model = model;
      Job job(ranks, options);
      std::vector<std::byte> memory(2 * bytes);
      const auto outcomes = job.run(job.world(), [&](core::Communicator& communicator) -> core::Run& {
        const std::vector<std::byte*> bases{memory.data(), memory.data()};
        const Schedule schedule = pattern.schedule(communicator.rank(), ranks, bytes);
        core::engine_lock.assert_held();
        return communicator.start(std::make_unique<core::RunPool>(communicator, schedule), bases);
      });
      EXPECT_EQ(failures(outcomes), "");
      const auto predicted =
          predict(options.model, ranks, [&](Rank rank) { return pattern.schedule(rank, ranks, bytes); });
      for (std::size_t rank = 0; rank < predicted.size(); ++rank) {
        EXPECT_EQ(predicted[rank].end, outcomes[rank].end) << "rank " << rank;
        EXPECT_EQ(predicted[rank].messages, outcomes[rank].sent.messages);
        EXPECT_EQ(predicted[rank].bytes, outcomes[rank].sent.bytes);
      }
    }
}

TEST_P(Predictions, AreWhatJobsTake) { expect_what_jobs_take(GetParam(), three_classes()); }

TEST_P(Predictions, AreWhatJobsTakeWhereRanksShareACard) { expect_what_jobs_take(GetParam(), three_on_a_card()); }

INSTANTIATE_TEST_SUITE_P(Patterns, Predictions,
                         testing::Values(Pattern{"Tree",
                                                 [](Rank self, int ranks, std::size_t bytes) {
                                                   return test::tree_schedule(self, ranks, 1, bytes);
                                                 }},
                                         Pattern{"Ring", test::ring_schedule}, Pattern{"Dissemination", dissemination},
                                         Pattern{"AllToRoot", all_to_root}),
                         [](const auto& param) { return param.param.name; });

// All ranks do the same at the same time: a step takes L + 2 o.
TEST(Prediction, OfDisseminationFollowsTheFormula) {
  const Model model = uniform_model({nanoseconds(1000), nanoseconds(100), nanoseconds(50), Time{}});
  for (const int ranks : {2, 16, 100, 1 << 10}) {
    const auto predicted = predict(model, ranks, [&](Rank rank) { return dissemination(rank, ranks, 1); });
    const auto steps = static_cast<int>(std::bit_width(static_cast<unsigned>(ranks - 1)));
    EXPECT_EQ(longest(predicted), steps * nanoseconds(1200)) << ranks;
    EXPECT_EQ(predicted.back().messages, static_cast<std::uint64_t>(steps));
  }
}

// L 1000, o 100, g 50; 1001 bytes take 1000.
LinkCost simple_cost(Payer sender, Payer receiver) {
  return {.latency = nanoseconds(1000),
          .overhead = nanoseconds(100),
          .gap = nanoseconds(50),
          .gap_per_kib = nanoseconds(1024),
          .sender_pays = sender,
          .receiver_pays = receiver};
}
constexpr std::size_t kThousand = 1001;

/// When each rank ends.
std::vector<std::int64_t> ends_ns(const Model& model, int ranks, const ScheduleOf& schedule_of) {
  std::vector<std::int64_t> ends;
  for (const Prediction& each : predict(model, ranks, schedule_of, {.inject_bytes = 0}))
    ends.push_back(std::chrono::duration_cast<nanoseconds>(each.end).count());
  return ends;
}

Block thousand(std::ptrdiff_t offset = 0) { return {BufferId::recv, offset, Layout::contiguous(kThousand)}; }

// Both first bytes are there at 1100. A card takes one message after the other, 1000 each and 50 between them, and the
// processor has 100 with the last one; a processor that pays has 1100 with each.
TEST(Prediction, ReceiversPayByCardOrProcessor) {
  const auto to_zero = [](Rank rank) {
    ScheduleBuilder builder("to_zero", 3);
    for (const Rank other : {1, 2}) {
      if (rank == 0) builder.recv(other, 0, thousand());
      if (rank == other) builder.send(0, 0, thousand());
    }
    return builder.commit();
  };
  EXPECT_THAT(ends_ns(uniform_model(simple_cost(Payer::card, Payer::card)), 3, to_zero),
              testing::ElementsAre(3250, 1100, 1100));
  EXPECT_THAT(ends_ns(uniform_model(simple_cost(Payer::card, Payer::processor)), 3, to_zero),
              testing::ElementsAre(3300, 100, 100));
  EXPECT_THAT(ends_ns(uniform_model(simple_cost(Payer::processor, Payer::card)), 3, to_zero),
              testing::ElementsAre(3250, 1100, 1100));
}

// The second message leaves at 1050 + 100 from a card, at 1100 + 100 from a processor that pays.
TEST(Prediction, SendersPayByCardOrProcessor) {
  const auto from_zero = [](Rank rank) {
    ScheduleBuilder builder("from_zero", 3);
    for (const Rank other : {1, 2}) {
      if (rank == 0) builder.send(other, 0, thousand());
      if (rank == other) builder.recv(0, 0, thousand());
    }
    return builder.commit();
  };
  EXPECT_THAT(ends_ns(uniform_model(simple_cost(Payer::card, Payer::card)), 3, from_zero),
              testing::ElementsAre(2150, 2200, 3250));
  EXPECT_THAT(ends_ns(uniform_model(simple_cost(Payer::card, Payer::processor)), 3, from_zero),
              testing::ElementsAre(1150, 2200, 3250));
  EXPECT_THAT(ends_ns(uniform_model(simple_cost(Payer::processor, Payer::card)), 3, from_zero),
              testing::ElementsAre(2200, 2200, 3300));
}

// Rank 0 gets a message at 1100 and one at 1150, and has one to send when it has the first: a processor that pays turns
// to the second before it sends, for that has waited longer.
TEST(Prediction, ProcessorsServeWhoCameFirst) {
  const auto schedule_of = [](Rank rank) {
    ScheduleBuilder builder("first_come", 4);
    if (rank == 0) {
      builder.recv(1, 0, thousand());
      builder.round();
      builder.recv(2, 0, thousand());
      builder.send(3, 0, thousand());
    } else if (rank == 3) {
      builder.recv(0, 0, thousand());
    } else {
      builder.send(0, 0, thousand());
    }
    return builder.commit();
  };
  // It has the first at 2200 and the second at 3300; its message is there at 3300 + 100 + 1000, and taken 1100 later.
  EXPECT_THAT(ends_ns(uniform_model(simple_cost(Payer::card, Payer::processor)), 4, schedule_of),
              testing::ElementsAre(3400, 100, 100, 5500));
  // Its card takes the second while the processor sends at 2200.
  EXPECT_THAT(ends_ns(uniform_model(simple_cost(Payer::card, Payer::card)), 4, schedule_of),
              testing::ElementsAre(3300, 1100, 1100, 4400));
}

// Rank 1 computes until 5000, then takes what arrived at 1100; its receive is posted then, which ends the long send.
TEST(Prediction, LongSendsWaitForTheirReceives) {
  Model model = uniform_model(simple_cost(Payer::card, Payer::processor));
  model.work_per_kib = nanoseconds(1024);
  const auto schedule_of = [](Rank rank) {
    ScheduleBuilder builder("late", 2);
    if (rank == 0) builder.send(1, 0, thousand());
    if (rank == 1) {
      builder.copy({BufferId::send, 0, Layout::contiguous(5000)}, {BufferId::recv, 0, Layout::contiguous(5000)});
      builder.round();
      builder.recv(0, 0, thousand());
    }
    return builder.commit();
  };
  EXPECT_THAT(ends_ns(model, 2, schedule_of), testing::ElementsAre(100, 6100));
  model.eager_bytes = 1000;
  EXPECT_THAT(ends_ns(model, 2, schedule_of), testing::ElementsAre(5000, 6100));
}

// The traffic is the same, whether processors or cards pay for it.
TEST(Prediction, ProcessorsThatPayMoveTheSame) {
  for (const auto& schedule : {test::ring_schedule, dissemination, all_to_root})
    for (const int ranks : {1, 2, 7, 50})
      for (const std::size_t bytes : {1u, 70'000u}) {
        Model model = three_classes();
        const auto schedule_of = [&](Rank rank) { return schedule(rank, ranks, bytes); };
        const auto cards = predict(model, ranks, schedule_of);
        model.far.receiver_pays = Payer::processor;
        model.same_node.sender_pays = model.same_node.receiver_pays = Payer::processor;
        const auto processors = predict(model, ranks, schedule_of);
        for (std::size_t rank = 0; rank < cards.size(); ++rank) {
          EXPECT_EQ(processors[rank].messages, cards[rank].messages);
          EXPECT_EQ(processors[rank].bytes, cards[rank].bytes);
        }
      }
}

TEST(Prediction, JobsKnowOnlyCardsThatPay) {
  Options options;
  options.model.same_node.receiver_pays = Payer::processor;
  expect_error(Errc::invalid_argument, {"processors pay G"}, [&] { Network network(2, options); });
}

TEST(Prediction, WorkTakesTimeOfTheProcessor) {
  Model model = uniform_model({nanoseconds(1000), nanoseconds(100), nanoseconds(50), Time{}});
  model.work_per_kib = nanoseconds(512);
  const auto predicted = predict(model, 1, [](Rank) {
    ScheduleBuilder builder("copy", 1);
    builder.copy({BufferId::send, 0, Layout::contiguous(1000)}, {BufferId::recv, 0, Layout::contiguous(1000)});
    return builder.commit();
  });
  EXPECT_EQ(predicted.front().end, nanoseconds(500));
}

TEST(Prediction, WorkIsEstimatedFromAFewRanks) {
  int built = 0;
  const auto counted = [&](auto&& schedule) {
    return [&built, schedule](Rank rank) {
      ++built;
      return schedule(rank);
    };
  };
  constexpr int kRanks = 10'000;
  const Work ring = estimate_work(kRanks, 0, counted([](Rank rank) { return test::ring_schedule(rank, kRanks, 8); }));
  EXPECT_NEAR(ring.operations, 4 * kRanks, 1);
  EXPECT_NEAR(ring.messages, 2 * kRanks, 1);
  EXPECT_LT(built, 50);
  // The root's work is its own, not that of all ranks.
  const Work star = estimate_work(kRanks, 0, counted([](Rank rank) { return all_to_root(rank, kRanks, 8); }));
  EXPECT_NEAR(star.messages, 3 * (kRanks - 1), 1);
  EXPECT_NEAR(star.operations, 6 * (kRanks - 1), 1);
  // Enough is enough.
  built = 0;
  EXPECT_GT(
      estimate_work(kRanks, 0, counted([](Rank rank) { return test::ring_schedule(rank, kRanks, 8); }), 10).operations,
      10);
  EXPECT_EQ(built, 1);
  EXPECT_EQ(estimate_work(1, 0, [](Rank) { return ScheduleBuilder("none", 1).commit(); }).operations, 0);
}

TEST(Prediction, TellsHowFarItIs) {
  std::vector<std::string> seen;
  const auto watch = [&](const Progress& progress) {
    EXPECT_LE(progress.done, progress.all);
    if (seen.empty() || seen.back() != progress.what) seen.emplace_back(progress.what);
  };
  constexpr int kRanks = 40'000;
  (void)predict({}, kRanks, [](Rank rank) { return test::ring_schedule(rank, kRanks, 8); }, {.watch = watch});
  EXPECT_THAT(seen, testing::ElementsAre("schedules", "messages"));
}

TEST(Prediction, TimesThatCannotBeCountedAreRefused) {
  for (const std::size_t bytes : {std::size_t{1} << 60, std::size_t{1} << 40})
    for (const Payer payer : {Payer::card, Payer::processor})
      expect_error(Errc::invalid_argument, {"53 days"}, [&] {
        Model model = uniform_model({nanoseconds(1000), nanoseconds(100), nanoseconds(50), nanoseconds(1'000'000'000)});
        model.far.receiver_pays = payer;
        (void)predict(model, 3, [&](Rank rank) { return test::tree_schedule(rank, 3, 0, bytes); });
      });
}

TEST(Prediction, MessagesThatDoNotMeetAreNamed) {
  const auto one_sided = [](bool send) {
    return [send](Rank rank) {
      ScheduleBuilder builder("half", 3);
      const Block block{BufferId::recv, 0, Layout::contiguous(8)};
      if (send && rank == 1) builder.send(2, 4, block);
      if (!send && rank == 2) builder.recv(1, 4, block);
      return builder.commit();
    };
  };
  expect_error(Errc::invalid_schedule, {"rank 1 sends rank 2 a message (slot 4) that is never received"},
               [&] { (void)predict({}, 3, one_sided(true)); });
  expect_error(Errc::invalid_schedule, {"rank 2 waits for a message from rank 1 (slot 4, 8 B) that is never sent"},
               [&] { (void)predict({}, 3, one_sided(false)); });
  Model model;
  model.far.receiver_pays = Payer::processor;
  expect_error(Errc::invalid_schedule, {"rank 1 sends rank 2 a message (slot 4) that is never received"},
               [&] { (void)predict(model, 3, one_sided(true)); });
  expect_error(Errc::invalid_schedule, {"rank 2 waits for a message from rank 1 (slot 4, 8 B) that is never sent"},
               [&] { (void)predict(model, 3, one_sided(false)); });
  expect_error(Errc::invalid_schedule, {"rank 2 of 2"}, [&] { (void)predict({}, 2, one_sided(true)); });
}

}  // namespace
}  // namespace fab::sim
