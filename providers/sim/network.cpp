// Virtual time and polls of the simulated network. posts.cpp, messages.cpp and endings.cpp have the rest.
#include "providers/sim/network.h"

#include <fmt/core.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>

namespace fab::sim {

namespace {

constexpr Time kPollTime = std::chrono::microseconds(1);  ///< of a rank that holds messages up
constexpr int kMostIdlePolls = 10'000;                    ///< it will not take them any more

}  // namespace

Network::Network(int ranks, Options options)
    : options_(std::move(options)),
      random_(options_.seed),
      ports_(static_cast<std::size_t>(std::max(ranks, 0))),
      shares_(options_.model, std::max(ranks, 1)),
      last_number_(options_.model.shares() ? kOtherOrders : 0) {
  if (options_.model.processors_pay())
    throw Error(Errc::invalid_argument,
                "sim::Network: processors pay G in this model; jobs know only cards that do, sim::predict knows both");
  for (const Death& death : options_.deaths) {
    if (death.rank < 0 || death.rank >= ranks)
      throw Error(Errc::invalid_argument, fmt::format("sim::Network: death of rank {} of {}", death.rank, ranks));
    port(death.rank).dies_after_messages = death.after_messages;
    if (death.at != Time::max()) push(death.at, Event::Kind::death, death.rank);
  }
  if (!self_driven()) return;
  for (Port& each : ports_) each.wait_fd = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (std::ranges::any_of(ports_, [](const Port& each) { return each.wait_fd < 0; })) {
    for (const Port& each : ports_)
      if (each.wait_fd >= 0) ::close(each.wait_fd);
    throw Error(Errc::no_resources, fmt::format("sim::Network: no descriptors for {} ranks", ranks));
  }
}

Network::~Network() {
  for (const Port& each : ports_)
    if (each.wait_fd >= 0) ::close(each.wait_fd);
}

void Network::push(Time at, Event::Kind kind, Rank rank, std::uint64_t number) {
  events_.push({at, ++last_number_, kind, rank, number});
}

void Network::push_arrival(Time at, Event::Kind kind, Rank from, Rank to, std::uint64_t number) {
  if (!options_.model.shares()) return push(at, kind, to, number);
  events_.push({at, arrival_order(from, ++last_number_), kind, to, number});
}

std::optional<Network::Event> Network::pop() {
  if (events_.empty()) return std::nullopt;
  const Event event = events_.top();
  events_.pop();
  now_ = std::max(now_, event.at);
  return event;
}

void Network::handle(const Event& event) {
  switch (event.kind) {
    case Event::Kind::message:
    case Event::Kind::message_through:
      return message_arrives(event);
    case Event::Kind::write:
    case Event::Kind::write_through:
      return write_arrives(event);
    case Event::Kind::leave:
      return leave(event.rank);
    case Event::Kind::wake:
    case Event::Kind::call:
      return;
    case Event::Kind::death:
      return die(event.rank);
    case Event::Kind::news_of_death:
      return tell_of_death(event.rank);
  }
}

bool Network::has_work(const Port& its) const noexcept {
  return its.refused || (!its.notices.empty() && its.notices.begin()->first <= now_);
}

std::optional<Rank> Network::advance() {
  const std::lock_guard lock(mutex_);
  while (const std::optional<Event> event = pop()) {
    handle(*event);
    Port& its = port(event->rank);
    if (event->kind != Event::Kind::call && (event->kind != Event::Kind::wake || !has_work(its))) continue;
    if (its.clock <= now_) {
      its.clock = now_;
      return event->rank;
    }
    push(its.clock, event->kind, event->rank);
  }
  return std::nullopt;
}

void Network::call(Rank rank, Time at) {
  const std::lock_guard lock(mutex_);
  push(std::max(at, now_), Event::Kind::call, rank);
}

Time Network::now() const {
  const std::lock_guard lock(mutex_);
  return now_;
}

Time Network::clock(Rank rank) const {
  const std::lock_guard lock(mutex_);
  return port(rank).clock;
}

Time Network::meet() {
  const std::lock_guard lock(mutex_);
  for (const Port& each : ports_) now_ = std::max(now_, each.clock);
  for (Port& each : ports_) each.clock = now_;
  return now_;
}

Time Network::delay() {
  if (options_.longest_delay == Time{}) return {};
  return Time(static_cast<std::int64_t>(random_() % (static_cast<std::uint64_t>(options_.longest_delay.count()) + 1)));
}

void Network::ring(const Port& its) const noexcept {
  if (its.wait_fd < 0) return;
  const std::uint64_t one = 1;
  // Only a full counter can refuse the write, and then the descriptor is readable already.
  [[maybe_unused]] const auto written = ::write(its.wait_fd, &one, sizeof(one));
}

void Network::notify(Rank rank, Time at, Notice notice) {
  Port& its = port(rank);
  at = std::max(at, now_);
  its.notices.emplace(at, std::move(notice));
  push(at, Event::Kind::wake, rank);
  ring(its);
}

void Network::violated(Rank rank, const std::string& what) {
  violations_.push_back(fmt::format("rank {}: {}", rank, what));
}

// A processor that is busy is told what comes meanwhile, so that notices keep their order.
std::optional<Notice> Network::next_notice(Rank rank) {
  const std::lock_guard lock(mutex_);
  Port& its = port(rank);
  std::optional<Notice> notice = its.take_notice(self_driven() ? now_ : its.clock);
  if (notice) its.clock += notice->overhead;
  return notice;
}

std::size_t Network::poll(Rank rank) {
  {
    const std::lock_guard lock(mutex_);
    Port& its = port(rank);
    its.refused = false;
    its.clock = std::max(its.clock, now_);
    if (self_driven() && !has_work(its))
      if (const std::optional<Event> event = pop()) handle(*event);
    if (!self_driven() && blocking() && !its.waiting.empty() && ++its.idle_polls < kMostIdlePolls)
      push(its.clock + kPollTime, Event::Kind::call, rank);
  }
  std::size_t count = 0;
  for (; const std::optional<Notice> notice = next_notice(rank); ++count) {
    if (notice->completion == nullptr)
      port(rank).listener->written(notice->data);
    else if (notice->failure.ok())
      notice->completion->done(notice->bytes, notice->tag);
    else
      notice->completion->fail(notice->failure);
  }
  return count;
}

bool Network::may_sleep(Rank rank) {
  const std::lock_guard lock(mutex_);
  Port& its = port(rank);
  if (!events_.empty() || !its.notices.empty()) return false;
  std::uint64_t rings = 0;
  [[maybe_unused]] const auto bytes = ::read(its.wait_fd, &rings, sizeof(rings));  // perhaps none
  return true;
}

std::size_t Network::left_over() const {
  const std::lock_guard lock(mutex_);
  std::size_t count = messages_.size() + writes_.size();
  for (const Port& each : ports_) count += each.receives.size() + each.waiting.size() + each.notices.size();
  return count;
}

Traffic Network::sent(Rank rank) const {
  const std::lock_guard lock(mutex_);
  return port(rank).sent;
}

Traffic Network::received(Rank rank) const {
  const std::lock_guard lock(mutex_);
  return port(rank).received;
}

std::uint64_t Network::messages() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t count = 0;
  for (const Port& each : ports_) count += each.sent.messages;
  return count;
}

std::uint64_t Network::refusals() const {
  const std::lock_guard lock(mutex_);
  return refusals_;
}

std::uint64_t Network::lost() const {
  const std::lock_guard lock(mutex_);
  return lost_;
}

std::vector<std::string> Network::violations() const {
  const std::lock_guard lock(mutex_);
  return violations_;
}

}  // namespace fab::sim
