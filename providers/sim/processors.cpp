// Simulates programs if processors pay LogGP's gap G for each byte of a message, by the rules of LogGOPSim
// (Hoefler, Schneider, Lumsdaine: LogGOPSim, LSAP 2010). Each send, receive and piece of work of a rank is an event of
// its own, which waits until what it needs is free.
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <queue>

#include "providers/sim/acts.h"
#include "providers/sim/meeting.h"
#include "providers/sim/simulation.h"

namespace fab::sim {

namespace {

struct RankState {
  std::uint64_t round = 0;  ///< its first step
  std::uint64_t next = 0;   ///< the first step of the next round
  std::uint64_t pending = 0;
  Time processor{};  ///< is free from then on
  Time out_free{};
  Time in_free{};
  std::optional<When> wake{};  ///< the one that counts
  std::unique_ptr<Waiting> waiting{};
  bool posted = false;  ///< the receives of the round
};

class Simulation : SimulatedRanks<RankState, Act> {
 public:
  explicit Simulation(SimulationInput input) : SimulatedRanks(std::move(input)) {}

  std::vector<Prediction> run();

 private:
  void push(Time at, Act::Kind kind, Rank rank, const Step& step = {}, Rank from = 0) {
    events_.push({within_time(at), ++last_order_, rank, from, step, kind});
  }

  [[nodiscard]] Need need(const Act& event) const;
  [[nodiscard]] static Time free_from(const RankState& its, Need need);
  void wait(const Act& event, Need need);
  void plan_wake(Rank rank, Time now);
  void wake(const Act& event);
  void carry_out(const Act& event, Time now);

  void begin_round(Rank rank);
  void end_one(Rank rank);
  void post_receives(Rank rank, Time now);
  void send(const Act& event, Time now);
  void arrive(const Act& event, Time now);
  void meet(const Act& event, Time now);
  void release(Rank sender, Time now);
  void check_all_met() const;

