#include "providers/local/link.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

namespace fab::local {

namespace {

/// Room for the list of pieces of an announced message.
constexpr std::uint64_t kLeastRoom = kMaxPieces * sizeof(iovec);

bool matches(std::uint64_t tag, std::uint64_t expected, std::uint64_t ignore) noexcept {
  return ((tag ^ expected) & ~ignore) == 0;
}

Way way_of_copied(std::uint64_t bytes) noexcept { return bytes <= Cell::kInlineBytes ? Way::cell : Way::ring; }
Way way_of_announced(const RegionName& region) noexcept { return region.number != 0 ? Way::mapped : Way::kernel; }

}  // namespace

Link::Link(const Shared& shared, const SegmentName& peer, std::uint32_t number)
    : shared_(shared),
      process_(peer.process),
      place_(peer.place),
      number_(number),
      peer_(peer, shared.places),
      peer_memory_(peer.process),
      out_memory_(shared.segment.make_ring(peer.place, peer_.head().numa_node)),
      out_(*out_memory_.as<Ring>()),
      peer_doorbell_(peer, peer_.head(), shared.has_barriers) {}

PostResult Link::post_send(std::span<const iovec> pieces, std::uint64_t tag, Completion& completion) {
  if (has_ended()) return fail_as_ended(completion);
  if (!out_.has_cell()) return refuse();
  const std::uint64_t bytes = total_bytes(pieces);
  const RegionName region = shared_.region_of(pieces, bytes);
  if (bytes > shared_.longest_copied_of(region).unknown)
    return send_rts(pieces, bytes, tag, region, false, completion) ? PostResult::pending : refuse();
  return write_message(pieces, bytes, tag, completion) ? PostResult::done : refuse();
}

PostResult Link::post_repeated(std::span<const iovec> pieces, std::uint64_t tag, Completion& completion) {
  const std::uint64_t bytes = total_bytes(pieces);
  const RegionName region = shared_.region_of_repeated(pieces, bytes);
  const LongestCopied& longest = shared_.longest_copied_of(region);
  if (!depends_on_change(longest, bytes) || has_ended() || !out_.has_cell()) return post_send(pieces, tag, completion);
  const bool is_copied = bytes <= local::longest(longest, history_.look(pieces, bytes));
  const bool in_chunks = is_copied && bytes > kMostCopiedWhole;
  if (is_copied && !in_chunks && write_message(pieces, bytes, tag, completion)) return PostResult::done;
  if (is_copied && bytes <= longest.unknown) return refuse();
  return send_rts(pieces, bytes, tag, region, in_chunks, completion) ? PostResult::pending : refuse();
}

PostResult Link::fail_as_ended(Completion& completion) const {
  completion.fail({make_error_code(Errc::unreachable), end_});
  return PostResult::pending;
}

Way Link::way_of(std::span<const iovec> pieces) const {
  const std::uint64_t bytes = total_bytes(pieces);
  const RegionName region = shared_.region_of(pieces, bytes);
  return bytes <= shared_.longest_copied_of(region).unknown ? way_of_copied(bytes) : way_of_announced(region);
}

Way Link::way_of_repeated(std::span<const iovec> pieces) const {
  const std::uint64_t bytes = total_bytes(pieces);
  const RegionName region = shared_.region_of_repeated(pieces, bytes);
  const LongestCopied& longest = shared_.longest_copied_of(region);
  if (!depends_on_change(longest, bytes)) return way_of(pieces);
  const std::uint64_t copied = std::min(local::longest(longest, history_.foresee(pieces, bytes)), kMostCopiedWhole);
  return bytes <= copied ? way_of_copied(bytes) : way_of_announced(region);
}

PostResult Link::refuse() noexcept {
  refused_ = true;
  tell_whether_waiting();
  return PostResult::again;
}

void Link::tell_whether_waiting() noexcept { out_.waits(refused_ || !answers_.empty() || !outgoing_.empty()); }

void Link::publish() noexcept {
  out_.publish();
  peer_doorbell_.ring();
  if (!refused_) return;
  refused_ = false;
  tell_whether_waiting();
}

bool Link::write_message(std::span<const iovec> pieces, std::uint64_t bytes, std::uint64_t tag,
                         Completion& completion) {
  Cell& cell = out_.cell();
  cell.tag = tag;
  if (bytes <= Cell::kInlineBytes) {
    cell.kind = CellKind::message;
    cell.message.bytes = bytes;
    gather(pieces, cell.message.memory.data(), bytes);
    count(Way::cell, bytes, completion);
  } else {
    std::byte* memory = out_.bulk(bytes, cell.stretch);
    if (memory == nullptr) return false;
    cell.kind = CellKind::bulk;
    gather(pieces, memory, bytes);
    out_.take(cell.stretch);
    count(Way::ring, bytes, completion);
  }
  publish();
  return true;
}

bool Link::send_rts(std::span<const iovec> pieces, std::uint64_t bytes, std::uint64_t tag, const RegionName& region,
                    bool in_chunks, Completion& completion) {
  Cell& cell = out_.cell();
  RequestToSend& rts = cell.rts;
  if (!write_location(rts.location, pieces, bytes)) return false;
  Send& send = sends_.take();
  send.completion = &completion;
  send.bytes = bytes;
  send.missing = 0;
  send.fetched = shared_.traffic.fetched;
  send.way = way_of_announced(region);
  send.in_chunks = in_chunks;
  count(send.way, bytes, completion);
  send.pieces.assign(pieces);
  send.state = State::waiting;
  ++pending_;
  cell.kind = CellKind::rts;
  cell.tag = tag;
  rts.send = send.number;
  rts.region = region.number;
  rts.descriptor = region.descriptor;
  rts.in_chunks = in_chunks ? 1 : 0;
  rts.may_help = shared_.traffic.receives == 0 ? 1 : 0;
  publish();
  return true;
}

bool Link::write_location(Location& location, std::span<const iovec> pieces, std::uint64_t bytes) {
  location = {.bytes = bytes, .address = reinterpret_cast<std::uint64_t>(pieces[0].iov_base)};
  if (pieces.size() == 1) return true;
  std::byte* const list = out_.bulk(pieces.size_bytes(), location.pieces);
  if (list == nullptr) return false;
  std::memcpy(list, pieces.data(), pieces.size_bytes());
  out_.take(location.pieces);
  return true;
}

Pieces Link::read_location(const Location& location) {
  std::array<iovec, kMaxPieces> pieces;
  pieces[0] = {reinterpret_cast<void*>(location.address), location.bytes};
  const std::size_t count = std::max<std::size_t>(location.pieces.bytes / sizeof(iovec), 1);
  if (count > 1) {
    std::memcpy(pieces.data(), in_->bulk(location.pieces), location.pieces.bytes);
    in_->release(location.pieces);
  }
  Pieces result;
  result.assign(std::span(pieces).first(count));
  return result;
}

PostResult Link::post_recv(std::span<const iovec> pieces, std::uint64_t tag, std::uint64_t ignore,
                           Completion& completion) {
  out_.will_fill();  // who receives mostly sends next
  if (!early_.empty() && take_early(pieces, tag, ignore, completion)) return PostResult::pending;
  if (has_ended() && !listen()) return fail_as_ended(completion);
  const bool is_lone = lone_.completion == nullptr && waiting_.empty() && early_.empty();
  if (is_lone && pieces.size() <= 1 && total_bytes(pieces) < kLeastDivided) {
    lone_ = {&completion, tag, ignore, pieces.empty() ? iovec{} : pieces[0]};
    ++pending_;
  } else {
    join_others();
    post_record(pieces, tag, ignore, completion);
  }
  return PostResult::pending;
}

void Link::post_record(std::span<const iovec> pieces, std::uint64_t tag, std::uint64_t ignore, Completion& completion) {
  Receive& receive = take_receive(pieces, completion);
  receive.tag = tag;
  receive.ignore = ignore;
  receive.missing = 0;
  receive.state = State::waiting;
  waiting_.splice(waiting_.end(), receive.aside);
}

void Link::join_others() {
  if (lone_.completion == nullptr) return;
  const LoneReceive lone = std::exchange(lone_, {});
  --pending_;
  post_record({&lone.piece, 1}, lone.tag, lone.ignore, *lone.completion);
}

Link::Receive& Link::take_receive(std::span<const iovec> pieces, Completion& completion) {
  Receive& receive = receives_.take();
  receive.completion = &completion;
  receive.pieces.assign(pieces);
  receive.is_long = total_bytes(pieces) >= kLeastDivided;
  receive.is_cancelled = false;
  if (receive.is_long) ++shared_.traffic.receives;
  ++pending_;
  return receive;
}

bool Link::take_early(std::span<const iovec> pieces, std::uint64_t tag, std::uint64_t ignore, Completion& completion) {
  const auto found = std::ranges::find_if(early_, [&](const Early& early) { return matches(early.tag, tag, ignore); });
  if (found == early_.end()) return false;
  const Early early = std::move(*found);
  early_.erase(found);
  if (early.memory != nullptr) {
    if (!completion.take({early.tag, early.bytes, 0, {early.memory.get(), early.bytes}}))
      scatter(pieces, early.memory.get(), early.bytes);
    completion.done(early.bytes, early.tag);
    return true;
  }
  fetch(take_receive(pieces, completion), early.source, early.tag);
  return true;
}

bool Link::cancel(Completion& completion) {
  if (lone_.completion == &completion) join_others();
  for (Receive* receive : waiting_) {
    if (receive->completion != &completion) continue;
    stop_waiting(*receive);
    end(receives_, *receive).fail({make_error_code(Errc::cancelled), "the receive was cancelled"});
    return true;
  }
  for (Receive& receive : receives_)
    if (receive.state == State::cleared && receive.completion == &completion) receive.is_cancelled = true;
  return false;
}

bool Link::take_back(Completion& completion) {
  const auto found = std::ranges::find_if(
      sends_, [&](const Send& send) { return send.state == State::waiting && send.completion == &completion; });
  if (found == sends_.end()) return false;
  Send& send = *found;
  if (help_ && help_->send == send.number) help_.reset();
  send.state = State::taken_back;
  if (std::ranges::find(outgoing_, send.number) != outgoing_.end()) {
    keep_the_rest(send);
    completion.done(send.bytes, 0);
    return true;
  }
  // A receiver that has copied, and then sees the old count, has seen nothing of what the caller changes from here on.
  out_memory_.as<Ring>()->taken_back.fetch_add(1, std::memory_order_seq_cst);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  answer({CellKind::retract, {.send = send.number}});
  completion.fail({make_error_code(Errc::cancelled), "the send was taken back"});
  return true;
}

StreamReader::Next Link::listen() {
  if (!stream_) {
    if (!peer_.has_ring(shared_.place)) return {};
    in_memory_ = peer_.map_ring(shared_.place);
    stream_.emplace(*in_memory_.as<Ring>(), peer_.head().common_ring(shared_.places), shared_.place);
    in_ = &stream_->ring();
  }
  return stream_->peek();
}

bool Link::can_write() {
  if (answers_.empty() && outgoing_.empty() && !refused_) return false;
  Stretch ignored;
  const std::uint64_t room = outgoing_.empty() ? std::max(shared_.longest_refused(), kLeastRoom) : kChunkBytes;
  return out_.has_cell() && (!answers_.empty() || out_.bulk(room, ignored) != nullptr);
}

bool Link::ready() { return (busy() && static_cast<bool>(listen())) || !readings_.empty() || help_ || can_write(); }

std::size_t Link::poll() {
  std::size_t events = 0;
  // Handlers may post, and end what is in flight.
  while (busy()) {
    const StreamReader::Next next = listen();
    if (!next) break;
    take(next);
    ++events;
  }
  if (!readings_.empty()) events += read_on();
  if (help_) events += help_on();
  if (!answers_.empty() || !outgoing_.empty()) events += write_answers() + write_chunks();
  // Only the peer's barriers keep the look at what it waits for behind the room that was made.
  if (events > 0 && in_ != nullptr && (peer_doorbell_.needs_fence() || in_->writer_waits())) peer_doorbell_.ring();
  if (has_ended() && busy() && !listen()) fail_all();
  return events;
}

// What the cell holds is copied, and the cell given back, before a handler is called.
void Link::take(const StreamReader::Next& next) {
  if (next.own != nullptr)
    take(*next.own);
  else
    take(*next.common);
}

void Link::take(const CommonCell& cell) {
  const std::uint64_t tag = cell.tag;
  const std::uint64_t bytes = cell.bytes();
  const bool is_inside = cell.inline_bytes != CommonCell::kInArea;
  const std::byte* const memory =
      is_inside ? CommonReader::memory(cell) : SharedArea::find(peer_.head().area(shared_.places), cell.stretch);
  if (!is_inside) will_read(memory, std::min(bytes, kMostAhead));
  Completion* const met = accept(tag, memory, bytes);
  stream_->pop_common();
  if (met != nullptr) met->done(bytes, tag);
}

void Link::take(const Cell& cell) {
  const std::uint64_t tag = cell.tag;
  switch (cell.kind) {
    case CellKind::message: {
      const std::uint64_t bytes = cell.message.bytes;
      Completion* const met = accept(tag, in_->message(cell), bytes);
      in_->pop();
      if (met != nullptr) met->done(bytes, tag);
      return;
    }
    case CellKind::bulk: {
      const Stretch stretch = cell.stretch;
      Completion* const met = accept(tag, in_->bulk(stretch), stretch.bytes);
      in_->release(stretch);
      in_->pop();
      if (met != nullptr) met->done(stretch.bytes, tag);
      return;
    }
    case CellKind::rts: {
      const Source source = source_of(cell.rts);
      in_->pop();
      rts_arrived(tag, source);
      return;
    }
    case CellKind::ack: {
      const std::uint32_t send = cell.clearance.send;
      in_->pop();
      finish(sends_[send]);
      return;
    }
    case CellKind::offer: {
      const Offer offer = cell.offer;
      help_.emplace(Help{
          .send = offer.send, .lap = offer.lap, .bytes = offer.location.bytes, .to = read_location(offer.location)});
      in_->pop();
      return;
    }
    case CellKind::helped: {
      const Clearance clearance = cell.clearance;
      in_->pop();
      helped(clearance);
      return;
    }
    case CellKind::retract: {
      const std::uint32_t send = cell.clearance.send;
      in_->pop();
      retracted(send);
      return;
    }
    case CellKind::retracted: {
      Send& send = sends_[cell.clearance.send];
      in_->pop();
      finish(send);
      return;
    }
    case CellKind::clear: {
      const Clearance clearance = cell.clearance;
      in_->pop();
      cleared(clearance);
      return;
    }
    case CellKind::chunk: {
      Receive& receive = receives_[static_cast<std::uint32_t>(tag)];
      const Delivery delivery{receive.tag,
                              receive.message_bytes,
                              receive.message_bytes - receive.missing,
                              {in_->bulk(cell.stretch), cell.stretch.bytes}};
      if (!receive.completion->take(delivery)) receive.pieces.scatter_next(delivery.bytes.data(), cell.stretch.bytes);
      receive.missing -= cell.stretch.bytes;
      in_->release(cell.stretch);
      in_->pop();
      if (receive.missing == 0) finish(receive, receive.message_bytes, receive.tag);
      return;
    }
  }
}

// Copies a message to its receive, which is told afterwards, or aside.
Completion* Link::accept(std::uint64_t tag, const std::byte* memory, std::uint64_t bytes) {
  const Delivery delivery{tag, bytes, 0, {memory, bytes}};
  if (lone_.completion != nullptr && matches(tag, lone_.tag, lone_.ignore)) {
    Completion* const met = std::exchange(lone_.completion, nullptr);
    --pending_;
    const std::uint64_t room = std::min<std::uint64_t>(bytes, lone_.piece.iov_len);
    if (!met->take(delivery) && room > 0) std::memcpy(lone_.piece.iov_base, memory, room);
    return met;
  }
  join_others();
  if (Receive* receive = find_receive(tag)) {
    if (!receive->completion->take(delivery)) scatter(receive->pieces.left(), memory, bytes);
    stop_waiting(*receive);
    return &end(receives_, *receive);
  }
  Early& early = early_.emplace_back();
  early.tag = tag;
  early.bytes = bytes;
  early.memory.reset(new std::byte[bytes]);
  if (bytes > 0) std::memcpy(early.memory.get(), memory, bytes);
  return nullptr;
}

void Link::rts_arrived(std::uint64_t tag, const Source& source) {
  join_others();
  if (Receive* receive = find_receive(tag)) {
    stop_waiting(*receive);
    fetch(*receive, source, tag);
    return;
  }
  Early& early = early_.emplace_back();
  early.tag = tag;
  early.source = source;
}

// A receive is in flight until its sender was told that it is done: who has nothing in flight may not call for long.
std::size_t Link::write_answers() {
  std::size_t written = 0;
  for (; !answers_.empty() && out_.has_cell(); ++written) {
    const Answer first = answers_.front();
    answers_.pop_front();
    write(first);
  }
  tell_whether_waiting();
  return written;
}

void Link::finish_acked(const Answer& answer) noexcept {
  Receive& receive = receives_[answer.clearance.receive];
  finish(receive, receive.message_bytes, receive.tag);
}

Link::Receive* Link::find_receive(std::uint64_t tag) noexcept {
  const auto found = std::ranges::find_if(
      waiting_, [tag](const Receive* receive) { return matches(tag, receive->tag, receive->ignore); });
  return found == waiting_.end() ? nullptr : *found;
}

void Link::stop_waiting(Receive& receive) noexcept {
  receive.aside.splice(receive.aside.end(), waiting_, receive.place);
}

void Link::finish(Receive& receive, std::uint64_t bytes, std::uint64_t tag) noexcept {
  end(receives_, receive).done(bytes, tag);
}

void Link::finish(Send& send) noexcept {
  const std::uint64_t bytes = send.bytes;
  const bool is_told = send.state == State::taken_back;
  Completion& completion = end(sends_, send);
  if (!is_told) completion.done(bytes, 0);
}

void Link::peer_ended(const std::string& reason) { end_ = reason; }

void Link::fail_all() {
  join_others();
  const Status status{make_error_code(Errc::unreachable), end_};
  while (!waiting_.empty()) stop_waiting(*waiting_.front());
  outgoing_.clear();
  for (const Answer& unsent : std::exchange(answers_, {}))
    if (unsent.kind == CellKind::ack) finish_acked(unsent);
  readings_.clear();
  awaited_.reset();
  help_.reset();
  std::vector<Completion*> failed;
  for (Receive& receive : receives_)
    if (receive.state != State::unused) failed.push_back(&end(receives_, receive));
  for (Send& send : sends_) {
    const State state = send.state;
    if (state == State::unused) continue;
    Completion& completion = end(sends_, send);
    if (state != State::taken_back) failed.push_back(&completion);
  }
  for (Completion* completion : failed) completion->fail(status);
}

}  // namespace fab::local
