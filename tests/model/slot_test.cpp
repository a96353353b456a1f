// Short messages of one-sided persistent exchanges, with two slots for each, in all orders of their steps.
//
// Start number k uses slot k mod 2. Where messages go both ways a start writes at once; where they go one way it needs
// k - 1 of the credits that the receiver sends with its starts. Writes land in any order, and tell which slot they were
// for. A start is complete when its slot was written as often as that start needs.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "model/states.h"

namespace fab::model {
namespace {

constexpr std::size_t kMostEnds = 3;
constexpr std::size_t kMostEdges = 4;

enum class Mistake { none, no_credits, one_slot, one_count };

struct Edge {
  std::size_t from;
  std::size_t to;
};

struct EndState {
  std::uint8_t started = 0;
  std::uint8_t completed = 0;
};

struct EdgeState {
  std::uint8_t credits_sent = 0;
  std::uint8_t credits_noticed = 0;
  std::uint8_t written = 0;
  std::uint8_t under_way = 0;  ///< a bit for each start
  std::array<std::uint8_t, 2> landed{};
  std::array<std::uint8_t, 2> noticed{};
  std::array<std::uint8_t, 2> slots{};  ///< the start that wrote last
};

struct State {
  std::array<EndState, kMostEnds> ends{};
  std::array<EdgeState, kMostEdges> edges{};
  std::uint8_t other_data = 0;
};

class TwoSlots {
 public:
  TwoSlots(std::size_t ends, std::vector<Edge> edges, std::uint8_t starts, Mistake mistake = Mistake::none)
      : ends_(ends), edges_(std::move(edges)), starts_(starts), mistake_(mistake) {}

  template <class Visit>
  void step(const State& now, const Visit& visit) const {
    const auto after = [&](const auto& change) {
      State next = now;
      change(next);
      visit(next);
    };
    for (std::size_t end = 0; end < ends_; ++end) {
      const EndState& its = now.ends[end];
      if (its.started == its.completed && its.started < starts_) after([&](State& next) { ++next.ends[end].started; });
      if (may_complete(now, end)) after([&](State& next) { complete(next, end); });
    }
    for (std::size_t i = 0; i < edges_.size(); ++i) {
      const EdgeState& edge = now.edges[i];
      if (edge.credits_sent < now.ends[edges_[i].to].started) after([&](State& next) { ++next.edges[i].credits_sent; });
      if (edge.credits_noticed < edge.credits_sent) after([&](State& next) { ++next.edges[i].credits_noticed; });
      if (may_write(now, i))
        after([&](State& next) {
          next.edges[i].under_way = static_cast<std::uint8_t>(edge.under_way | 1u << ++next.edges[i].written);
        });
      for (std::uint8_t start = 1; start <= edge.written; ++start)
        if ((edge.under_way >> start & 1u) != 0) after([&](State& next) { land(next.edges[i], start); });
      for (const std::size_t slot : {0u, 1u})
        if (edge.noticed[slot] < edge.landed[slot]) after([&](State& next) { ++next.edges[i].noticed[slot]; });
    }
  }
  [[nodiscard]] const char* wrong(const State& state) const {
    return state.other_data != 0 ? "a start gets other data" : "";
  }
  [[nodiscard]] bool is_end(const State& state) const {
    return std::all_of(state.ends.begin(), state.ends.begin() + static_cast<std::ptrdiff_t>(ends_),
                       [&](const EndState& end) { return end.completed == starts_; });
  }

 private:
  [[nodiscard]] std::size_t slot(std::uint8_t start) const { return mistake_ == Mistake::one_slot ? 0 : start & 1u; }
  [[nodiscard]] bool is_answered(const Edge& edge) const {
    return std::ranges::any_of(edges_,
                               [&](const Edge& other) { return other.from == edge.to && other.to == edge.from; });
  }
  [[nodiscard]] bool may_write(const State& now, std::size_t i) const {
    const EdgeState& edge = now.edges[i];
    if (edge.written == now.ends[edges_[i].from].started) return false;
    return edge.written <= edge.credits_noticed || is_answered(edges_[i]) || mistake_ == Mistake::no_credits;
  }
  void land(EdgeState& edge, std::uint8_t start) const {
    edge.under_way = static_cast<std::uint8_t>(edge.under_way & ~(1u << start));
    ++edge.landed[slot(start)];
    edge.slots[slot(start)] = start;
  }
  [[nodiscard]] bool has_arrived(const EdgeState& edge, std::uint8_t start) const {
    if (mistake_ == Mistake::one_count || mistake_ == Mistake::one_slot)
      return edge.noticed[0] + edge.noticed[1] >= start;
    return edge.noticed[slot(start)] >= (start + slot(start)) / 2;
  }
  [[nodiscard]] bool may_complete(const State& now, std::size_t end) const {
    const EndState& its = now.ends[end];
    if (its.started == its.completed) return false;
    for (std::size_t i = 0; i < edges_.size(); ++i) {
      if (edges_[i].to == end && !has_arrived(now.edges[i], its.started)) return false;
      if (edges_[i].from == end && now.edges[i].written != its.started) return false;
    }
    return true;
  }
  void complete(State& next, std::size_t end) const {
    const std::uint8_t start = ++next.ends[end].completed;
    for (std::size_t i = 0; i < edges_.size(); ++i)
      if (edges_[i].to == end && next.edges[i].slots[slot(start)] != start) next.other_data = 1;
  }

  std::size_t ends_;
  std::vector<Edge> edges_;
  std::uint8_t starts_;
  Mistake mistake_;
};

const std::vector<Edge> kOneWay = {{0, 1}};
const std::vector<Edge> kBothWays = {{0, 1}, {1, 0}};
const std::vector<Edge> kRingOfThree = {{0, 1}, {1, 2}, {2, 0}};
const std::vector<Edge> kTwoEdgesAndOneBack = {{0, 1}, {0, 1}, {1, 0}};
constexpr const char* kOtherData = "a start gets other data";

TEST(SlotModel, EachStartGetsItsData) {
  for (const TwoSlots& protocol : {TwoSlots(2, kOneWay, 6), TwoSlots(2, kBothWays, 5), TwoSlots(3, kRingOfThree, 2),
                                   TwoSlots(2, kTwoEdgesAndOneBack, 2)}) {
    const Visited visited = visit_all(State(), protocol);
    EXPECT_EQ(visited.failure, "");
    EXPECT_GT(visited.states, 100u);
  }
}

TEST(SlotModel, OneWayNeedsCredits) {
  EXPECT_EQ(visit_all(State(), TwoSlots(2, kOneWay, 4, Mistake::no_credits)).failure, kOtherData);
  EXPECT_EQ(visit_all(State(), TwoSlots(3, kRingOfThree, 4, Mistake::no_credits)).failure, kOtherData);
}

TEST(SlotModel, AnAnswerIsNotEnoughForOneSlot) {
  EXPECT_EQ(visit_all(State(), TwoSlots(2, kBothWays, 3, Mistake::one_slot)).failure, kOtherData);
}

TEST(SlotModel, ArrivalsAreCountedBySlot) {
  EXPECT_EQ(visit_all(State(), TwoSlots(2, kBothWays, 3, Mistake::one_count)).failure, kOtherData);
}

}  // namespace
}  // namespace fab::model
