// Simulates programs if network cards pay G: a card spends LogGP's gap G on each byte of a message, and the processor
// at each end spends only the overhead o, for any length.
#include <algorithm>
#include <queue>
#include <tuple>

#include "providers/sim/meeting.h"
#include "providers/sim/shares.h"
#include "providers/sim/simulation.h"

namespace fab::sim {

namespace {

/// A message that waits for its sender's port.
struct OutgoingStep {
  Time ready;
  Step step;
};

/// A rank on its way through its program.
struct RankOfCard {
  std::uint64_t round = 0;    ///< its first step
  std::uint64_t next = 0;     ///< the first step of the next round
  std::uint32_t pending = 0;  ///< receives, and sends that end when they are received
  Time posted{};              ///< the round's receives
  Time clock{};               ///< the processor is busy until then
  Time sends_end{};           ///< of this round
  Time out_free{};
  Time in_free{};
  std::vector<OutgoingStep> outgoing{};  ///< where ranks share a card; the first `left` have left
  std::size_t left = 0;
};

struct Event {
  enum class Kind : std::uint8_t {
    message,   ///< its first byte arrives
    through,   ///< so it does behind a card that others share
    leave,     ///< the rank's next message, if the card lets it
    received,  ///< a send of the rank's
  };

  Time at;
  std::uint64_t order;
  Rank rank;
  Rank from;
  Step message;
  Kind kind;

  bool operator>(const Event& other) const noexcept { return std::tie(at, order) > std::tie(other.at, other.order); }
};

/// One event a message (two if its send ends with its receive): what else a rank does follows from its own state. Where
/// ranks share a card, one or two more: a message then leaves, and comes, in the order of time.
class CardSimulation : SimulatedRanks<RankOfCard, Event> {
 public:
  explicit CardSimulation(SimulationInput input)
      : SimulatedRanks(std::move(input)), shares_(model_, static_cast<int>(states_.size())) {
    last_order_ = kOtherOrders;
  }

  std::vector<Prediction> run();

 private:
  void push(Event::Kind kind, Time at, Rank rank, Rank from, const Step& message) {
    events_.push({at, ++last_order_, rank, from, message, kind});
  }
  void push_arrival(Event::Kind kind, Time at, Rank to, Rank from, const Step& message) {
    const std::uint64_t order = model_.shares() ? arrival_order(from, ++last_order_) : ++last_order_;
    events_.push({at, order, to, from, message, kind});
  }
  void push_leave(Rank rank);

  void run_rounds(Rank rank);
  void post_round(Rank rank);
  void send(Rank rank, const Step& step);
  [[nodiscard]] Time depart(Rank rank, const Step& step, Time first);
  void leave(Rank rank, Time now);
  void arrive(const Event& event);
  void take(const Event& event, Time now);
  void received(Rank rank, Time at);
  void receive(Rank rank, const Arrived& arrived);
  void check_all_met() const;

