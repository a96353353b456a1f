// Records start, message and end of each send and receive (FAB_TRACE). The numbers that a sender gives its messages to
// a receiver are their keys.
#include "core/point/operations.h"
#include "core/trace/recorder.h"

namespace fab::core {

void PointOperation::record(const TraceRecord& record) {
  TraceRecord its_own = record;
  its_own.time_ns = Recorder::now_ns();
  its_own.exchange = static_cast<std::uint32_t>(Pending::number);
  engine().recorder()->record(its_own);
}

void PointOperation::record_start(PointCounts& counts) {
  Ledger::Row& row = counts.row();
  record({.details = TraceRecord::pack(TraceEvent::start, ++row.traced), .peer = static_cast<Rank>(row.number)});
}

// The way is that of the bytes, which leave with the envelope, or later where a receiver asks for them.
void SendOperation::record_send(std::uint32_t sequence, bool eager) {
  unsigned way = 0;
  const Peer* const peer = correspondent_->peer;
  if (peer != nullptr && peer->state == Peer::State::ready) {
    const iovec piece =
        eager ? iovec{nullptr, sizeof(Envelope) + memory_.bytes()} : iovec{memory_.contiguous(), memory_.bytes()};
    way = engine().recorder()->number_of(peer->provider->way_of(peer->handle, {&piece, 1}));
  }
  record({.word = sequence,
          .details = TraceRecord::pack(TraceEvent::send, memory_.bytes(), 0, way),
          .peer = correspondent_->world_rank});
}

void SendOperation::record_message() {
  if (status_.ok())
    record({.details = TraceRecord::pack(TraceEvent::sent, memory_.bytes()), .peer = correspondent_->world_rank});
  record({.details = TraceRecord::pack(TraceEvent::end, status_.ok() ? 0 : 1)});
}

void ReceiveOperation::record_message() {
  if (status_.ok() && !probe_)
    record({.word = sequence_,
            .details = TraceRecord::pack(TraceEvent::received, message_.bytes),
            .peer = correspondent_->world_rank});
  record({.details = TraceRecord::pack(TraceEvent::end, status_.ok() ? 0 : 1)});
}

}  // namespace fab::core
