// Delivers messages and writes.
#include <fmt/core.h>

#include <algorithm>

#include "providers/local/pieces.h"
#include "providers/sim/network.h"

namespace fab::sim {

bool Network::loses(const Message& message) {
  if (!options_.loses) return false;
  const bool lost =
      options_.loses({message.from, message.to, message.tag, message.bytes, port(message.from).sent.messages});
  if (lost) ++lost_;
  return lost;
}

Network::LaneName Network::lane_of(const Message& message) const {
  return {message.to, message.from, options_.ordered || blocking() ? 0 : message.tag};
}

void Network::leave_lane(const Message& message) {
  const auto lane = lanes_.find(lane_of(message));
  if (lane != lanes_.end() && --lane->second.count == 0) lanes_.erase(lane);
}

std::uint64_t Network::take_over(Message message) {
  message.number = ++last_number_;
  if (options_.longest_delay != Time{}) ++lanes_[lane_of(message)].count;
  const std::uint64_t number = message.number;
  messages_.emplace(number, std::move(message));
  return number;
}

// Undisturbed messages of a rank keep their order by themselves, for they leave through one port.
void Network::launch(std::uint64_t number, Time head) {
  const auto found = messages_.find(number);
  if (found == messages_.end()) return;  // it ended with its sender
  const Message& message = found->second;
  if (options_.longest_delay != Time{}) {
    Lane& lane = lanes_[lane_of(message)];
    head = lane.last = std::max(lane.last, head + delay());
  }
  push_arrival(head, Event::Kind::message, message.from, message.to, number);
  ring(port(message.to));
}

bool Network::is_through(const Event& event, Rank from, std::uint64_t bytes) {
  const bool is_message = event.kind == Event::Kind::message;
  if (!options_.model.shares() || !(is_message || event.kind == Event::Kind::write)) return true;
  const Time at = shares_.arrive(from, event.rank, bytes, now_);
  if (at == now_) return true;
  push_arrival(at, is_message ? Event::Kind::message_through : Event::Kind::write_through, from, event.rank,
               event.number);
  return false;
}

Time Network::arrive(Port& to, const LinkCost& cost, std::uint64_t bytes) {
  const Time last = std::max(now_, to.in_free) + cost.stretch(bytes);
  to.in_free = last + cost.gap;
  return last;
}

void Network::message_arrives(const Event& event) {
  const auto found = messages_.find(event.number);
  if (found == messages_.end()) return;  // it ended with its sender
  if (!is_through(event, found->second.from, found->second.bytes)) return;
  Port& to = port(found->second.to);
  if (to.dead) return;  // a late one's sender is told when all are
  Message message = std::move(found->second);
  messages_.erase(found);
  leave_lane(message);
  message.here = arrive(to, options_.model.cost(message.from, message.to), message.bytes);
  const bool held_up = blocking() && to.holds_up(message.from);
  const auto receive = held_up ? to.receives.end() : to.find_receive(message, options_.capabilities.directed_receive);
  if (receive == to.receives.end()) {
    to.waiting.push_back(std::move(message));
    if (blocking() && !self_driven()) push(now_, Event::Kind::call, to.waiting.back().to);
    return;
  }
  const Receive taker = std::move(*receive);
  to.receives.erase(receive);
  deliver(std::move(message), taker);
}

void Network::deliver(Message message, const Receive& receive) {
  const Time done = std::max(message.here, receive.posted);
  Port& to = port(message.to);
  to.idle_polls = 0;
  ++to.received.messages;
  to.received.bytes += message.bytes;
  if (message.late_completion != nullptr) message.data = gather(message.pieces);
  local::scatter(receive.pieces, message.data.data(), message.data.size());
  Notice notice{.completion = receive.completion,
                .bytes = message.bytes,
                .tag = message.tag,
                .overhead = options_.model.cost(message.from, message.to).overhead};
  const std::uint64_t room = total_bytes(receive.pieces);
  if (message.bytes > room && !options_.capabilities.takes_longer_messages) {
    const std::string what =
        fmt::format("{} bytes from rank {} for a receive of {}", message.bytes, message.from, room);
    violated(message.to, what);
    notice.failure = {make_error_code(Errc::truncated), what};
  }
  notify(message.to, done + delay(), std::move(notice));
  if (message.late_completion != nullptr)
    notify(message.from, done + delay(), {.completion = message.late_completion, .bytes = message.bytes});
}

// A message that went has let the next one of its sender come forward, which a receive may be waiting for.
void Network::deliver_waiting(Port& to) {
  std::vector<Rank> held_up;
  for (auto message = to.waiting.begin(); message != to.waiting.end();) {
    const bool behind = std::ranges::find(held_up, message->from) != held_up.end();
    const auto receive = behind ? to.receives.end() : to.find_receive(*message, options_.capabilities.directed_receive);
    if (receive == to.receives.end()) {
      held_up.push_back(message->from);
      ++message;
      continue;
    }
    Message taken = std::move(*message);
    const Receive taker = std::move(*receive);
    message = to.waiting.erase(message);
    to.receives.erase(receive);
    deliver(std::move(taken), taker);
  }
}

void Network::write_arrives(const Event& event) {
  const auto found = writes_.find(event.number);
  if (found == writes_.end()) return;  // it ended with its writer
  if (!is_through(event, found->second.from, found->second.bytes)) return;
  Port& to = port(found->second.to);
  if (to.dead) return;  // the writer is told when all are
  const Write write = std::move(found->second);
  writes_.erase(found);
  const Time done = arrive(to, options_.model.cost(write.from, write.to), write.bytes);
  const auto target = to.exposed.find(write.target.key);
  if (target == to.exposed.end() || write.target.address > target->second.size() ||
      write.bytes > target->second.size() - write.target.address) {
    const Status failure{make_error_code(Errc::transport),
                         fmt::format("rank {} has not exposed the memory that is written to", write.to)};
    return notify(write.from, done, {.completion = write.completion, .failure = failure});
  }
  const std::vector<std::byte> bytes = gather(write.pieces);
  std::ranges::copy(bytes, target->second.begin() + static_cast<std::ptrdiff_t>(write.target.address));
  ++to.received.writes;
  to.received.bytes += write.bytes;
  notify(write.to, done + delay(), {.data = write.data});
  notify(write.from, done + delay(), {.completion = write.completion, .bytes = write.bytes});
}

}  // namespace fab::sim
