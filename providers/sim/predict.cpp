#include "providers/sim/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <queue>
#include <tuple>
#include <unordered_map>

#include "fab/error.h"
#include "providers/sim/program.h"

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

/// The first byte of a message arrives; or, from nobody, a send of the rank's has been received.
struct Event {
  static constexpr Rank kNobody = -1;

  Time at;
  std::uint64_t order;
  Rank rank;
  Rank from;
  Step message;

  bool operator>(const Event& other) const noexcept { return std::tie(at, order) > std::tie(other.at, other.order); }
};

/// A message that has arrived.
struct Arrived {
  Time here;
  Rank from;
  Step message;
};

/// One event a message (two if its send ends with its receive): what else a rank does follows from its own state.
class Simulation {
 public:
  Simulation(const Model& model, std::uint64_t inject_bytes, Programs programs, int ranks)
      : model_(model),
        inject_bytes_(inject_bytes),
        programs_(std::move(programs)),
        states_(static_cast<std::size_t>(ranks)),
        predictions_(static_cast<std::size_t>(ranks)) {}

  std::vector<Prediction> run();

 private:
  [[nodiscard]] RankState& state(Rank rank) { return states_[static_cast<std::size_t>(rank)]; }
  /// Of messages between two ranks with one slot; there are fewer than 2^28 ranks, for their states would not fit.
  [[nodiscard]] static std::uint64_t key_of(Rank to, Rank from, std::uint32_t slot) noexcept {
    return (static_cast<std::uint64_t>(to) << 28 | static_cast<std::uint64_t>(from)) << 8 | slot;
  }
  void push(Time at, Rank rank, Rank from, const Step& message) {
    events_.push({at, ++last_order_, rank, from, message});
  }

  void run_rounds(Rank rank);
  void post_round(Rank rank);
  void send(Rank rank, const Step& step);
  [[nodiscard]] bool is_late(std::uint64_t bytes) const noexcept {
    return bytes > model_.eager_bytes && bytes > inject_bytes_;
  }
  void arrive(const Event& event);
  [[nodiscard]] bool find_receive(const Event& event, std::uint64_t& index);
  [[nodiscard]] bool take_waiting(Rank rank, const Step& receive, Arrived& arrived);
  void receive(Rank rank, const Arrived& arrived);
  void check_all_met() const;

  const Model& model_;
  const std::uint64_t inject_bytes_;
  Programs programs_;
  std::vector<RankState> states_;
  std::vector<Prediction> predictions_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t last_order_ = 0;
  std::unordered_map<std::uint64_t, std::deque<Arrived>> waiting_;  ///< without a receive, by key
  std::vector<Arrived> matched_;                                    ///< by the receives of the round that is posted
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
  std::uint64_t index = its.round;
  for (; programs_.step(index).kind != Step::Kind::end_of_round; ++index) {
    const Step step = programs_.step(index);
    if (step.kind == Step::Kind::send) {
      send(rank, step);
    } else if (step.kind == Step::Kind::work) {
      its.clock += model_.work(programs_.bytes(step));
    } else {
      ++its.pending;
      if (Arrived arrived; take_waiting(rank, step, arrived)) {
        programs_.set_received(index);
        matched_.push_back(arrived);
      }
    }
  }
  its.next = index + 1;
  for (const Arrived& arrived : matched_) receive(rank, arrived);
}

void Simulation::send(Rank rank, const Step& step) {
  RankState& its = state(rank);
  const LinkCost& cost = model_.cost(rank, step.peer);
  const std::uint64_t bytes = programs_.bytes(step);
  its.clock += cost.overhead;
  const Time first = std::max(its.clock, its.out_free);
  const Time last = first + cost.stretch(bytes);
  its.out_free = last + cost.gap;
  if (is_late(bytes))
    ++its.pending;
  else if (bytes > inject_bytes_)
    its.sends_end = std::max(its.sends_end, last);
  push(first + cost.latency, step.peer, rank, step);
  Prediction& prediction = predictions_[static_cast<std::size_t>(rank)];
  ++prediction.messages;
  prediction.bytes += bytes;
}

void Simulation::arrive(const Event& event) {
  RankState& its = state(event.rank);
  const LinkCost& cost = model_.cost(event.rank, event.from);
  const Arrived arrived{std::max(event.at, its.in_free) + cost.stretch(programs_.bytes(event.message)), event.from,
                        event.message};
  its.in_free = arrived.here + cost.gap;
  std::uint64_t index = 0;
  if (!find_receive(event, index)) {
    waiting_[key_of(event.rank, event.from, event.message.slot)].push_back(arrived);
    return;
  }
  programs_.set_received(index);
  receive(event.rank, arrived);
  run_rounds(event.rank);
}

bool Simulation::find_receive(const Event& event, std::uint64_t& index) {
  const RankState& its = state(event.rank);
  for (index = its.round; index < its.next; ++index) {
    const Step& step = programs_.step(index);
    if (step.kind == Step::Kind::recv && step.peer == event.from && step.slot == event.message.slot) return true;
  }
  return false;
}

bool Simulation::take_waiting(Rank rank, const Step& receive, Arrived& arrived) {
  const auto found = waiting_.find(key_of(rank, receive.peer, receive.slot));
  if (found == waiting_.end()) return false;
  arrived = found->second.front();
  found->second.pop_front();
  if (found->second.empty()) waiting_.erase(found);
  return true;
}

void Simulation::receive(Rank rank, const Arrived& arrived) {
  RankState& its = state(rank);
  const Time done = std::max(arrived.here, its.posted);
  its.clock = std::max(its.clock, done) + model_.cost(rank, arrived.from).overhead;
  --its.pending;
  if (is_late(programs_.bytes(arrived.message))) push(done, arrived.from, Event::kNobody, arrived.message);
}

void Simulation::check_all_met() const {
  const auto fail = [](const std::string& what) { throw Error(Errc::invalid_schedule, "sim::predict: " + what); };
  for (Rank rank = 0; rank < static_cast<Rank>(states_.size()); ++rank) {
    const RankState& its = states_[static_cast<std::size_t>(rank)];
    for (std::uint64_t index = its.round; its.pending > 0 && index < its.next; ++index)
      if (const Step& step = programs_.step(index); step.kind == Step::Kind::recv)
        fail(fmt::format("rank {} waits for a message from rank {} (slot {}, {} B) that is never sent", rank, step.peer,
                         static_cast<unsigned>(step.slot), programs_.bytes(step)));
  }
  if (waiting_.empty()) return;
  const auto& [key, messages] = *waiting_.begin();
  fail(fmt::format("rank {} sends rank {} a message (slot {}) that is never received", messages.front().from, key >> 36,
                   static_cast<unsigned>(messages.front().message.slot)));
}

}  // namespace

std::vector<Prediction> predict(const Model& model, int ranks, const ScheduleOf& schedule_of,
                                std::uint64_t inject_bytes) {
  if (ranks < 1)
    throw Error(Errc::invalid_argument, fmt::format("sim::predict: {} ranks; at least 1 is needed", ranks));
  Programs programs(ranks);
  for (Rank rank = 0; rank < ranks; ++rank) programs.add(schedule_of(rank));
  return Simulation(model, inject_bytes, std::move(programs), ranks).run();
}

Time longest(std::span<const Prediction> predictions) {
  const auto last = std::ranges::max_element(predictions, {}, &Prediction::end);
  return last == predictions.end() ? Time{} : last->end;
}

}  // namespace fab::sim