  PostedReceives posted_{programs_};
  EarlyMessages early_;
  std::vector<Arrived> matched_;  ///< by the receives of the round that is posted
  NodeShares shares_;
};

std::vector<Prediction> CardSimulation::run() {
  for (Rank rank = 0; rank < static_cast<Rank>(states_.size()); ++rank) {
    state(rank).next = programs_.begin(rank);
    run_rounds(rank);
  }
  while (!events_.empty()) {
    const Event event = events_.top();
    events_.pop();
    switch (event.kind) {
      case Event::Kind::message:
        arrive(event);
        break;
      case Event::Kind::through:
        take(event, event.at);
        break;
      case Event::Kind::leave:
        leave(event.rank, event.at);
        break;
      case Event::Kind::received:
        received(event.rank, event.at);
        break;
    }
  }
  check_all_met();
  return std::move(predictions_);
}

void CardSimulation::received(Rank rank, Time at) {
  RankOfCard& its = state(rank);
  its.clock = std::max(its.clock, at);
  --its.pending;
  run_rounds(rank);
}

// Rounds follow each other in this loop as long as nothing is pending.
void CardSimulation::run_rounds(Rank rank) {
  RankOfCard& its = state(rank);
  while (its.pending == 0) {
    its.clock = std::max(its.clock, its.sends_end);
    predictions_[static_cast<std::size_t>(rank)].end = its.clock;
    if (its.next == programs_.end(rank)) return;
    its.round = its.next;
    post_round(rank);
  }
}

// First everything is posted, then the processor turns to what has come already.
void CardSimulation::post_round(Rank rank) {
  RankOfCard& its = state(rank);
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

void CardSimulation::send(Rank rank, const Step& step) {
  RankOfCard& its = state(rank);
  const std::uint64_t bytes = programs_.bytes(step);
  its.clock += model_.cost(rank, step.peer).overhead;
  Prediction& prediction = predictions_[static_cast<std::size_t>(rank)];
  ++prediction.messages;
  prediction.bytes += bytes;
  const bool waited_for = bytes > options_.inject_bytes;
  if (model_.shares()) {
    if (waited_for) ++its.pending;
    its.outgoing.push_back({within_time(its.clock), step});
    if (its.outgoing.size() == its.left + 1) push_leave(rank);
    return;
  }
  const Time last = depart(rank, step, std::max(its.clock, its.out_free));
  if (is_late(bytes))
    ++its.pending;
  else if (waited_for)
    its.sends_end = std::max(its.sends_end, last);
}

// Returns when the last byte has left.
Time CardSimulation::depart(Rank rank, const Step& step, Time first) {
  RankOfCard& its = state(rank);
  const LinkCost& cost = model_.cost(rank, step.peer);
  const Time last = within_time(first + cost.stretch(programs_.bytes(step)));
  its.out_free = last + cost.gap;
  push_arrival(Event::Kind::message, first + cost.latency, step.peer, rank, step);
  return last;
}

void CardSimulation::push_leave(Rank rank) {
  const RankOfCard& its = state(rank);
  const Time at = std::max(its.outgoing[its.left].ready, its.out_free);
  events_.push({at, leave_order(rank), rank, rank, {}, Event::Kind::leave});
}

void CardSimulation::leave(Rank rank, Time now) {
  RankOfCard& its = state(rank);
  const Step step = its.outgoing[its.left++].step;
  const std::uint64_t bytes = programs_.bytes(step);
  const Time last = depart(rank, step, within_time(shares_.leave(rank, step.peer, bytes, now)));
  if (its.left < its.outgoing.size()) {
    push_leave(rank);
  } else {
    its.outgoing.clear();
    its.left = 0;
  }
  if (bytes <= options_.inject_bytes || is_late(bytes)) return;
  its.sends_end = std::max(its.sends_end, last);
  --its.pending;
  run_rounds(rank);
}

void CardSimulation::arrive(const Event& event) {
  if (options_.watch && ++arrived_ % 65536 == 0) options_.watch({"messages", arrived_, programs_.messages()});
  if (!model_.shares()) return take(event, event.at);
  const Time at = within_time(shares_.arrive(event.from, event.rank, programs_.bytes(event.message), event.at));
  if (at == event.at) return take(event, at);
  push_arrival(Event::Kind::through, at, event.rank, event.from, event.message);
}

// The receiver's port does.
void CardSimulation::take(const Event& event, Time now) {
  RankOfCard& its = state(event.rank);
  const LinkCost& cost = model_.cost(event.rank, event.from);
  const Time here = within_time(std::max(now, its.in_free) + cost.stretch(programs_.bytes(event.message)));
  const Arrived arrived{here, event.from, event.message};
  its.in_free = arrived.here + cost.gap;
  if (!posted_.take(event.rank, event.from, event.message.slot, its.round, its.next))
    return early_.keep(event.rank, arrived);
  receive(event.rank, arrived);
  run_rounds(event.rank);
}

void CardSimulation::receive(Rank rank, const Arrived& arrived) {
  RankOfCard& its = state(rank);
  const Time done = std::max(arrived.here, its.posted);
  its.clock = within_time(std::max(its.clock, done) + model_.cost(rank, arrived.from).overhead);
  --its.pending;
  if (is_late(programs_.bytes(arrived.message))) push(Event::Kind::received, done, arrived.from, rank, arrived.message);
}

void CardSimulation::check_all_met() const {
  for (Rank rank = 0; rank < static_cast<Rank>(states_.size()); ++rank) {
    const RankOfCard& its = states_[static_cast<std::size_t>(rank)];
    if (its.pending > 0) check_received(programs_, rank, its.round, its.next);
  }
  check_taken(early_);
}

}  // namespace

std::vector<Prediction> simulate_cards(SimulationInput input) { return CardSimulation(std::move(input)).run(); }

}  // namespace fab::sim
