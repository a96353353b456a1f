#include "providers/local/link.h"

#include <algorithm>
#include <array>
#include <utility>

namespace fab::local {

namespace {

/// What is read in one poll: other messages are not held up for longer.
constexpr std::uint64_t kReadBytes = 1024 * 1024;

/// What is copied in before the other side can begin to copy out.
constexpr std::uint64_t kChunkBytes = 16 * 1024;
static_assert(kChunkBytes <= Ring::kLongestStretch);

/// Room for the list of pieces of an announced message.
constexpr std::uint64_t kLeastRoom = kMaxPieces * sizeof(iovec);

bool matches(std::uint64_t tag, std::uint64_t expected, std::uint64_t ignore) noexcept {
  return ((tag ^ expected) & ~ignore) == 0;
}

}  // namespace

Link::Link(const Shared& shared, const SegmentName& peer)
    : shared_(shared),
      process_(peer.process),
      peer_(peer, shared.places),
      peer_memory_(peer.process),
      out_memory_(shared.segment.make_ring(peer.place)),
      out_(*out_memory_.as<Ring>()),
      rope_(peer, peer_.head(), shared.has_barriers) {}

PostResult Link::post_send(std::span<const iovec> pieces, std::uint64_t tag, Completion& completion) {
  if (!end_.empty()) {
    completion.fail({make_error_code(Errc::unreachable), end_});
    return PostResult::pending;
  }
  if (!out_.has_cell()) return refuse();
  const std::uint64_t bytes = total_bytes(pieces);
  RegionName region;
  if (bytes >= shared_.least_mapped) region = shared_.own_memory.region_of(pieces);
  if (region.number != 0 || bytes > shared_.longest_copied)
    return announce(pieces, bytes, tag, region, completion) ? PostResult::pending : refuse();
  return write_message(pieces, bytes, tag) ? PostResult::done : refuse();
}

PostResult Link::refuse() noexcept {
  refused_ = true;
  tell_whether_waiting();
  return PostResult::again;
}

void Link::tell_whether_waiting() noexcept { out_.waits(refused_ || !answers_.empty() || !outgoing_.empty()); }

void Link::publish() noexcept {
  out_.publish();
  rope_.pull();
  if (!refused_) return;
  refused_ = false;
  tell_whether_waiting();
}

bool Link::write_message(std::span<const iovec> pieces, std::uint64_t bytes, std::uint64_t tag) {
  Cell& cell = out_.cell();
  cell.tag = tag;
  if (bytes <= Cell::kInlineBytes) {
    cell.kind = CellKind::message;
    cell.message.bytes = bytes;
    gather(pieces, cell.message.memory.data(), bytes);
  } else {
    std::byte* memory = out_.bulk(bytes, cell.stretch);
    if (memory == nullptr) return false;
    cell.kind = CellKind::bulk;
    gather(pieces, memory, bytes);
    out_.take(cell.stretch);
  }
  publish();
  return true;
}

bool Link::announce(std::span<const iovec> pieces, std::uint64_t bytes, std::uint64_t tag, const RegionName& region,
                    Completion& completion) {
  Cell& cell = out_.cell();
  Announcement& announcement = cell.announcement;
  announcement.address = reinterpret_cast<std::uint64_t>(pieces[0].iov_base);
  announcement.pieces = {};
  if (pieces.size() > 1) {
    std::byte* const list = out_.bulk(pieces.size_bytes(), announcement.pieces);
    if (list == nullptr) return false;
    std::memcpy(list, pieces.data(), pieces.size_bytes());
    out_.take(announcement.pieces);
  }
  Send& send = sends_.take();
  send.completion = &completion;
  send.bytes = bytes;
  send.missing = 0;
  send.pieces.assign(pieces);
  send.state = State::waiting;
  ++pending_;
  cell.kind = CellKind::announce;
  cell.tag = tag;
  announcement.bytes = bytes;
  announcement.send = send.number;
  announcement.region = region.number;
  announcement.descriptor = region.descriptor;
  publish();
  return true;
}

PostResult Link::post_recv(std::span<const iovec> pieces, std::uint64_t tag, std::uint64_t ignore,
                           Completion& completion) {
  if (!early_.empty() && take_early(pieces, tag, ignore, completion)) return PostResult::pending;
  if (!end_.empty() && !listen()) {
    completion.fail({make_error_code(Errc::unreachable), end_});
    return PostResult::pending;
  }
  Receive& receive = receives_.take();
  receive.completion = &completion;
  receive.tag = tag;
  receive.ignore = ignore;
  receive.missing = 0;
  receive.pieces.assign(pieces);
  receive.state = State::waiting;
  waiting_.splice(waiting_.end(), receive.aside);
  ++pending_;
  return PostResult::pending;
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
  Receive& receive = receives_.take();
  receive.completion = &completion;
  receive.pieces.assign(pieces);
  ++pending_;
  fetch(receive, early.source, early.tag);
  return true;
}

bool Link::cancel(Completion& completion) {
  for (Receive* receive : waiting_) {
    if (receive->completion != &completion) continue;
    stop_waiting(*receive);
    end(receives_, *receive).fail({make_error_code(Errc::cancelled), "the receive was taken back"});
    return true;
  }
  return false;
}

bool Link::listen() {
  if (in_ == nullptr) {
    if (!peer_.has_ring(shared_.place)) return false;
    in_memory_ = peer_.map_ring(shared_.place);
    in_ = std::make_unique<RingReader>(*in_memory_.as<Ring>());
  }
  return in_->peek() != nullptr;
}

bool Link::can_write() {
  if (answers_.empty() && outgoing_.empty() && !refused_) return false;
  Stretch ignored;
  const std::uint64_t room = outgoing_.empty() ? std::max(shared_.longest_copied, kLeastRoom) : kChunkBytes;
  return out_.has_cell() && (!answers_.empty() || out_.bulk(room, ignored) != nullptr);
}

bool Link::ready() { return (busy() && listen()) || !readings_.empty() || can_write(); }

std::size_t Link::poll() {
  std::size_t events = 0;
  // Handlers may post, and end what is in flight.
  while (busy() && listen()) {
    take();
    ++events;
  }
  if (!readings_.empty()) events += read_on();
  if (!answers_.empty() || !outgoing_.empty()) events += write_answers() + write_chunks();
  // Only the peer's barriers keep the look at what it waits for behind the room that was made.
  if (events > 0 && in_ != nullptr && (rope_.needs_fence() || in_->writer_waits())) rope_.pull();
  if (!end_.empty() && busy() && !listen()) fail_all();
  return events;
}

// What the cell holds is copied, and the cell given back, before a handler is called.
void Link::take() {
  const Cell& cell = *in_->peek();
  const std::uint64_t tag = cell.tag;
  switch (cell.kind) {
    case CellKind::message: {
      const std::uint64_t bytes = cell.message.bytes;
      Receive* receive = accept(tag, cell.message.memory.data(), bytes);
      in_->pop();
      if (receive != nullptr) finish(*receive, bytes, tag);
      return;
    }
    case CellKind::bulk: {
      const Stretch stretch = cell.stretch;
      Receive* receive = accept(tag, in_->bulk(stretch), stretch.bytes);
      in_->release(stretch);
      in_->pop();
      if (receive != nullptr) finish(*receive, stretch.bytes, tag);
      return;
    }
    case CellKind::announce: {
      const Source source = source_of(cell.announcement);
      if (cell.announcement.pieces.bytes > 0) in_->release(cell.announcement.pieces);
      in_->pop();
      announced(tag, source);
      return;
    }
    case CellKind::taken: {
      const std::uint32_t send = cell.clearance.send;
      in_->pop();
      finish(sends_[send]);
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

// Copies a message to its receive, or aside.
Link::Receive* Link::accept(std::uint64_t tag, const std::byte* memory, std::uint64_t bytes) {
  if (Receive* receive = find_receive(tag)) {
    if (!receive->completion->take({tag, bytes, 0, {memory, bytes}})) scatter(receive->pieces.left(), memory, bytes);
    stop_waiting(*receive);
    return receive;
  }
  Early& early = early_.emplace_back();
  early.tag = tag;
  early.bytes = bytes;
  early.memory.reset(new std::byte[bytes]);
  if (bytes > 0) std::memcpy(early.memory.get(), memory, bytes);
  return nullptr;
}

Link::Source Link::source_of(const Announcement& announcement) {
  Source source{.bytes = announcement.bytes, .send = announcement.send};
  std::array<iovec, kMaxPieces> pieces;
  pieces[0] = {reinterpret_cast<void*>(announcement.address), announcement.bytes};
  const std::size_t count = std::max<std::size_t>(announcement.pieces.bytes / sizeof(iovec), 1);
  if (count > 1) std::memcpy(pieces.data(), in_->bulk(announcement.pieces), announcement.pieces.bytes);
  source.pieces.assign(std::span(pieces).first(count));
  if (announcement.region != 0)
    source.mapped = peer_memory_.translate({announcement.region, announcement.descriptor}, source.pieces.left());
  return source;
}

void Link::announced(std::uint64_t tag, const Source& source) {
  if (Receive* receive = find_receive(tag)) {
    stop_waiting(*receive);
    fetch(*receive, source, tag);
    return;
  }
  Early& early = early_.emplace_back();
  early.tag = tag;
  early.source = source;
}

// A receive may take less than the message; the sender then keeps the end of it.
void Link::fetch(Receive& receive, const Source& source, std::uint64_t tag) {
  receive.tag = tag;
  receive.message_bytes = source.bytes;
  receive.missing = std::min(source.bytes, total_bytes(receive.pieces.left()));
  receive.state = State::cleared;
  if (!source.mapped && !shared_.memory.usable() && receive.missing > 0) return clear(receive, source);
  Reading reading{.receive = receive.number, .source = source, .to = receive.pieces};
  if (read_on(reading))
    end_reading(reading);
  else
    readings_.push_back(reading);
}

void Link::clear(const Receive& receive, const Source& source) {
  answer({CellKind::clear, {receive.missing, source.send, receive.number}});
}

void Link::answer(const Answer& answer) {
  answers_.push_back(answer);
  write_answers();
}

// A slice of each, so that none holds up the others. What a handler posts may come to the end of the list.
std::size_t Link::read_on() {
  std::size_t events = 0;
  for (std::size_t i = 0; i < readings_.size();) {
    ++events;
    if (!read_on(readings_[i])) {
      ++i;
      continue;
    }
    const Reading reading = readings_[i];
    readings_.erase(readings_.begin() + static_cast<std::ptrdiff_t>(i));
    end_reading(reading);
  }
  return events;
}

void Link::end_reading(const Reading& reading) {
  Receive& receive = receives_[reading.receive];
  if (receive.missing > 0) return;
  answer({CellKind::taken, {0, reading.source.send, receive.number}});
}

// Returns whether nothing remains to be read; what could not be read is still missing.
bool Link::read_on(Reading& reading) {
  Receive& receive = receives_[reading.receive];
  const std::uint64_t bytes = std::min(receive.missing, kReadBytes);
  switch (read(reading, bytes)) {
    case CrossMemory::Result::done:
      receive.missing -= bytes;
      return receive.missing == 0;
    case CrossMemory::Result::refused:
      receive.missing = std::min(receive.message_bytes, total_bytes(receive.pieces.left()));
      clear(receive, reading.source);
      return true;
    case CrossMemory::Result::gone:
      return true;  // the receive fails when the end of the process is told
  }
  return true;
}

CrossMemory::Result Link::read(Reading& reading, std::uint64_t bytes) {
  if (reading.source.mapped) {
    copy_mapped(receives_[reading.receive], reading, bytes);
    return CrossMemory::Result::done;
  }
  const CrossMemory::Result result = shared_.memory.read(process_, reading.to, reading.source.pieces, bytes);
  if (result == CrossMemory::Result::done) {
    reading.to.skip(bytes);
    reading.source.pieces.skip(bytes);
  }
  return result;
}

// The receive may take the bytes from where they are.
void Link::copy_mapped(const Receive& receive, Reading& reading, std::uint64_t bytes) {
  Pieces& source = reading.source.pieces;
  for (std::uint64_t offset = receive.message_bytes - receive.missing; bytes > 0;) {
    source.skip(0);
    const iovec& piece = source.left().front();
    const std::span from(static_cast<const std::byte*>(piece.iov_base), std::min<std::uint64_t>(piece.iov_len, bytes));
    if (!receive.completion->take({receive.tag, receive.message_bytes, offset, from}))
      return reading.to.copy_next(source, bytes);
    source.skip(from.size());
    offset += from.size();
    bytes -= from.size();
  }
}

void Link::cleared(const Clearance& clearance) {
  Send& send = sends_[clearance.send];
  send.missing = clearance.bytes;
  send.receive = clearance.receive;
  if (send.missing == 0)
    finish(send);
  else
    outgoing_.push_back(send.number);
}

// A receive is in flight until its sender was told that it is done: who has nothing in flight may not call for long.
std::size_t Link::write_answers() {
  std::size_t written = 0;
  for (; !answers_.empty() && out_.has_cell(); ++written) {
    const Answer first = answers_.front();
    answers_.pop_front();
    Cell& cell = out_.cell();
    cell.kind = first.kind;
    cell.clearance = first.clearance;
    publish();
    if (first.kind == CellKind::taken) finish_taken(first);
  }
  tell_whether_waiting();
  return written;
}

void Link::finish_taken(const Answer& answer) noexcept {
  Receive& receive = receives_[answer.clearance.receive];
  finish(receive, receive.message_bytes, receive.tag);
}

// One chunk of each send in turn, so that a long message does not hold up a shorter one.
std::size_t Link::write_chunks() {
  std::size_t written = 0;
  for (bool room = true; room && !outgoing_.empty();) {
    for (std::size_t i = 0; i < outgoing_.size() && (room = write_chunk(sends_[outgoing_[i]]));) {
      ++written;
      Send& send = sends_[outgoing_[i]];
      if (send.missing > 0) {
        ++i;
        continue;
      }
      outgoing_.erase(outgoing_.begin() + static_cast<std::ptrdiff_t>(i));
      finish(send);
    }
  }
  tell_whether_waiting();
  return written;
}

bool Link::write_chunk(Send& send) {
  if (!out_.has_cell()) return false;
  const std::uint64_t bytes = std::min(send.missing, kChunkBytes);
  Cell& cell = out_.cell();
  std::byte* memory = out_.bulk(bytes, cell.stretch);
  if (memory == nullptr) return false;
  cell.kind = CellKind::chunk;
  cell.tag = send.receive;
  send.pieces.gather_next(memory, bytes);
  send.missing -= bytes;
  out_.take(cell.stretch);
  publish();
  return true;
}

Link::Receive* Link::find_receive(std::uint64_t tag) noexcept {
  const auto found = std::ranges::find_if(
      waiting_, [tag](const Receive* receive) { return matches(tag, receive->tag, receive->ignore); });
  return found == waiting_.end() ? nullptr : *found;
}

void Link::stop_waiting(Receive& receive) noexcept {
  receive.aside.splice(receive.aside.end(), waiting_, receive.place);
}

template <class Record>
Completion& Link::end(Slots<Record>& records, Record& record) noexcept {
  record.state = State::unused;
  records.give_back(record);
  --pending_;
  return *record.completion;
}

void Link::finish(Receive& receive, std::uint64_t bytes, std::uint64_t tag) noexcept {
  end(receives_, receive).done(bytes, tag);
}

void Link::finish(Send& send) noexcept {
  const std::uint64_t bytes = send.bytes;
  end(sends_, send).done(bytes, 0);
}

void Link::peer_ended(const std::string& reason) { end_ = reason; }

void Link::fail_all() {
  const Status status{make_error_code(Errc::unreachable), end_};
  while (!waiting_.empty()) stop_waiting(*waiting_.front());
  outgoing_.clear();
  for (const Answer& unsent : std::exchange(answers_, {}))
    if (unsent.kind == CellKind::taken) finish_taken(unsent);
  readings_.clear();
  std::vector<Completion*> failed;
  for (Receive& receive : receives_)
    if (receive.state != State::unused) failed.push_back(&end(receives_, receive));
  for (Send& send : sends_)
    if (send.state != State::unused) failed.push_back(&end(sends_, send));
  for (Completion* completion : failed) completion->fail(status);
}

}  // namespace fab::local
