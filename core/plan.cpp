#include "core/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/communicator.h"
#include "core/context.h"
#include "core/frame.h"
#include "core/run.h"

namespace fab::core {

namespace {

/// Up to here one memcpy costs less than what a provider does for several pieces, and small sends can be injected.
constexpr std::uint64_t kStageBytes = 4096;

constexpr std::uint64_t kStagingAlignment = 64;

}  // namespace

Plan::Plan(Communicator& communicator, Schedule schedule) : communicator_(communicator), schedule_(std::move(schedule)) {
  Engine& engine = communicator.engine();
  engine.mutex.assert_held();
  for (const Rank rank : schedule_.peers())
    peers_.push_back(&communicator.context().peers().find(communicator.world_rank(rank)));
  operations_.reserve(schedule_.operations().size());
  for (const OperationRecord& record : schedule_.operations()) prepare(record);
  for (const RoundRecord& round : schedule_.rounds()) widest_round_ = std::max(widest_round_, round.operation_count);
}

Plan::~Plan() = default;

std::uint64_t Plan::stage(std::uint64_t bytes) noexcept {
  const std::uint64_t offset = staging_bytes_;
  staging_bytes_ += (bytes + kStagingAlignment - 1) / kStagingAlignment * kStagingAlignment;
  return offset;
}

void Plan::prepare(const OperationRecord& record) {
  PreparedOperation& operation = operations_.emplace_back();
  operation.record = &record;
  if (record.kind == OperationKind::copy)
    prepare_copy(operation);
  else
    prepare_message(operation);
}

void Plan::prepare_copy(PreparedOperation& operation) {
  const auto blocks = schedule_.blocks(*operation.record);
  if (blocks[0].node_count > 0 && blocks[1].node_count > 0) operation.staging_offset = stage(blocks[0].bytes);
}

void Plan::prepare_message(PreparedOperation& operation) {
  const OperationRecord& record = *operation.record;
  const Context& context = communicator_.context();
  if (record.slot >= context.tags().slots())
    throw Error(Errc::no_resources, fmt::format("{}: {} messages between this rank and rank {}; at most {} are possible",
                                                schedule_.name(), record.slot + 1, schedule_.peers()[record.peer],
                                                context.tags().slots()));
  operation.peer = peers_[record.peer];
  operation.frame_bytes = frame_bytes(record.block_count, context.config().check);
  operation.wire_bytes = record.bytes + operation.frame_bytes;
  if (operation.wire_bytes > context.capabilities().max_message_bytes)
    throw Error(Errc::no_resources,
                fmt::format("{}: a message of {} bytes to or from rank {}; the provider carries at most {}",
                            schedule_.name(), operation.wire_bytes, schedule_.peers()[record.peer],
                            context.capabilities().max_message_bytes));
  const Rank source =
      record.kind == OperationKind::send ? context.job().rank : operation.peer->world_rank;
  operation.message_tag = context.tags().message(source, record.slot) |
                          (operation.frame_bytes > 0 ? context.tags().framed() : 0);
  if (!gather(operation)) {
    operation.wire = Wire::staged;
    operation.staging_offset = stage(operation.wire_bytes);
  }
}

// Leaves the message in the user's memory where its pieces fit one post and packing would not be cheaper.
bool Plan::gather(PreparedOperation& operation) {
  const auto blocks = schedule_.blocks(*operation.record);
  const bool one_piece = blocks.size() == 1 && blocks[0].node_count == 0 && operation.frame_bytes == 0;
  if (!one_piece && operation.wire_bytes <= kStageBytes) return false;
  std::size_t count = operation.frame_bytes > 0 ? 1 : 0;
  for (const BlockRecord& block : blocks) count += block.node_count == 0 ? 1 : piece_count(schedule_.nodes(block));
  if (count > communicator_.context().capabilities().iov_limit) return false;

  operation.wire = count == 1 ? Wire::direct : Wire::gather;
  if (operation.frame_bytes > 0) operation.staging_offset = stage(operation.frame_bytes);
  operation.first_piece = static_cast<std::uint32_t>(pieces_.size());
  for (const BlockRecord& block : blocks) {
    std::vector<Piece> parts{{0, block.bytes}};
    if (block.node_count > 0) {
      parts.resize(piece_count(schedule_.nodes(block)));
      list_pieces(schedule_.nodes(block), parts);
    }
    for (const Piece& part : parts) pieces_.push_back({block.buffer, block.offset + part.offset, part.bytes});
  }
  operation.piece_count = static_cast<std::uint32_t>(pieces_.size()) - operation.first_piece;
  return true;
}

bool Plan::ready() const noexcept {
  if (!all_ready_)
    all_ready_ = communicator_.has_context_id() && std::all_of(peers_.begin(), peers_.end(), [](const Peer* peer) {
                   return peer->state == Peer::State::ready;
                 });
  return all_ready_;
}

const Peer* Plan::failed_peer() const noexcept {
  if (all_ready_) return nullptr;
  const auto found =
      std::find_if(peers_.begin(), peers_.end(), [](const Peer* peer) { return peer->state == Peer::State::failed; });
  return found == peers_.end() ? nullptr : *found;
}

std::string Plan::missing_peers() const {
  std::string text;
  for (std::size_t i = 0; i < peers_.size(); ++i)
    if (peers_[i]->state == Peer::State::looking_up)
      text += fmt::format("{}rank {} (number {} of the job) has not published its address", text.empty() ? "" : "; ",
                          schedule_.peers()[i], peers_[i]->world_rank);
  if (!communicator_.has_context_id())
    text += fmt::format("{}the communicator has no context id yet: not all of its ranks have used it",
                        text.empty() ? "" : "; ");
  return text;
}

Run& Plan::acquire() {
  if (idle_runs_ == nullptr) return *runs_.emplace_back(std::make_unique<Run>(*this));
  Run& run = *idle_runs_;
  idle_runs_ = run.next_idle;
  return run;
}

void Plan::release(Run& run) noexcept {
  run.next_idle = idle_runs_;
  idle_runs_ = &run;
}

}  // namespace fab::core
