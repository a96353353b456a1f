// The protocol of one-sided persistent exchanges in all orders of its steps.
//
// Per edge the receiver sends a credit with each start. The sender's write number k needs its start number k and k
// credits. The receiver's start number k is complete when k writes have arrived and its own are done. Ranks start and
// end each exchange when they like; credits, writes and completions are under way, or unnoticed, for any time.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "model/states.h"

namespace fab::model {
namespace {

constexpr std::size_t kMostEnds = 4;
constexpr std::size_t kMostEdges = 4;

enum class Mistake {
  none,
  writes_without_credit,
  credit_when_complete,     ///< for the next start, which has not come
  forgets_own_writes,       ///< is complete when all has arrived
  sends_from_place,         ///< in an exchange in place, without a copy of what is sent
  credit_after_own_writes,  ///< which would spare that copy
};

/// Of a write whose bytes are taken late, from the sender's memory; or from a copy that was made when it was posted, so
/// that the sender may be done before they arrive.
enum class Transfer { late, copied };

/// The part of one rank in one exchange.
using End = std::size_t;

struct Edge {
  End from = 0;
  End to = 0;
};

struct EndState {
  std::uint8_t started = 0;
  std::uint8_t completed = 0;
  std::uint8_t to_send = 0;  ///< which value lies in the send memory
};

struct EdgeState {
  std::uint8_t credits_sent = 0;
  std::uint8_t credits_noticed = 0;
  std::uint8_t written = 0;
  std::uint8_t landed = 0;
  std::uint8_t arrival_noticed = 0;
  std::uint8_t end_noticed = 0;  ///< by the sender
  std::uint8_t received = 0;     ///< which value lies in the receive memory
};

enum class Wrong : std::uint8_t { nothing, landed_uninvited, other_data };

struct State {
  std::array<EndState, kMostEnds> ends{};
  std::array<EdgeState, kMostEdges> edges{};
  Wrong wrong = Wrong::nothing;
};

class OneSidedModel {
 public:
  struct Options {
    std::size_t ends = 2;
    std::vector<Edge> edges;
    std::uint8_t iterations = 3;
    Transfer transfer = Transfer::late;
    Mistake mistake = Mistake::none;
  };

  explicit OneSidedModel(Options options) : options_(std::move(options)) {}

  template <class Visit>
  void step(const State& now, const Visit& visit) const {
    for (End end = 0; end < options_.ends; ++end) {
      if (may_start(now, end)) visit(after(now, [&](State& next) { start(next, end); }));
      if (may_complete(now, end)) visit(after(now, [&](State& next) { complete(next, end); }));
    }
    for (std::size_t i = 0; i < options_.edges.size(); ++i) {
      const EdgeState& edge = now.edges[i];
      const auto count = [&](bool may, std::uint8_t EdgeState::*what) {
        if (may) visit(after(now, [&](State& next) { ++(next.edges[i].*what); }));
      };
      count(may_send_credit(now, i), &EdgeState::credits_sent);
      count(edge.credits_noticed < edge.credits_sent, &EdgeState::credits_noticed);
      count(may_write(now, i), &EdgeState::written);
      if (edge.landed < edge.written) visit(after(now, [&](State& next) { land(next, i); }));
      count(edge.arrival_noticed < edge.landed, &EdgeState::arrival_noticed);
      const std::uint8_t ended = options_.transfer == Transfer::late ? edge.landed : edge.written;
      count(edge.end_noticed < ended, &EdgeState::end_noticed);
    }
  }
  [[nodiscard]] const char* wrong(const State& state) const {
    if (state.wrong == Wrong::landed_uninvited) return "a write lands in memory that is not started";
    return state.wrong == Wrong::other_data ? "an iteration gets other data" : "";
  }
  [[nodiscard]] bool is_end(const State& state) const {
    return std::all_of(state.ends.begin(), state.ends.begin() + static_cast<std::ptrdiff_t>(options_.ends),
                       [&](const EndState& end) { return end.completed == options_.iterations; });
  }

 private:
  template <class Change>
  static State after(State state, const Change& change) {
    change(state);
    return state;
  }
  /// What the sender gives its iteration.
  static std::uint8_t value(End from, std::uint8_t iteration) {
    return static_cast<std::uint8_t>(1 + from * 16 + iteration);
  }
  [[nodiscard]] bool is_mistaken(Mistake mistake) const { return options_.mistake == mistake; }

