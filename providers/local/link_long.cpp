// Long messages within a node: the receiver copies them, alone or with the sender's help, or they travel in chunks.
#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "providers/local/link.h"

namespace fab::local {

namespace {

/// What is copied in one poll: other messages are not held up for longer.
constexpr std::uint64_t kReadBytes = 1024 * 1024;

using Division = decltype(Ring::division);

std::uint64_t bytes_of(std::uint32_t slice, std::uint64_t message_bytes) noexcept {
  const std::uint64_t bytes = slice_bytes(message_bytes);
  return std::min(bytes, message_bytes - slice * bytes);
}

}  // namespace

Link::Source Link::source_of(const RequestToSend& rts) {
  Source source;  // field by field: compilers clear all of it ahead of a list of some
  source.bytes = rts.location.bytes;
  source.send = rts.send;
  source.may_help = rts.may_help != 0;
  source.in_chunks = rts.in_chunks != 0;
  source.pieces = read_location(rts.location);
  if (rts.region != 0) source.mapped = peer_memory_.translate({rts.region, rts.descriptor}, source.pieces.left());
  return source;
}

// A receive may take less than the message; the sender then keeps the end of it.
void Link::fetch(Receive& receive, const Source& source, std::uint64_t tag) {
  receive.tag = tag;
  receive.message_bytes = source.bytes;
  receive.missing = std::min(source.bytes, total_bytes(receive.pieces.left()));
  receive.state = State::cleared;
  receive.send = source.send;
  receive.copy = Copy::none;
  ++shared_.traffic.fetched;
  const bool in_chunks = source.in_chunks && peer_.head().caller_waits.load(std::memory_order_relaxed);
  const bool readable = source.mapped || shared_.memory.usable();
  if ((in_chunks || !readable) && receive.missing > 0) return clear(receive, source);
  Reading reading;
  reading.receive = receive.number;
  reading.source = source;
  reading.to = receive.pieces;
  if (source.may_help && !source.mapped && receive.missing >= kLeastDivided) offer(reading);
  if (read_on(reading))
    end_reading(reading);
  else
    readings_.push_back(reading);
}

void Link::clear(const Receive& receive, const Source& source) {
  answer({CellKind::clear, {receive.missing, source.send, receive.number}});
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
  if (reading.divided) division_.open = false;
  std::atomic_thread_fence(std::memory_order_acquire);
  receive.doubtful_until = in_memory_.as<Ring>()->taken_back.load(std::memory_order_relaxed);
  receive.copy = is_in_doubt(receive) ? Copy::doubtful : Copy::sure;
  if (receive.copy == Copy::sure) acknowledge(receive);
}

// What was copied is the message unless its sender has taken it back. A count that is seen now, after the copy, may be
// ahead of the cells that tell which messages those are.
bool Link::is_in_doubt(const Receive& receive) const noexcept {
  return static_cast<std::int32_t>(receive.doubtful_until - retractions_) > 0;
}

void Link::acknowledge(const Receive& receive) { answer({CellKind::ack, {0, receive.send, receive.number}}); }

// Handlers may post, so what is concerned is found first.
void Link::retracted(std::uint32_t send) {
  ++retractions_;
  const auto is_that = [send](const Early& early) { return early.memory == nullptr && early.source.send == send; };
  if (std::erase_if(early_, is_that) > 0) answer({CellKind::retracted, {.send = send}});
  std::vector<std::uint32_t> concerned;
  for (const Receive& receive : receives_)
    if (receive.state == State::cleared && receive.copy != Copy::sure) concerned.push_back(receive.number);
  for (const std::uint32_t number : concerned) {
    Receive& receive = receives_[number];
    if (receive.send == send) {
      answer({CellKind::retracted, {.send = send}});
      start_again(receive);
    } else if (receive.copy == Copy::doubtful && !is_in_doubt(receive)) {
      receive.copy = Copy::sure;
      acknowledge(receive);
    }
  }
}

// What the receive has is worth nothing. The notice that the sender owes may come, or be there already.
void Link::start_again(Receive& receive) {
  std::erase_if(readings_, [&](const Reading& reading) { return reading.receive == receive.number; });
  if (awaited_ && awaited_->receive == receive.number) awaited_.reset();
  if (division_.receive == receive.number) division_.open = false;
  const bool is_cancelled = receive.is_cancelled;
  const Pieces pieces = receive.pieces;
  const std::uint64_t tag = receive.tag;
  const std::uint64_t ignore = receive.ignore;
  Completion& completion = end(receives_, receive);
  if (is_cancelled) return completion.fail({make_error_code(Errc::cancelled), "the receive was cancelled"});
  static_cast<void>(post_recv(pieces.left(), tag, ignore, completion));
}

// It goes on from a copy.
void Link::keep_the_rest(Send& send) {
  send.kept.reset(new std::byte[send.missing]);
  send.pieces.gather_next(send.kept.get(), send.missing);
  const std::array<iovec, 1> pieces{{{send.kept.get(), send.missing}}};
  send.pieces.assign(pieces);
}

// Returns whether this end has nothing left to read; what could not be read is still missing.
bool Link::read_on(Reading& reading) {
  Receive& receive = receives_[reading.receive];
  for (std::uint64_t room = kReadBytes; room > 0;) {
    const std::uint64_t bytes = next_bytes(reading, room);
    if (bytes == 0) return true;
    switch (read(reading, bytes)) {
      case CrossMemory::Result::done:
        receive.missing -= bytes;
        room -= std::min(room, bytes);
        break;
      case CrossMemory::Result::refused:
        if (reading.divided) division_.open = false;
        receive.missing = std::min(receive.message_bytes, total_bytes(receive.pieces.left()));
        clear(receive, reading.source);
        return true;
      case CrossMemory::Result::gone:
        return true;  // the receive fails when the end of the process is told
    }
  }
  return receive.missing == 0;
}

// What the sender took and could not write is the last of what is missing here.
std::uint64_t Link::next_bytes(Reading& reading, std::uint64_t room) {
  const std::uint64_t missing = receives_[reading.receive].missing;
  if (!reading.divided) return std::min(missing, room);
  if (const auto slice = out_memory_.as<Ring>()->division.take_first(division_.lap))
    return bytes_of(*slice, division_.bytes);
  if (missing == 0) return 0;
  if (!division_.failed) {
    awaited_ = reading;
    return 0;
  }
  reading.divided = false;
  division_.open = false;
  return std::min(missing, room);
}

// One message at a time. The sender is not woken for it: it helps if it looks.
void Link::offer(Reading& reading) {
  const Receive& receive = receives_[reading.receive];
  const std::uint64_t bytes = receive.missing;
  const std::uint64_t slices = (bytes + slice_bytes(bytes) - 1) / slice_bytes(bytes);
  if (division_.open || slices > Division::kMostSlices || !out_.has_cell()) return;
  Cell& cell = out_.cell();
  if (!write_location(cell.offer.location, receive.pieces.left(), bytes)) return;
  const std::uint32_t lap = division_.lap % (Division::kLaps - 1) + 1;
  division_ = {.lap = lap, .receive = receive.number, .bytes = bytes, .open = true};
  out_memory_.as<Ring>()->division.begin(lap, static_cast<std::uint32_t>(slices));
  cell.kind = CellKind::offer;
  cell.offer.send = reading.source.send;
  cell.offer.lap = lap;
  out_.publish();
  reading.divided = true;
}

void Link::helped(const Clearance& clearance) {
  if (!division_.open || clearance.lap != division_.lap) return;
  receives_[division_.receive].missing -= clearance.bytes;
  if (clearance.failed != 0) division_.failed = true;
  if (!awaited_ || (receives_[division_.receive].missing > 0 && !division_.failed)) return;
  readings_.push_back(*awaited_);
  awaited_.reset();
}

// Who also receives has copying of its own to do: where all do, help would only bring what they copy into the other's
// cache. And the number of a process that has ended may be another's.
bool Link::may_help() const noexcept {
  const Traffic& traffic = shared_.traffic;
  return traffic.receives == 0 && traffic.fetched == sends_[help_->send].fetched && shared_.memory.writes() &&
         shared_.doorbell.is_alive(number_);
}

// The sender's part. It tells in each poll what it did: the receiver does not wait for a sender that has stopped
// polling.
std::size_t Link::help_on() {
  Clearance done{.lap = help_->lap};
  bool more = true;
  for (std::uint64_t room = kReadBytes; more && room > 0;) {
    const auto slice = may_help() ? in_memory_.as<Ring>()->division.take_last(help_->lap) : std::nullopt;
    more = slice && help_with(*slice);
    if (slice && !more) done.failed = 1;
    if (!more) break;
    const std::uint64_t bytes = bytes_of(*slice, help_->bytes);
    done.bytes += bytes;
    room -= std::min(room, bytes);
  }
  if (!more) help_.reset();
  if (done.bytes > 0 || done.failed != 0) answer({CellKind::helped, done});
  return 1;
}

bool Link::help_with(std::uint32_t slice) {
  const std::uint64_t offset = slice * slice_bytes(help_->bytes);
  Pieces from = sends_[help_->send].pieces;
  Pieces to = help_->to;
  from.skip(offset);
  to.skip(offset);
  return shared_.memory.write(process_, to, from, bytes_of(slice, help_->bytes)) == CrossMemory::Result::done;
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
  if (help_ && help_->send == clearance.send) help_.reset();  // the receive may end before it would
  Send& send = sends_[clearance.send];
  if (send.state == State::taken_back) return;  // which the receiver is told already
  send.missing = clearance.bytes;
  send.receive = clearance.receive;
  if (send.missing == 0) return finish(send);
  if (!send.in_chunks) peer_reads_ = false;
  sent_.move(send.way, Way::chunks, send.bytes);
  send.completion->goes_by(send.way, Way::chunks, send.bytes);
  outgoing_.push_back(send.number);
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

}  // namespace fab::local
