// The posts of ranks on a simulated network.
#include <fmt/format.h>

#include <algorithm>

#include "providers/local/pieces.h"
#include "providers/sim/network.h"

namespace fab::sim {

namespace {

constexpr Time kRetryTime = std::chrono::nanoseconds(100);  ///< after a refused post

}  // namespace

void Network::check(Rank rank, std::span<const iovec> pieces, std::uint64_t tag) {
  const Capabilities& can = options_.capabilities;
  if (pieces.size() > can.iov_limit)
    violated(rank, fmt::format("a post of {} pieces, where {} are possible", pieces.size(), can.iov_limit));
  if ((tag & ~can.tag_mask) != 0)
    violated(rank, fmt::format("a tag {:#x}, of which only {:#x} travels", tag, can.tag_mask));
  if (total_bytes(pieces) > can.max_message_bytes)
    violated(rank, fmt::format("{} bytes, where {} are possible", total_bytes(pieces), can.max_message_bytes));
}

bool Network::refuses(Rank rank) {
  if (random_() % 100 >= options_.refused_percent) return false;
  ++refusals_;
  port(rank).refused = true;
  // A call and not a wake, which another poll of this progress, an inbox's look, would take for answered.
  push(std::max(port(rank).clock, now_) + kRetryTime, Event::Kind::call, rank);
  return true;
}

Network::Way Network::depart(Port& from, const LinkCost& cost, std::uint64_t bytes) {
  from.clock = std::max(from.clock, now_) + cost.overhead;
  const Time first = std::max(from.clock, from.out_free);
  const Time last = first + cost.stretch(bytes);
  from.out_free = last + cost.gap;
  from.sent.bytes += bytes;
  return {first, last};
}

PostResult Network::send(Rank from, Rank to, std::span<const iovec> pieces, std::uint64_t tag, Completion& completion) {
  const std::lock_guard lock(mutex_);
  check(from, pieces, tag);
  Port& its = port(from);
  if (its.sent.messages >= its.dies_after_messages) die(from);
  if (fails_at_once(from, to, completion)) return PostResult::pending;
  if (refuses(from)) return PostResult::again;
  const LinkCost& cost = options_.model.cost(from, to);
  Message message{.from = from, .to = to, .tag = tag, .bytes = total_bytes(pieces)};
  const bool injected = message.bytes <= options_.capabilities.inject_bytes;
  const bool lost = loses(message);
  const bool late = !injected && !lost && message.bytes > options_.model.eager_bytes;
  const Way way = depart(its, cost, message.bytes);
  ++its.sent.messages;
  if (late) {
    message.late_completion = &completion;
    message.pieces.assign(pieces.begin(), pieces.end());
  } else {
    message.data = gather(pieces);
  }
  if (!late && !injected) notify(from, way.last + delay(), {.completion = &completion, .bytes = message.bytes});
  if (!lost) launch(std::move(message), way.first + cost.latency);
  return injected ? PostResult::done : PostResult::pending;
}

PostResult Network::receive(Rank to, Receive receive) {
  const std::lock_guard lock(mutex_);
  check(to, receive.pieces, receive.tag);
  const std::uint64_t closed = options_.capabilities.closed_tag_bits();
  if (const std::uint64_t ignored = receive.ignore & closed; ignored != 0 && ignored != closed)
    violated(to, fmt::format("a receive that ignores {:#x} of the closed bits of tags, {:#x}", ignored, closed));
  Port& its = port(to);
  if (its.dead && fails_at_once(to, to, *receive.completion)) return PostResult::pending;
  if (refuses(to)) return PostResult::again;
  receive.posted = std::max(its.clock, now_);
  const auto message = its.find_message(receive, options_.capabilities.directed_receive, blocking());
  if (message == its.waiting.end()) {
    if (receive.takes_anything() || !fails_at_once(to, receive.from, *receive.completion))
      its.receives.push_back(std::move(receive));
    return PostResult::pending;
  }
  Message taken = std::move(*message);
  its.waiting.erase(message);
  deliver(std::move(taken), receive);
  if (blocking()) deliver_waiting(its);
  return PostResult::pending;
}

PostResult Network::write(Write write) {
  const std::lock_guard lock(mutex_);
  check(write.from, write.pieces, 0);
  if (fails_at_once(write.from, write.to, *write.completion)) return PostResult::pending;
  if (refuses(write.from)) return PostResult::again;
  Port& its = port(write.from);
  const LinkCost& cost = options_.model.cost(write.from, write.to);
  write.bytes = total_bytes(write.pieces);
  const Way way = depart(its, cost, write.bytes);
  ++its.sent.writes;
  ring(port(write.to));
  const std::uint64_t number = ++last_number_;
  push(way.first + cost.latency + delay(), Event::Kind::write, write.to, number);
  writes_.emplace(number, std::move(write));
  return PostResult::pending;
}

void Network::write_unprepared(Rank rank) {
  const std::lock_guard lock(mutex_);
  violated(rank, "a write from memory that another provider has prepared");
}

std::uint64_t Network::expose(Rank rank, std::span<std::byte> memory) {
  const std::lock_guard lock(mutex_);
  if (port(rank).registrations_refused > 0) {
    --port(rank).registrations_refused;
    throw Error(Errc::no_resources, fmt::format("rank {} has no memory to spare for a registration", rank));
  }
  port(rank).exposed.emplace(++last_number_, memory);
  return last_number_;
}

void Network::withdraw(Rank rank, std::uint64_t key) {
  const std::lock_guard lock(mutex_);
  port(rank).exposed.erase(key);
}

}  // namespace fab::sim
