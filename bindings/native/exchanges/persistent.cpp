// PersistentExchange: starts an exchange again and again, and waits for it, or for the blocks of some sources.
#include "fab/persistent.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "bindings/native/base/raise.h"
#include "core/communicator/persistent.h"
#include "core/progress/engine.h"
#include "core/run/wait.h"
#include "core/run/watch.h"

namespace fab {

namespace {

/// A caller that starts something and returns, perhaps by an exception, does so after the lock.
class Leaving {
 public:
  explicit Leaving(core::Engine& engine) noexcept : engine_(engine) {}
  ~Leaving() { engine_.hand_over_progress(); }
  Leaving(const Leaving&) = delete;
  Leaving& operator=(const Leaving&) = delete;

 private:
  core::Engine& engine_;
};

}  // namespace

PersistentExchange::PersistentExchange() noexcept = default;
PersistentExchange::PersistentExchange(core::Persistent exchange, std::span<const Edge> sources)
    : exchange_(std::make_unique<core::Persistent>(std::move(exchange))), arrivals_(exchange_->arrivals(sources)) {}
PersistentExchange::PersistentExchange(PersistentExchange&& other) noexcept = default;

PersistentExchange& PersistentExchange::operator=(PersistentExchange&& other) noexcept {
  if (this == &other) return *this;
  if (active()) exchange_->give_up_missing_parts();
  static_cast<void>(wait_status());
  exchange_ = std::move(other.exchange_);
  arrivals_ = std::move(other.arrivals_);
  return *this;
}

PersistentExchange::~PersistentExchange() {
  if (active()) exchange_->give_up_missing_parts();
  static_cast<void>(wait_status());
}

void PersistentExchange::start() {
  if (exchange_ == nullptr)
    throw Error(Errc::invalid_argument,
                "PersistentExchange::start: the object holds no exchange; persistent() of an operation makes one");
  start_these({this, 1});
}

bool PersistentExchange::active() const noexcept { return exchange_ != nullptr && exchange_->active(); }

Status PersistentExchange::end() {
  exchange_->end();
  return exchange_->run().status();
}

Status PersistentExchange::wait_status() {
  if (!active()) return {};
  core::finish(exchange_->run());
  return exchange_->run().done() ? end() : core::ended_by_fork();
}

void PersistentExchange::wait() { raise(wait_status()); }

Status PersistentExchange::try_start() {
  return attempt([this] { start(); });
}

Result<bool> PersistentExchange::ended() {
  Status status = end();
  if (status.ok()) return true;
  return status;
}

Result<bool> PersistentExchange::try_wait_until(std::chrono::steady_clock::time_point time) {
  if (!active()) return true;
  if (!core::wait_until(exchange_->run(), time)) return false;
  return ended();
}

bool PersistentExchange::wait_until(std::chrono::steady_clock::time_point time) { return try_wait_until(time).value(); }

Result<bool> PersistentExchange::try_test() {
  if (!active()) return true;
  if (!core::test(exchange_->run())) return false;
  return ended();
}

bool PersistentExchange::test() {
  if (!active()) return true;
  if (!core::test(exchange_->run())) return false;
  raise(end());
  return true;
}

void PersistentExchange::check_sources(std::span<const std::size_t> sources, const char* call) const {
  if (sources.empty())
    throw Error(Errc::invalid_argument, fmt::format("PersistentExchange::{}: the list of sources is empty", call));
  for (const std::size_t source : sources)
    if (source >= arrivals_.size())
      throw Error(Errc::invalid_argument,
                  fmt::format("PersistentExchange::{}: source is {}; the exchange has {} sources", call, source,
                              arrivals_.size()));
}

void PersistentExchange::wait_source(std::size_t source) {
  check_sources({&source, 1}, "wait_source");
  if (active()) raise(core::wait_any(exchange_->run(), arrivals_, {&source, 1}).status);
}

std::size_t PersistentExchange::wait_any_source(std::span<const std::size_t> sources) {
  check_sources(sources, "wait_any_source");
  if (!active()) return 0;
  const core::Arrived arrived = core::wait_any(exchange_->run(), arrivals_, sources);
  raise(arrived.status);
  return arrived.position;
}

bool PersistentExchange::wait_source_until(std::size_t source, std::chrono::steady_clock::time_point time) {
  check_sources({&source, 1}, "wait_source_until");
  return arrived_until({&source, 1}, time).has_value();
}

std::optional<std::size_t> PersistentExchange::wait_any_source_until(std::span<const std::size_t> sources,
                                                                     std::chrono::steady_clock::time_point time) {
  check_sources(sources, "wait_any_source_until");
  return arrived_until(sources, time);
}

std::optional<std::size_t> PersistentExchange::arrived_until(std::span<const std::size_t> sources,
                                                             std::chrono::steady_clock::time_point time) {
  if (!active()) return 0;
  const std::optional<core::Arrived> arrived = core::wait_any_until(exchange_->run(), arrivals_, sources, time);
  if (!arrived) return std::nullopt;
  raise(arrived->status);
  return arrived->position;
}

bool PersistentExchange::test_source(std::size_t source) {
  check_sources({&source, 1}, "test_source");
  if (!active()) return true;
  core::Engine& engine = exchange_->engine();
  engine.poll_once();
  if (!exchange_->run().done()) core::watch_tested(exchange_->run());
  std::optional<core::Arrived> arrived;
  {
    const core::Lock lock(engine);
    arrived = core::find_arrived(exchange_->run(), arrivals_, {&source, 1});
  }
  if (!arrived) {
    core::watch_tested(exchange_->run());
    return false;
  }
  raise(arrived->status);
  return true;
}

void PersistentExchange::start_all(std::span<PersistentExchange> exchanges) {
  for (std::size_t i = 0; i < exchanges.size(); ++i)
    if (exchanges[i].exchange_ == nullptr || exchanges[i].active())
      throw Error(Errc::invalid_argument,
                  fmt::format("PersistentExchange::start_all: exchanges[{}] {}", i,
                              exchanges[i].active() ? "was started already, and is not complete"
                                                    : "holds no exchange; persistent() of an operation makes one"));
  start_these(exchanges);
}

void PersistentExchange::start_these(std::span<PersistentExchange> exchanges) {
  for (auto next = exchanges.begin(); next != exchanges.end();) {
    core::Engine& engine = next->exchange_->engine();
    const Leaving leaving(engine);
    const core::Lock lock(engine);
    do next->exchange_->start();
    while (++next != exchanges.end() && &next->exchange_->engine() == &engine);
  }
}

bool PersistentExchange::wait_all_until(std::span<PersistentExchange> exchanges,
                                        std::chrono::steady_clock::time_point time) {
  const auto ends_in_time = [time](PersistentExchange& each) {
    return !each.active() || core::wait_until(each.exchange_->run(), time);
  };
  if (!std::ranges::all_of(exchanges, ends_in_time)) return false;
  wait_all(exchanges);
  return true;
}

void PersistentExchange::wait_all(std::span<PersistentExchange> exchanges) {
  Status first;
  for (PersistentExchange& exchange : exchanges) {
    Status status = exchange.wait_status();
    if (first.ok()) first = std::move(status);
  }
  raise(first);
}

}  // namespace fab