  PostedReceives posted_{programs_};
  EarlyMessages early_;
};

std::vector<Prediction> Simulation::run() {
  for (Rank rank = 0; rank < static_cast<Rank>(states_.size()); ++rank) {
    state(rank).next = programs_.begin(rank);
    if (state(rank).next != programs_.end(rank)) begin_round(rank);
  }
  while (!events_.empty()) {
    const Act event = events_.top();
    events_.pop();
    if (event.kind == Act::Kind::wake) {
      wake(event);
      continue;
    }
    const Need needed = need(event);
    if (free_from(state(event.rank), needed) <= event.at)
      carry_out(event, event.at);
    else
      wait(event, needed);
  }
  check_all_met();
  for (std::size_t rank = 0; rank < states_.size(); ++rank) predictions_[rank].end = states_[rank].processor;
  return std::move(predictions_);
}

Need Simulation::need(const Act& event) const {
  switch (event.kind) {
    case Act::Kind::round:
    case Act::Kind::work:
    case Act::Kind::taken:
      return Need::processor;
    case Act::Kind::send:
      return Need::processor_and_way_out;
    case Act::Kind::message:
      return model_.cost(event.from, event.rank).receiver_pays == Payer::processor ? Need::processor_and_way_in
                                                                                   : Need::way_in;
    case Act::Kind::receives:
    case Act::Kind::wake:
      break;
  }
  return Need::nothing;
}

Time Simulation::free_from(const RankState& its, Need need) {
  switch (need) {
    case Need::nothing:
      break;
    case Need::processor:
      return its.processor;
    case Need::processor_and_way_out:
      return std::max(its.processor, its.out_free);
    case Need::processor_and_way_in:
      return std::max(its.processor, its.in_free);
    case Need::way_in:
      return its.in_free;
  }
  return {};
}

void Simulation::wait(const Act& event, Need need) {
  RankState& its = state(event.rank);
  if (!its.waiting) its.waiting = std::make_unique<Waiting>();
  its.waiting->of.at(static_cast<std::size_t>(need)).push(event);
  plan_wake(event.rank, event.at);
}

// What was made first goes first among all that may go at a time.
void Simulation::plan_wake(Rank rank, Time now) {
  RankState& its = state(rank);
  std::optional<When> first = its.wake;
  for (std::size_t need = 0; need < kNeeds; ++need) {
    const auto& queue = its.waiting->of.at(need);
    if (queue.empty()) continue;
    const When when{std::max(now, free_from(its, static_cast<Need>(need))), queue.top().order};
    if (!first || when < *first) first = when;
  }
  if (first == its.wake) return;
  its.wake = first;
  events_.push({first->at, first->order, rank, 0, {}, Act::Kind::wake});
}

// Others may have come first since the wake was planned.
void Simulation::wake(const Act& event) {
  RankState& its = state(event.rank);
  if (its.wake != When{event.at, event.order}) return;
  its.wake.reset();
  auto* first = static_cast<decltype(its.waiting->of.data())>(nullptr);
  for (std::size_t need = 0; need < kNeeds; ++need) {
    auto& queue = its.waiting->of.at(need);
    if (queue.empty() || free_from(its, static_cast<Need>(need)) > event.at) continue;
    if (first == nullptr || queue.top().order < first->top().order) first = &queue;
  }
  if (first != nullptr) {
    const Act next = first->top();
    first->pop();
    carry_out(next, event.at);
  }
  plan_wake(event.rank, event.at);
}

void Simulation::carry_out(const Act& event, Time now) {
  RankState& its = state(event.rank);
  switch (event.kind) {
    case Act::Kind::round:
      return begin_round(event.rank);
    case Act::Kind::send:
      return send(event, now);
    case Act::Kind::receives:
      return post_receives(event.rank, now);
    case Act::Kind::work:
      its.processor = within_time(now + model_.work(programs_.bytes(event.step)));
      return end_one(event.rank);
    case Act::Kind::message:
      return arrive(event, now);
    case Act::Kind::taken:
      its.processor = now + model_.cost(event.from, event.rank).overhead;
      return meet(event, now);
    case Act::Kind::wake:
      break;
  }
}

// Sends are asked for first, then receives, then work.
void Simulation::begin_round(Rank rank) {
  RankState& its = state(rank);
  its.round = its.next;
  its.next = programs_.end_of_round(its.round) + 1;
  its.pending = its.next - 1 - its.round;
  its.posted = false;
  bool receives = false;
  for (std::uint64_t index = its.round; index + 1 < its.next; ++index) {
    const Step& step = programs_.step(index);
    receives = receives || step.kind == Step::Kind::recv;
    if (step.kind == Step::Kind::send) push(std::max(its.processor, its.out_free), Act::Kind::send, rank, step);
  }
  if (receives) push(its.processor, Act::Kind::receives, rank);
  for (std::uint64_t index = its.round; index + 1 < its.next; ++index)
    if (const Step& step = programs_.step(index); step.kind == Step::Kind::work)
      push(its.processor, Act::Kind::work, rank, step);
}

// A round of several begins the next one when the processor comes to it; the only operation of one does so by itself.
void Simulation::end_one(Rank rank) {
  RankState& its = state(rank);
  if (--its.pending > 0 || its.next == programs_.end(rank)) return;
  if (its.next - 1 - its.round == 1)
    begin_round(rank);
  else
    push(its.processor, Act::Kind::round, rank);
}

void Simulation::post_receives(Rank rank, Time now) {
  RankState& its = state(rank);
  its.posted = true;
  std::uint64_t met = 0;
  for (std::uint64_t index = its.round; index + 1 < its.next; ++index) {
    const Step step = programs_.step(index);
    if (step.kind != Step::Kind::recv) continue;
    if (const auto arrived = early_.take(rank, step.peer, step.slot)) {
      programs_.set_received(index);
      ++met;
      if (is_late(programs_.bytes(arrived->message))) release(step.peer, now);
    } else {
      posted_.post(rank, index, its.round, its.next);
    }
  }
  for (; met > 0; --met) end_one(rank);
}

void Simulation::send(const Act& event, Time now) {
  RankState& its = state(event.rank);
  const LinkCost& cost = model_.cost(event.rank, event.step.peer);
  const std::uint64_t bytes = programs_.bytes(event.step);
  const Time stretch = cost.stretch(bytes);
  its.processor = within_time(now + cost.overhead + (cost.sender_pays == Payer::processor ? stretch : Time{}));
  its.out_free = within_time(now + cost.gap + stretch);
  push(now + cost.overhead + cost.latency, Act::Kind::message, event.step.peer, event.step, event.rank);
  Prediction& prediction = predictions_[static_cast<std::size_t>(event.rank)];
  ++prediction.messages;
  prediction.bytes += bytes;
  if (!is_late(bytes)) end_one(event.rank);
}

void Simulation::arrive(const Act& event, Time now) {
  if (options_.watch && ++arrived_ % 65536 == 0) options_.watch({"messages", arrived_, programs_.messages()});
  RankState& its = state(event.rank);
  const LinkCost& cost = model_.cost(event.from, event.rank);
  const Time stretch = cost.stretch(programs_.bytes(event.step));
  its.in_free = within_time(now + cost.gap + stretch);
  if (cost.receiver_pays == Payer::card)
    return push(now + stretch, Act::Kind::taken, event.rank, event.step, event.from);
  its.processor = within_time(now + cost.overhead + stretch);
  meet(event, now);
}

void Simulation::meet(const Act& event, Time now) {
  RankState& its = state(event.rank);
  if (!its.posted || !posted_.take(event.rank, event.from, event.step.slot, its.round, its.next))
    return early_.keep(event.rank, {now, event.from, event.step});
  if (is_late(programs_.bytes(event.step))) release(event.from, now);
  end_one(event.rank);
}

void Simulation::release(Rank sender, Time now) {
  RankState& its = state(sender);
  its.processor = std::max(its.processor, now);
  its.out_free = std::max(its.out_free, now);
  end_one(sender);
}

void Simulation::check_all_met() const {
  for (Rank rank = 0; rank < static_cast<Rank>(states_.size()); ++rank) {
    const RankState& its = states_[static_cast<std::size_t>(rank)];
    if (its.pending > 0) check_received(programs_, rank, its.round, its.next);
  }
  check_taken(early_);
}

}  // namespace

std::vector<Prediction> simulate_processors(SimulationInput input) { return Simulation(std::move(input)).run(); }

}  // namespace fab::sim
