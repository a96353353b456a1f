#include "core/job/runtime.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/base/processors.h"
#include "core/base/ticks.h"
#include "core/peers/settings.h"

namespace fab::core {

namespace {

/// Of the other ranks when one closes: how long where one is lost, and how often to look whether one is.
constexpr double kMeetingAfterLossS = 1;
constexpr double kMeetingStepS = 0.2;

// A thread of the program for each engine.
Engine::Options engine_options(const Config& config, const JobInfo& job) {
  const Processors processors = count_processors();
  const int callers = job.local_size * config.engines;
  return {.progress = config.progress,
          .progress_cpu = config.progress_cpu,
          .poll_us = config.poll_us,
          .caller_may_spin = processors.of_node >= callers,
          .thread_may_spin = processors.of_process > callers,
          .spinning_threads = std::min(processors.of_process, processors.of_node / callers)};
}

/// The timeout may be infinite.
Runtime::Clock::time_point later(Runtime::Clock::time_point now, double timeout_s) {
  const std::chrono::duration<double> most = Runtime::Clock::time_point::max() - now;
  return timeout_s >= most.count()
             ? Runtime::Clock::time_point::max()
             : now + std::chrono::duration_cast<Runtime::Clock::duration>(std::chrono::duration<double>(timeout_s));
}

bool needs_inbox(const Transports& transports) {
  return transports.network && transports.network->capabilities().early_messages_block;
}

}  // namespace

Runtime::Runtime(const Config& config, std::unique_ptr<Store> store, const TransportFactory& make,
                 std::function<Refusals::Courier&()> courier)
    : ForkParticipant(Order::first),
      config_(config),
      log_(config.log, store->job().rank),
      store_owner_(std::move(store)),
      store_(store_owner_.get()),
      transports_(make(config_, store_->job(), log_)),
      transports_time_(Clock::now() - begun_),
      transport_(transports_.description()),
      tags_(transports_.narrowest(), store_->job().size),
      recorder_(config_.trace_file.empty() ? nullptr : new Recorder(config_.trace_events)),
      engine_(engine_options(config_, store_->job()), log_, counters_),
      inbox_(needs_inbox(transports_) ? new Inbox(engine_, *transports_.network, tags_) : nullptr),
      peers_(engine_, *store_, transports_, inbox_.get(), shared_settings(config_)),
      discards_(engine_, tags_),
      notices_(engine_),
      losses_(config_, log_, store_->job(), transports_, engine_, peers_, notices_),
      refusals_(engine_, store_->job().rank, std::move(courier)),
      surplus_(new std::byte[kHeadBytes]) {
  engine_.set_recorder(recorder_.get());
  peers_.set_watcher(losses_);
  if (transports_.node) engine_.add(*transports_.node);
  if (transports_.network) engine_.add(*transports_.network, inbox_.get());
}

Runtime::~Runtime() = default;

std::shared_ptr<const NodeMap> Runtime::shared_nodes() {
  std::call_once(nodes_looked_up_, [this] { nodes_ = find_nodes(); });
  return nodes_;
}

std::shared_ptr<const NodeMap> Runtime::find_nodes() const {
  if (job().node_count < 2 || !config_.local) return nullptr;
  const std::vector<int> node_of = nodes();
  if (node_of.size() != static_cast<std::size_t>(job().size)) {
    log_.write(LogLevel::info,
               "the launcher does not tell which ranks share a node: collectives take no account of it");
    return nullptr;
  }
  auto map = std::make_shared<const NodeMap>(NodeMap::of(node_of));
  log_.write(LogLevel::debug, "the job's {} nodes have {} to {} ranks, {}", map->nodes(), map->smallest(),
             map->largest(), map->consecutive() ? "consecutive ones" : "not in order");
  return map->nodes() > 1 && map->largest() > 1 ? std::move(map) : nullptr;
}

void Runtime::begin() {
  measure_ticks();
  log_.write(LogLevel::info, "rank {} of {} ({}), {}", job().rank, job().size, job().origin, transport_);
  engine_lock.assert_held();  // no other thread is there yet
  peers_.publish(losses_.address());
  if (losses_.can_look()) engine_.set_lookout(&losses_);
  engine_.start_thread();
}

// The thread reads what the store tells of the job. Until providers are closed they write to the memory of receives
// that nothing has come for.
void Runtime::end() {
  engine_.stop_thread();
  write_trace();
  engine_.set_lookout(nullptr);
  store_owner_.reset();
  engine_lock.assert_held();  // no other thread is left
  losses_.close();
  counters_.set(Counter::strangers, strangers());
  if (const std::string counted = counters_.text(); !counted.empty())
    log_.write(LogLevel::info, "statistics: {}", counted);
  arrivals_.reset();
  transports_ = {};
}

// Strangers are counted where they are met.
const Counters& Runtime::counters() noexcept {
  const Lock lock(engine_);
  counters_.set(Counter::strangers, strangers());
  return counters_;
}

std::uint64_t Runtime::strangers() const noexcept {
  std::uint64_t count = transports_.network ? transports_.network->strangers() : 0;
  return inbox_ == nullptr ? count : count + inbox_->too_long();
}

Arrivals& Runtime::arrivals() {
  if (arrivals_ == nullptr) arrivals_ = std::make_unique<Arrivals>(*transports_.network);
  return *arrivals_;
}

void Runtime::poll_all() {
  for_each_engine([](Runtime& each) { each.engine_.poll_once(); });
}

bool Runtime::any_active() const noexcept {
  return engine_.active() > 0 ||
         std::ranges::any_of(further_, [](const auto& each) { return each->engine_.active() > 0; });
}

ContextId Runtime::new_context_id() {
  const Lock lock(engine_);
  if (next_number_ >= tags_.numbers())
    throw Error(Errc::no_resources, "this rank has made " + std::to_string(next_number_) +
                                        " communicators; message tags have no room for more");
  return {job().rank, next_number_++};
}

void Runtime::stop_listening() {
  for_each_engine([](Runtime& each) {
    const Lock lock(each.engine_);
    each.refusals_.stop_listening();
  });
}

bool Runtime::drain(double timeout_s, IdleHook idle) {
  const Clock::time_point end = later(Clock::now(), timeout_s);
  bool is_empty = true;
  for_each_engine([&](Runtime& each) { is_empty = each.drain_own(end, idle) && is_empty; });
  return is_empty;
}

bool Runtime::drain_own(Clock::time_point end, IdleHook idle) {
  auto last_asked = now();
  const auto is_over = [this] { return engine_.active() == 0; };
  Driver driver(engine_, idle, Driver::Attention::to_runs, Condition(is_over));
  while (engine_.active() > 0) {
    if (Clock::now() >= end) return false;
    if (driver.step()) continue;
    if (now() - last_asked >= Refusals::kAskAfter) {
      last_asked = now();
      const Lock lock(engine_);
      engine_.for_each_active([](Pending& pending) FAB_REQUIRES(engine_lock) { pending.stalled(); });
    }
    if (engine_.active() > 0) driver.rest();
  }
  return true;
}

void Runtime::leave_launcher() noexcept {
  for_each_engine([](Runtime& each) { each.store_->leave(); });
}

// Under the engine's lock everything that a child could touch is whole.
void Runtime::before_fork() noexcept {
  engine_.lock();
  ledger_.lock();
}

void Runtime::after_fork() noexcept {
  ledger_.unlock();
  engine_.unlock();
}

void Runtime::begin_abroad() noexcept {
  ledger_.unlock();
  closed_ = true;
  losses_.leave_to_parent();
  engine_.halt();
  kept_abroad_ = weak_from_this().lock();
  engine_.unlock();
}

bool Runtime::close(double timeout_s) {
  if (engine_.halted()) return false;
  bool was_closed = false;
  for_each_engine([&](Runtime& each) {
    const Lock lock(each.engine_);
    was_closed = std::exchange(each.closed_, true);
  });
  if (was_closed) return all_came_;
  stop_listening();
  if (!drain(timeout_s) && timeout_s > 0) {
    int unfinished = 0;
    for_each_engine([&](const Runtime& each) { unfinished += each.engine_.active(); });
    log_.write(LogLevel::warn, "close: {} requests are still unfinished after {} s", unfinished, timeout_s);
  }
  if (config_.stats) tell_statistics(kStatisticsKey);
  write_trace();
  meet_others(timeout_s);
  if (config_.stats) report_statistics(all_came_ ? timeout_s : std::min(timeout_s, kMeetingAfterLossS));
  for_each_engine([](Runtime& each) {
    const Lock lock(each.engine_);
    each.losses_.close();
  });
  return all_came_;
}

// If a rank is lost not all will come, and no rank needs them to: those that do are given a moment, so that what this
// rank has sent them arrives.
void Runtime::meet_others(double timeout_s) {
  const auto start = std::chrono::steady_clock::now();
  const auto passed = [start](double seconds) {
    return std::chrono::steady_clock::now() - start >= std::chrono::duration<double>(seconds);
  };
  try {
    const auto is_over = [&] { return passed(timeout_s) || (lost_any() && passed(kMeetingAfterLossS)); };
    do {
      all_came_ = store_->fence(std::min(timeout_s, kMeetingStepS), [this] { poll_all(); });
    } while (!all_came_ && !is_over());
    if (!all_came_ && timeout_s > 0)
      log_.write(lost_any() ? LogLevel::info : LogLevel::warn, "close: not all ranks have closed within {} s",
                 lost_any() ? std::min(kMeetingAfterLossS, timeout_s) : timeout_s);
  } catch (const Error& error) {
    log_.write(LogLevel::warn, "close: does not wait for the other ranks: {}", error.what());
  }
}

bool Runtime::lost_any() {
  bool any = false;
  for_each_engine([&any](Runtime& each) {
    const Lock lock(each.engine_);
    any = any || each.losses_.any();
  });
  return any;
}

}  // namespace fab::core
