// Records what a run does (FAB_TRACE).
#include <vector>

#include "core/base/hash.h"
#include "core/run/run.h"
#include "core/trace/recorder.h"

namespace fab::core {

namespace {

// Completions arrive inside Provider::post_* and Provider::poll, which run under the engine's lock.
Transfer& recorded_transfer(Completion& completion) FAB_ASSERT_CAPABILITY(engine_lock) {
  return static_cast<Transfer&>(completion);
}

}  // namespace

Post::Handlers Run::recording_handlers() noexcept {
  Post::Handlers recording = handlers();
  recording.done = [](Completion& self, std::uint64_t bytes, std::uint64_t tag) noexcept {
    const Transfer& transfer = recorded_transfer(self);
    transfer.run->record_settled(*transfer.operation);
    handlers().done(self, bytes, tag);
  };
  return recording;
}

// Both ends count the starts of a persistent exchange, whose messages have the same tags each time. The numbers of
// other calls are the same on all ranks, and wrap in tags alone.
void Run::record_start() {
  Ledger::Row& row = owner_.row();
  const bool persistent = (sequence_tag_ & tags_.persistent(0)) != 0;
  engine_.recorder()->record({.time_ns = Recorder::now_ns(),
                              .word = persistent ? owner_.starts : place_,
                              .details = TraceRecord::pack(TraceEvent::start, ++row.traced),
                              .exchange = static_cast<std::uint32_t>(number),
                              .peer = static_cast<Rank>(row.number)});
}

void Run::record_round() {
  if (round_ == 0) return;
  engine_.recorder()->record({.time_ns = Recorder::now_ns(),
                              .details = TraceRecord::pack(TraceEvent::round, 0, round_),
                              .exchange = static_cast<std::uint32_t>(number)});
}

void Run::record_end() {
  engine_.recorder()->record({.time_ns = Recorder::now_ns(),
                              .details = TraceRecord::pack(TraceEvent::end, status_.ok() ? 0 : 1),
                              .exchange = static_cast<std::uint32_t>(number)});
}

// The writes of a message have one tag.
std::uint64_t Run::key_of(const PlannedOperation& operation) const noexcept {
  const std::uint64_t tag = tag_of(operation) & ~tags_.framed();
  return operation.write == 0 ? tag : hash_with(tag, operation.write);
}

void Run::record_settled(const PlannedOperation& operation) {
  if (operation.part == PlannedOperation::Part::credit) return;
  const TraceEvent event = operation.receives() ? TraceEvent::received : TraceEvent::sent;
  engine_.recorder()->record({.time_ns = Recorder::now_ns(),
                              .word = key_of(operation),
                              .details = TraceRecord::pack(event, operation.bytes, round_),
                              .exchange = static_cast<std::uint32_t>(number),
                              .peer = operation.peer->world_rank});
}

// The time is taken before the message can arrive. Inside its post the run may end, and begin again.
TraceRecord Run::record_of(const PlannedOperation& operation, std::string_view way) const {
  const unsigned its_way = engine_.recorder()->number_of(way);
  return {.time_ns = Recorder::now_ns(),
          .word = key_of(operation),
          .details = TraceRecord::pack(TraceEvent::send, operation.bytes, round_, its_way),
          .exchange = static_cast<std::uint32_t>(number),
          .peer = operation.peer->world_rank};
}

void Run::record_post(TraceRecord record, PostResult result) const {
  if (result == PostResult::again) return;
  if (result == PostResult::done)
    record.details = TraceRecord::pack(TraceEvent::send_done, record.bytes(), record.round(), record.way());
  engine_.recorder()->record(record);
}

PostResult Run::send_and_record(Transfer& transfer, std::span<const iovec> pieces) {
  const PlannedOperation& operation = *transfer.operation;
  const Peer& peer = *operation.peer;
  const TraceRecord record = record_of(operation, peer.provider->way_of_repeated(peer.handle, pieces));
  const PostResult result = peer.provider->post_repeated(peer.handle, pieces, tag_of(operation), transfer);
  record_post(record, result);
  return result;
}

void Run::send_to_all_and_record(std::span<const iovec> pieces) {
  const auto operation_of = [](const Addressee& each) FAB_REQUIRES(engine_lock) -> const PlannedOperation& {
    return *recorded_transfer(*each.completion).operation;
  };
  Provider& provider = *operation_of(addressees_.front()).peer->provider;
  std::vector<TraceRecord> records;
  for (const Addressee& each : addressees_)
    records.push_back(record_of(operation_of(each), provider.way_of_repeated(each.to, pieces, addressees_.size())));
  provider.post_send_to_all(addressees_, pieces);
  for (std::size_t i = 0; i < records.size(); ++i) record_post(records[i], addressees_[i].result);
}

}  // namespace fab::core
