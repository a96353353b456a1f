// Cards pay G: a message costs a processor o at each end, for any length.
#include <algorithm>
#include <queue>
#include <tuple>

#include "providers/sim/meeting.h"
#include "providers/sim/simulation.h"

namespace fab::sim {

namespace {

/// A rank on its way through its program.
struct RankState {
  std::uint64_t round = 0;    ///< its first step
  std::uint64_t next = 0;     ///< the first step of the next round
  std::uint32_t pending = 0;  ///< receives, and sends that end when they are received
  Time posted{};              ///< the round's receives
  Time clock{};               ///< the processor is busy until then
  Time sends_end{};           ///< of this round
  Time out_free{};
  Time in_free{};
};

/// The first byte of a message arrives; or, with no sender, a send of the rank's has been received.
struct Event {
  static constexpr Rank kNobody = -1;

  Time at;
  std::uint64_t order;
  Rank rank;
  Rank from;
  Step message;

  bool operator>(const Event& other) const noexcept { return std::tie(at, order) > std::tie(other.at, other.order); }
};

/// One event a message (two if its send ends with its receive): what else a rank does follows from its own state.
class Simulation : SimulatedRanks<RankState, Event> {
 public:
  explicit Simulation(SimulationInput input) : SimulatedRanks(std::move(input)) {}

  std::vector<Prediction> run();

 private:
  void push(Time at, Rank rank, Rank from, const Step& message) {
    events_.push({at, ++last_order_, rank, from, message});
  }

  void run_rounds(Rank rank);
  void post_round(Rank rank);
  void send(Rank rank, const Step& step);
  void arrive(const Event& event);
  void receive(Rank rank, const Arrived& arrived);
  void check_all_met() const;

  PostedReceives posted_{programs_};
  EarlyMessages early_;
  std::vector<Arrived> matched_;  ///< by the receives of the round that is posted
};

std::vector<Prediction> Simulation::run() {
  for (Rank rank = 0; rank < static_cast<Rank>(states_.size()); ++rank) {
    state(rank).next = programs_.begin(rank);
    run_rounds(rank);
  }
  while (!events_.empty()) {
    const Event event = events_.top();
    events_.pop();
    if (event.from != Event::kNobody) {
      arrive(event);
      continue;
    }
    RankState& its = state(event.rank);
    its.clock = std::max(its.clock, event.at);
    --its.pending;
    run_rounds(event.rank);
  }
  check_all_met();
  return std::move(predictions_);
}

// Rounds follow each other in this loop as long as nothing is pending.
void Simulation::run_rounds(Rank rank) {
  RankState& its = state(rank);
  while (its.pending == 0) {
    its.clock = std::max(its.clock, its.sends_end);
    predictions_[static_cast<std::size_t>(rank)].end = its.clock;
    if (its.next == programs_.end(rank)) return;
    its.round = its.next;
    post_round(rank);
  }
}

// First everything is posted, then the processor turns to what has come already.
void Simulation::post_round(Rank rank) {
  RankState& its = state(rank);
  its.posted = its.clock;
  its.sends_end = {};
  matched_.clear();
  its.next = programs_.end_of_round(its.round) + 1;
  for (std::uint64_t index = its.round; index + 1 < its.next; ++index) {
    const Step step = programs_.step(index);
    if (step.kind == Step::Kind::send) {
      send(rank, step);
    } else if (step.kind == Step::Kind::work) {
      its.clock = within_time(its.clock + model_.work(programs_.bytes(step)));
    } else {
      ++its.pending;
      if (const auto arrived = early_.take(rank, step.peer, step.slot)) {
        programs_.set_received(index);
        matched_.push_back(*arrived);
      } else {
        posted_.post(rank, index, its.round, its.next);
      }
    }
  }
  for (const Arrived& arrived : matched_) receive(rank, arrived);
}

void Simulation::send(Rank rank, const Step& step) {
  RankState& its = state(rank);
  const LinkCost& cost = model_.cost(rank, step.peer);
  const std::uint64_t bytes = programs_.bytes(step);
  its.clock += cost.overhead;
  const Time first = std::max(its.clock, its.out_free);
  const Time last = within_time(first + cost.stretch(bytes));
  its.out_free = last + cost.gap;
  if (is_late(bytes))
    ++its.pending;
  else if (bytes > options_.inject_bytes)
    its.sends_end = std::max(its.sends_end, last);
  push(first + cost.latency, step.peer, rank, step);
  Prediction& prediction = predictions_[static_cast<std::size_t>(rank)];
  ++prediction.messages;
  prediction.bytes += bytes;
}

void Simulation::arrive(const Event& event) {
  if (options_.watch && ++arrived_ % 65536 == 0) options_.watch({"messages", arrived_, programs_.messages()});
  RankState& its = state(event.rank);
  const LinkCost& cost = model_.cost(event.rank, event.from);
  const Time here = within_time(std::max(event.at, its.in_free) + cost.stretch(programs_.bytes(event.message)));
  const Arrived arrived{here, event.from, event.message};
  its.in_free = arrived.here + cost.gap;
  if (!posted_.take(event.rank, event.from, event.message.slot, its.round, its.next))
    return early_.keep(event.rank, arrived);
  receive(event.rank, arrived);
  run_rounds(event.rank);
}

void Simulation::receive(Rank rank, const Arrived& arrived) {
  RankState& its = state(rank);
  const Time done = std::max(arrived.here, its.posted);
  its.clock = within_time(std::max(its.clock, done) + model_.cost(rank, arrived.from).overhead);
  --its.pending;
  if (is_late(programs_.bytes(arrived.message))) push(done, arrived.from, Event::kNobody, arrived.message);
}

void Simulation::check_all_met() const {
  for (Rank rank = 0; rank < static_cast<Rank>(states_.size()); ++rank) {
    const RankState& its = states_[static_cast<std::size_t>(rank)];
    if (its.pending > 0) check_received(programs_, rank, its.round, its.next);
  }
  check_taken(early_);
}

}  // namespace

std::vector<Prediction> simulate_cards(SimulationInput input) { return Simulation(std::move(input)).run(); }

}  // namespace fab::sim