  [[nodiscard]] bool may_start(const State& now, End end) const {
    return now.ends[end].started == now.ends[end].completed && now.ends[end].started < options_.iterations;
  }
  void start(State& next, End end) const {
    EndState& its = next.ends[end];
    ++its.started;
    its.to_send = value(end, its.started);
  }
  [[nodiscard]] bool may_send_credit(const State& now, std::size_t i) const {
    const EndState& receiver = now.ends[options_.edges[i].to];
    std::uint8_t due = receiver.started;
    if (is_mistaken(Mistake::credit_when_complete)) due = static_cast<std::uint8_t>(receiver.completed + 1);
    if (is_mistaken(Mistake::credit_after_own_writes) && !own_writes_ended(now, options_.edges[i].to)) return false;
    return now.edges[i].credits_sent < std::min(due, options_.iterations);
  }
  [[nodiscard]] bool may_write(const State& now, std::size_t i) const {
    const EdgeState& edge = now.edges[i];
    return edge.written < now.ends[options_.edges[i].from].started &&
           (edge.written < edge.credits_noticed || is_mistaken(Mistake::writes_without_credit));
  }
  void land(State& next, std::size_t i) const {
    const Edge& edge = options_.edges[i];
    EdgeState& its = next.edges[i];
    const EndState& receiver = next.ends[edge.to];
    ++its.landed;
    if (receiver.started != its.landed || receiver.completed == its.landed) next.wrong = Wrong::landed_uninvited;
    its.received = options_.transfer == Transfer::copied ? value(edge.from, its.landed) : next.ends[edge.from].to_send;
    if (is_mistaken(Mistake::sends_from_place)) next.ends[edge.to].to_send = its.received;
  }
  [[nodiscard]] bool own_writes_ended(const State& now, End end) const {
    for (std::size_t i = 0; i < options_.edges.size(); ++i)
      if (options_.edges[i].from == end && now.edges[i].end_noticed != now.ends[end].started) return false;
    return true;
  }
  [[nodiscard]] bool may_complete(const State& now, End end) const {
    const EndState& its = now.ends[end];
    if (its.started == its.completed) return false;
    for (std::size_t i = 0; i < options_.edges.size(); ++i)
      if (options_.edges[i].to == end && now.edges[i].arrival_noticed != its.started) return false;
    return own_writes_ended(now, end) || is_mistaken(Mistake::forgets_own_writes);
  }
  /// The user looks at what came, and writes what is sent next.
  void complete(State& next, End end) const {
    EndState& its = next.ends[end];
    ++its.completed;
    its.to_send = 0;
    for (std::size_t i = 0; i < options_.edges.size(); ++i)
      if (options_.edges[i].to == end && next.edges[i].received != value(options_.edges[i].from, its.completed))
        next.wrong = Wrong::other_data;
  }

  Options options_;
};

Visited visit(const OneSidedModel::Options& options) { return visit_all(State(), OneSidedModel(options)); }

const std::vector<Edge> kOneWay = {{0, 1}};
const std::vector<Edge> kBothWays = {{0, 1}, {1, 0}};
const std::vector<Edge> kRingOfThree = {{0, 1}, {1, 2}, {2, 0}};
const std::vector<Edge> kTwoExchanges = {{0, 1}, {1, 0}, {2, 3}};  // rank 0 has the ends 0 and 2
const std::vector<Edge> kTwoEdgesToOnePeer = {{0, 1}, {0, 1}, {1, 0}};

class CreditModel : public testing::TestWithParam<Transfer> {
 protected:
  static void expect_right(std::size_t ends, const std::vector<Edge>& edges, std::uint8_t iterations) {
    const Visited visited = visit({.ends = ends, .edges = edges, .iterations = iterations, .transfer = GetParam()});
    EXPECT_EQ(visited.failure, "");
    EXPECT_GT(visited.states, 20u);
  }
};

TEST_P(CreditModel, EachIterationGetsItsData) {
  expect_right(2, kOneWay, 5);
  expect_right(2, kBothWays, 4);
  expect_right(3, kRingOfThree, 2);
  expect_right(2, kTwoEdgesToOnePeer, 2);
}

TEST_P(CreditModel, SeveralExchangesDoNotHinderEachOther) { expect_right(4, kTwoExchanges, 2); }

constexpr const char* kUninvited = "a write lands in memory that is not started";
constexpr const char* kOtherData = "an iteration gets other data";

TEST_P(CreditModel, CreditsAreNeeded) {
  for (const auto& edges : {kOneWay, kBothWays})
    EXPECT_EQ(visit({.edges = edges, .transfer = GetParam(), .mistake = Mistake::writes_without_credit}).failure,
              kUninvited);
}

TEST_P(CreditModel, CreditsMustNotComeBeforeTheStart) {
  EXPECT_EQ(visit({.edges = kOneWay, .transfer = GetParam(), .mistake = Mistake::credit_when_complete}).failure,
            kUninvited);
}

INSTANTIATE_TEST_SUITE_P(Transfers, CreditModel, testing::Values(Transfer::late, Transfer::copied),
                         [](const auto& of) { return std::string(of.param == Transfer::late ? "Late" : "Copied"); });

TEST(CreditModelInPlace, TheSendersMemoryIsReadUntilItsWriteEnds) {
  EXPECT_EQ(visit({.edges = kBothWays, .mistake = Mistake::forgets_own_writes}).failure, kOtherData);
}

TEST(CreditModelInPlace, InPlaceNeedsACopyOfWhatIsSent) {
  EXPECT_EQ(visit({.edges = kBothWays, .mistake = Mistake::sends_from_place}).failure, kOtherData);
  EXPECT_EQ(visit({.edges = kBothWays, .mistake = Mistake::credit_after_own_writes}).failure, "nothing goes on");
}

}  // namespace
}  // namespace fab::model
