// Operations that end early: ranks fail, receives are cancelled.
#include <fmt/core.h>

#include <iterator>
#include <utility>

#include "providers/sim/network.h"

namespace fab::sim {

Status Network::gone(Rank rank) const {
  return {make_error_code(Errc::unreachable), fmt::format("rank {} is gone", rank)};
}

bool Network::fails_at_once(Rank rank, Rank peer, Completion& completion) {
  const Rank dead_rank = port(rank).dead ? rank : peer;
  if (!port(rank).dead && !port(peer).known_dead) return false;
  notify(rank, port(rank).clock, {.completion = &completion, .failure = gone(dead_rank)});
  return true;
}

template <class Choose>
void Network::drop_messages(Choose&& choose, const Status& failure) {
  const auto drop = [&](const Message& message) {
    if (!choose(message)) return false;
    if (message.late_completion != nullptr)
      notify(message.from, now_, {.completion = message.late_completion, .failure = failure});
    return true;
  };
  for (auto each = messages_.begin(); each != messages_.end();) {
    if (!drop(each->second)) {
      ++each;
      continue;
    }
    leave_lane(each->second);
    each = messages_.erase(each);
  }
  for (Port& each : ports_) std::erase_if(each.waiting, drop);
}

template <class Choose>
void Network::drop_writes(Choose&& choose, const Status& failure) {
  std::erase_if(writes_, [&](const auto& entry) {
    const Write& write = entry.second;
    if (!choose(write)) return false;
    notify(write.from, now_, {.completion = write.completion, .failure = failure});
    return true;
  });
}

template <class Choose>
void Network::drop_receives(Rank rank, Choose&& choose, const Status& failure) {
  std::erase_if(port(rank).receives, [&](const Receive& receive) {
    if (!choose(receive)) return false;
    notify(rank, now_, {.completion = receive.completion, .failure = failure});
    return true;
  });
}

void Network::die(Rank rank) {
  Port& its = port(rank);
  if (its.dead) return;
  its.dead = true;
  const auto unsent = [&](const Message& message) {
    return message.from == rank && message.late_completion != nullptr;
  };
  drop_messages(unsent, gone(rank));
  drop_writes([rank](const Write& write) { return write.from == rank; }, gone(rank));
  drop_receives(
      rank, [](const Receive&) { return true; }, gone(rank));
  its.exposed.clear();
  push(now_ + options_.notice_after, Event::Kind::news_of_death, rank);
}

// What it has sent before may still arrive, and then finds its receive gone.
void Network::tell_of_death(Rank rank) {
  const Status status = gone(rank);
  port(rank).known_dead = true;
  drop_messages([rank](const Message& message) { return message.to == rank; }, status);
  drop_writes([rank](const Write& write) { return write.to == rank; }, status);
  for (Rank other = 0; other < size(); ++other)
    drop_receives(
        other, [rank](const Receive& receive) { return receive.from == rank && !receive.takes_anything(); }, status);
}

void Network::kill(Rank rank) {
  const std::lock_guard lock(mutex_);
  die(rank);
}

bool Network::dead(Rank rank) const {
  const std::lock_guard lock(mutex_);
  return port(rank).dead;
}

void Network::refuse_registrations(Rank rank, int count) {
  const std::lock_guard lock(mutex_);
  port(rank).registrations_refused = count;
}

void Network::kill_all() {
  const std::lock_guard lock(mutex_);
  const Status end{make_error_code(Errc::cancelled), "the network is gone"};
  for (Port& each : ports_) each.dead = each.known_dead = true;
  for (Rank rank = 0; rank < size(); ++rank)
    for (Outgoing& each : port(rank).outgoing)
      if (Completion* completion = std::exchange(each.completion, nullptr))
        notify(rank, now_, {.completion = completion, .failure = end});
  drop_messages([](const Message&) { return true; }, end);
  drop_writes([](const Write&) { return true; }, end);
  for (Rank rank = 0; rank < size(); ++rank)
    drop_receives(
        rank, [](const Receive&) { return true; }, end);
}

void Network::cancel(Rank rank, Completion& completion) {
  const std::lock_guard lock(mutex_);
  drop_receives(rank, [&](const Receive& receive) { return receive.completion == &completion; },
                {make_error_code(Errc::cancelled), "the receive was taken back"});
}

// Its memory is its own again, and no rank hears of what happens to it.
void Network::close(Rank rank) {
  const std::lock_guard lock(mutex_);
  Port& its = port(rank);
  drop_messages([&](const Message& message) { return message.from == rank && message.late_completion != nullptr; }, {});
  drop_writes([&](const Write& write) { return write.from == rank; }, {});
  for (Outgoing& each : its.outgoing) each.completion = nullptr;
  its.receives.clear();
  its.notices.clear();
  its.exposed.clear();
  its.listener = nullptr;
  --providers_;
}

}  // namespace fab::sim
