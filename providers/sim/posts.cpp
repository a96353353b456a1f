// The posts of ranks on a simulated network.
#include <fmt/core.h>

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

Network::Way Network::depart(Port& from, const LinkCost& cost, std::uint64_t bytes, Time earliest) {
  const Time first = std::max(earliest, from.out_free);
  const Time last = first + cost.stretch(bytes);
  from.out_free = last + cost.gap;
  return {first, last};
}

void Network::send_off(Rank from, const Outgoing& outgoing, Way way) {
  if (outgoing.completion != nullptr)
    notify(from, way.last + delay(), {.completion = outgoing.completion, .bytes = outgoing.bytes});
  const Time head = way.first + options_.model.cost(from, outgoing.to).latency;
  if (outgoing.number == 0) return;
  if (outgoing.is_write)
    push_arrival(head + delay(), Event::Kind::write, from, outgoing.to, outgoing.number);
  else
    launch(outgoing.number, head);
}

// The processor spends its overhead at once.
void Network::post(Rank from, Outgoing outgoing) {
  Port& its = port(from);
  const LinkCost& cost = options_.model.cost(from, outgoing.to);
  its.sent.bytes += outgoing.bytes;
  its.clock = std::max(its.clock, now_) + cost.overhead;
  if (!options_.model.shares()) return send_off(from, outgoing, depart(its, cost, outgoing.bytes, its.clock));
  outgoing.ready = its.clock;
  its.outgoing.push_back(outgoing);
  if (its.outgoing.size() == 1) push_leave(from);
}

void Network::push_leave(Rank rank) {
  const Port& its = port(rank);
  const Time at = std::max({its.outgoing.front().ready, its.out_free, now_});
  events_.push({at, leave_order(rank), Event::Kind::leave, rank, 0});
}

void Network::leave(Rank rank) {
  Port& its = port(rank);
  const Outgoing outgoing = its.outgoing.front();
  its.outgoing.pop_front();
  const Time first = shares_.leave(rank, outgoing.to, outgoing.bytes, now_);
  send_off(rank, outgoing, depart(its, options_.model.cost(rank, outgoing.to), outgoing.bytes, first));
  if (!its.outgoing.empty()) push_leave(rank);
}

PostResult Network::send(Rank from, Rank to, std::span<const iovec> pieces, std::uint64_t tag, Completion& completion) {
  const std::lock_guard lock(mutex_);
  check(from, pieces, tag);
  Port& its = port(from);
  if (its.sent.messages >= its.dies_after_messages) die(from);
  if (fails_at_once(from, to, completion)) return PostResult::pending;
  if (refuses(from)) return PostResult::again;
  Message message{.from = from, .to = to, .tag = tag, .bytes = total_bytes(pieces)};
  const bool injected = message.bytes <= options_.capabilities.inject_bytes;
  const bool lost = loses(message);
  const bool late = !injected && !lost && message.bytes > options_.model.eager_bytes;
  Outgoing outgoing{.to = to, .bytes = message.bytes, .completion = late || injected ? nullptr : &completion};
  ++its.sent.messages;
  its.ways[to].add(fab::Way::tagged, message.bytes);
  completion.left_by(fab::Way::tagged, message.bytes);
  if (late) {
    message.late_completion = &completion;
    message.pieces.assign(pieces.begin(), pieces.end());
  } else {
    message.data = gather(pieces);
  }
  if (!lost) outgoing.number = take_over(std::move(message));
  post(from, outgoing);
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
  write.bytes = total_bytes(write.pieces);
  const Rank from = write.from;
  const Outgoing outgoing{.to = write.to, .bytes = write.bytes, .number = ++last_number_, .is_write = true};
  Port& its = port(from);
  ++its.sent.writes;
  its.ways[write.to].add(fab::Way::written, write.bytes);
  write.completion->left_by(fab::Way::written, write.bytes);
  ring(port(write.to));
  writes_.emplace(outgoing.number, std::move(write));
  post(from, outgoing);
  return PostResult::pending;
}

void Network::visit_ways(Rank from, Rank to, const Provider::WayVisitor& visit) const {
  const std::lock_guard lock(mutex_);
  const auto found = port(from).ways.find(to);
  if (found != port(from).ways.end()) found->second.visit(visit);
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
