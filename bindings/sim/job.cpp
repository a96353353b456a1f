#include "bindings/sim/job.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "core/progress/driver.h"

namespace fab::sim {

namespace {

Traffic operator-(const Traffic& a, const Traffic& b) {
  return {a.messages - b.messages, a.writes - b.writes, a.bytes - b.bytes};
}

Options without_threads(Options options) {
  options.capabilities.wait_fd = false;
  return options;
}

}  // namespace

Time duration(std::span<const Outcome> outcomes) {
  if (outcomes.empty()) return {};
  const auto first = std::ranges::min_element(outcomes, {}, &Outcome::begin);
  const auto last = std::ranges::max_element(outcomes, {}, &Outcome::end);
  return last->end - first->begin;
}

std::string failures(std::span<const Outcome> outcomes) {
  constexpr int kMost = 5;
  std::string text;
  int count = 0;
  for (const Outcome& outcome : outcomes)
    if (!outcome.ok() && ++count <= kMost) text += fmt::format("rank {}: {}\n", outcome.rank, outcome.status.message);
  return count <= kMost ? text : text + fmt::format("and {} more\n", count - kMost);
}

Config Job::default_config() {
  Config config = read_config([](const std::string&) { return std::nullopt; });
  config.progress = ProgressMode::caller;
  return config;
}

Job::Job(int ranks, const Options& options, const Config& config)
    : Job(std::vector<Config>(static_cast<std::size_t>(ranks), config), options) {}

Job::Job(std::span<const Config> configs, const Options& options)
    : network_(static_cast<int>(configs.size()), without_threads(options)),
      random_(options.seed),
      ranks_(configs.size()) {
  std::vector<int> nodes(configs.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i] = static_cast<int>(i) / options.model.ranks_per_node;
  std::vector<std::unique_ptr<Store>> stores = open_memory_stores(size(), std::move(nodes));
  for (std::size_t i = 0; i < configs.size(); ++i) {
    contexts_.push_back(
        core::Context::open(configs[i], std::move(stores[i]), [this](const Config&, const JobInfo& job, const Log&) {
          return Transports{.node = nullptr, .network = network_.open(job.rank)};
        }));
    world_.push_back(core::Communicator::world(contexts_.back()));
  }
}

Job::~Job() {
  network_.kill_all();
  while (const std::optional<Rank> rank = network_.advance()) drive(*rank);
}

Job::Communicators Job::communicators(const std::function<std::optional<Topology>(Rank)>& topology) {
  const core::ContextId id = contexts_.front()->new_context_id();
  Communicators result;
  for (Rank rank = 0; rank < size(); ++rank) {
    result.push_back(std::make_shared<core::Communicator>(contexts_[static_cast<std::size_t>(rank)],
                                                          core::Group::range(0, size()), rank, id));
    if (!topology) continue;
    if (std::optional<Topology> its = topology(rank)) result.back()->set_topology(std::move(*its));
  }
  return result;
}

void Job::add(Rank rank, Operation operation) {
  RankState& state = ranks_.at(static_cast<std::size_t>(rank));
  operation.outcome.rank = rank;
  const auto longest = static_cast<std::uint64_t>(network_.options().longest_delay.count());
  state.last_start = std::max(state.last_start, network_.now()) + Time(random_() % (longest + 1));
  operation.not_before = state.last_start;
  network_.call(rank, state.last_start);
  state.to_start.push_back(operations_.size());
  operations_.push_back(std::move(operation));
}

void Job::start(std::shared_ptr<core::Communicator> communicator, Start start, Pace pace) {
  const Rank rank = communicator->context().job().rank;
  Operation operation;
  operation.pace = pace;
  operation.start = [its = std::move(communicator), start = std::move(start)]() -> core::Run& {
    const core::Lock lock(its->engine());
    return start(*its);
  };
  operation.let_go = [](core::Run& run) FAB_REQUIRES(core::engine_lock) { run.let_go(); };
  add(rank, std::move(operation));
}

void Job::start(Rank rank, core::Persistent& exchange, Pace pace) {
  Operation operation;
  operation.pace = pace;
  operation.start = [&exchange]() -> core::Run& {
    const core::Lock lock(exchange.engine());
    exchange.start();
    return exchange.run();
  };
  operation.let_go = [&exchange](core::Run&) { exchange.end(); };
  add(rank, std::move(operation));
}

std::vector<Outcome> Job::run(const Communicators& communicators, const Start& start) {
  network_.meet();
  for (const auto& communicator : communicators) this->start(communicator, start);
  return finish();
}

std::vector<Outcome> Job::finish() {
  drive_all();
  give_up_stuck();
  std::vector<Outcome> outcomes;
  outcomes.reserve(operations_.size());
  for (Operation& operation : operations_) outcomes.push_back(std::move(operation.outcome));
  operations_.clear();
  if (const auto violations = network_.violations(); !violations.empty()) throw std::logic_error(violations.front());
  return outcomes;
}

void Job::drive_all() {
  while (const std::optional<Rank> rank = network_.advance()) drive(*rank);
}

void Job::drive(Rank rank) {
  do {
    while (start_next(rank)) {
    }
    core::Driver driver(context(rank).engine());
    while (driver.step()) {
    }
  } while (end_some(rank) && start_next(rank));
}

bool Job::start_next(Rank rank) {
  RankState& state = ranks_[static_cast<std::size_t>(rank)];
  if (state.to_start.empty()) return false;
  Operation& operation = operations_[state.to_start.front()];
  if (operation.not_before > network_.clock(rank)) return false;
  if (operation.pace == Pace::when_idle && !state.active.empty()) return false;
  operation.outcome.begin = network_.clock(rank);
  operation.outcome.sent = network_.sent(rank);
  operation.outcome.received = network_.received(rank);
  try {
    operation.run = &operation.start();
    state.active.push_back(state.to_start.front());
  } catch (const Error& error) {
    operation.outcome.status = {error.code(), error.what()};
    end(operation);
  }
  state.to_start.pop_front();
  return true;
}

bool Job::end_some(Rank rank) {
  RankState& state = ranks_[static_cast<std::size_t>(rank)];
  const auto ended = std::erase_if(state.active, [&](std::size_t index) {
    Operation& operation = operations_[index];
    if (!operation.run->done()) return false;
    const core::Lock lock(context(rank).engine());
    operation.outcome.status = operation.run->status();
    operation.let_go(*operation.run);
    end(operation);
    return true;
  });
  return ended > 0;
}

void Job::end(Operation& operation) {
  Outcome& outcome = operation.outcome;
  outcome.ended = true;
  outcome.end = network_.clock(outcome.rank);
  outcome.sent = network_.sent(outcome.rank) - outcome.sent;
  outcome.received = network_.received(outcome.rank) - outcome.received;
}

// They end as a wait would with FAB_WAIT_TIMEOUT. Those behind them have never begun.
void Job::give_up_stuck() {
  for (Rank rank = 0; rank < size(); ++rank) {
    RankState& state = ranks_[static_cast<std::size_t>(rank)];
    while (!state.active.empty() || !state.to_start.empty()) {
      for (const std::size_t index : state.active) {
        Operation& operation = operations_[index];
        const core::Lock lock(context(rank).engine());
        operation.outcome.status = {make_error_code(Errc::timed_out), operation.run->describe_pending()};
        operation.run->abandon(operation.outcome.status);
        operation.let_go(*operation.run);
        end(operation);
        operation.outcome.ended = false;
      }
      state.active.clear();
      drive(rank);
      drive_all();
    }
  }
}

}  // namespace fab::sim
