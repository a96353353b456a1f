#include "core/plan/plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "core/layout/tree.h"
#include "core/wire/frame.h"

namespace fab::core {

namespace {

/// Up to here one memcpy costs less than what a provider does for several pieces, and small sends can be injected.
constexpr std::uint64_t kStageBytes = 4096;

/// Up to here a copy out of a slot costs less than to wait for leave to write.
constexpr std::uint64_t kTwoSlotBytes = 32 * 1024;

/// Of a copy between two blocks in pieces: of the caches next to the processor, the larger one holds it and both
/// blocks.
constexpr std::uint64_t kCopyBytes = 32 * 1024;
/// With so many nodes, finding a place among them costs less than a tenth of the copy that follows.
constexpr std::uint32_t kFewNodes = 64;

constexpr std::uint64_t kStagingAlignment = 64;

constexpr std::uint64_t aligned(std::uint64_t bytes) noexcept {
  return (bytes + kStagingAlignment - 1) / kStagingAlignment * kStagingAlignment;
}

using Part = PlannedOperation::Part;

/// The pieces that hold bytes [first, last) of what `pieces` hold.
std::vector<PlannedPiece> cut(std::span<const PlannedPiece> pieces, std::uint64_t first, std::uint64_t last) {
  std::vector<PlannedPiece> result;
  std::uint64_t begin = 0;
  for (const PlannedPiece& piece : pieces) {
    const std::uint64_t from = std::max(first, begin);
    const std::uint64_t to = std::min(last, begin + piece.bytes);
    if (from < to) result.push_back({piece.buffer, piece.offset + static_cast<std::int64_t>(from - begin), to - from});
    begin += piece.bytes;
  }
  return result;
}

/// What a receive has room for in any case: as much as a first part may bring, where a longer message would do harm;
/// otherwise what tells the length of a message.
std::uint64_t least_room(const PlannedOperation& operation) {
  return operation.peer->in_parts() ? kHeadBytes : FrameHead::kBytes;
}

bool takes_surplus(const PlannedOperation& operation) {
  return operation.kind == OperationKind::recv && operation.message_bytes < least_room(operation);
}

}  // namespace

std::uint64_t bytes_at_once(const BlockRecord& from, const BlockRecord& to) noexcept {
  const bool is_cut = from.buffer != to.buffer && from.node_count <= kFewNodes && to.node_count <= kFewNodes;
  return is_cut ? std::min(from.bytes, kCopyBytes) : from.bytes;
}

std::uint64_t PlannedOperation::slot_distance() const noexcept { return aligned(message_bytes); }

Plan::Plan(Membership& membership, Schedule schedule, Use use)
    : membership_(membership), schedule_(std::move(schedule)) {
  PeerTable& peers = membership.runtime().peers();
  for (const Rank rank : schedule_.peers()) {
    peers_.push_back(&peers.find(membership.world_rank(rank)));
    peers_.back()->in_schedules = true;
  }
  one_sided_peers_.resize(peers_.size());
  if (use == Use::persistent_run) choose_one_sided_peers();
  for (const RoundRecord& round : schedule_.rounds()) plan_round(schedule_.operations(round));
}

std::uint64_t Plan::stage(std::uint64_t bytes) noexcept {
  const std::uint64_t offset = staging_bytes_;
  staging_bytes_ += aligned(bytes);
  return offset;
}

// A schedule's rounds have their messages first.
void Plan::plan_round(std::span<const OperationRecord> records) {
  const std::size_t first = operations_.size();
  for (const OperationRecord& record : records) plan_operation(record);
  const std::size_t all = operations_.size() - first;
  const auto local = static_cast<std::size_t>(
      std::ranges::count_if(records, [](const OperationRecord& record) { return !is_message(record.kind); }));
  find_common_sends(std::span(operations_).subspan(first, all - local));
  rounds_.push_back({.first = first, .messages = all - local, .local_operations = local});
  widest_round_ = std::max(widest_round_, all);
}

// Each is compared with the send before it alone: rounds may have as many sends as there are ranks.
void Plan::find_common_sends(std::span<PlannedOperation> operations) {
  std::uint16_t last_number = 0;
  std::size_t in_common = 1;
  PlannedOperation* last = nullptr;
  for (PlannedOperation& operation : operations) {
    if (operation.kind != OperationKind::send) continue;
    if (last != nullptr && have_in_common(*last, operation)) {
      if (last->common == 0) {
        if (++last_number == 0) return;  // all numbers are used: the rest is posted one by one
        last->common = last_number;
      }
      operation.common = last->common;
      most_in_common_ = std::max(most_in_common_, ++in_common);
    } else {
      in_common = 1;
    }
    last = &operation;
  }
}

bool Plan::have_in_common(const PlannedOperation& one, const PlannedOperation& other) const {
  const auto may_be_copied_once = [](const PlannedOperation& operation) {
    return operation.part == Part::whole && operation.channel == PlannedOperation::kNoChannel && !operation.packs() &&
           operation.peer->provider != nullptr && operation.peer->provider->capabilities().copies_once(operation.bytes);
  };
  return may_be_copied_once(one) && may_be_copied_once(other) && one.peer != other.peer &&
         one.peer->provider == other.peer->provider && one.bytes == other.bytes &&
         std::ranges::equal(pieces(one), pieces(other));
}

void Plan::plan_operation(const OperationRecord& record) {
  const PlannedOperation operation(record);
  switch (record.kind) {
    case OperationKind::copy:
      return plan_copy(operation);
    case OperationKind::reduce:
      if (record.reduction.op == ReduceOp::user) has_user_reductions_ = true;
      return operations_.push_back(operation);
    default:
      return plan_message(operation);
  }
}

void Plan::plan_copy(PlannedOperation operation) {
  const auto blocks = schedule_.blocks(*operation.record);
  if (blocks[0].node_count > 0 && blocks[1].node_count > 0)
    operation.staging_offset = stage(bytes_at_once(blocks[0], blocks[1]));
  operations_.push_back(operation);
}

void Plan::check_limits(const PlannedOperation& operation) const {
  const OperationRecord& record = *operation.record;
  const Runtime& runtime = membership_.runtime();
  const Rank rank = schedule_.peers()[record.peer];
  if (record.slot >= runtime.tags().slots())
    throw Error(Errc::no_resources,
                fmt::format("{}: {} messages between this rank and rank {}; at most {} are possible", schedule_.name(),
                            record.slot + 1, rank, runtime.tags().slots()));
  if (operation.peer->provider == nullptr) return;
  const std::uint64_t most = operation.peer->provider->capabilities().max_message_bytes;
  if (operation.message_bytes > most)
    throw Error(Errc::no_resources,
                fmt::format("{}: a message of {} bytes to or from rank {}; the provider carries at most {}",
                            schedule_.name(), operation.message_bytes, rank, most));
}

// A message of several parts has a frame, so that its head tells the length of the whole.
void Plan::plan_message(PlannedOperation operation) {
  const OperationRecord& record = *operation.record;
  const Runtime& runtime = membership_.runtime();
  operation.peer = peers_[record.peer];
  if (one_sided_peers_[record.peer]) return plan_channel(operation);
  const bool long_message = operation.peer->in_parts() && record.bytes > kHeadBytes;
  const bool framed = record.block_count > 1 || long_message || runtime.config().check;
  operation.frame_bytes = framed ? frame_bytes(record.block_count) : 0;
  operation.message_bytes = record.bytes + operation.frame_bytes;
  check_limits(operation);
  const Rank source = record.kind == OperationKind::send ? runtime.job().rank : operation.peer->world_rank;
  operation.message_tag = runtime.tags().message(source, record.slot);

  const Pieces in_place = pieces_in_place(operation);
  operation.staged = !fits_in_place(operation, in_place);
  const std::uint64_t staged_bytes = operation.staged ? bytes_to_stage(operation) : operation.frame_bytes;
  operation.staging_offset = stage(staged_bytes);
  Pieces pieces;
  if (staged_bytes > 0)
    pieces.push_back({staging(), static_cast<std::int64_t>(operation.staging_offset), staged_bytes});
  if (!operation.staged) pieces.insert(pieces.end(), in_place.begin(), in_place.end());
  add_parts(operation, pieces);
}

// Both ends of each edge choose the same, since they see the same numbers of messages.
void Plan::choose_one_sided_peers() {
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    const auto messages = [&](OperationKind kind) {
      return std::ranges::count_if(schedule_.operations(), [&](const OperationRecord& record) {
        return record.kind == kind && record.peer == i;
      });
    };
    const Provider* provider = peers_[i]->provider;
    const auto most = static_cast<std::size_t>(std::max(messages(OperationKind::send), messages(OperationKind::recv)));
    one_sided_peers_[i] = provider != nullptr && provider->capabilities().writes && most <= kMostChannels;
  }
}

// A one-sided message has no frame: the ends have compared their sizes before the first.
void Plan::plan_channel(PlannedOperation operation) {
  const OperationRecord& record = *operation.record;
  const bool incoming = record.kind == OperationKind::recv;
  operation.bytes = operation.message_bytes = record.bytes;
  check_limits(operation);
  operation.channel = channel_count_++;
  operation.two_slots = record.bytes <= kTwoSlotBytes;
  const bool answered = std::ranges::any_of(schedule_.operations(), [&](const OperationRecord& other) {
    return other.peer == record.peer && other.kind == (incoming ? OperationKind::send : OperationKind::recv);
  });
  operation.credited = !operation.two_slots || !answered;
  const Pieces in_place = pieces_in_place(operation);
  operation.staged = incoming ? operation.two_slots || in_place.size() > 1 : !fits_in_place(operation, in_place);
  if (operation.staged)
    operation.staging_offset = stage((incoming && operation.two_slots ? 2 : 1) * operation.slot_distance());
  if (incoming && operation.credited) {
    PlannedOperation credit = operation;
    credit.part = Part::credit;
    add(credit, 0, {});
  }
  Pieces pieces = in_place;
  if (operation.staged && record.bytes > 0)
    pieces = {{staging(), static_cast<std::int64_t>(operation.staging_offset), record.bytes}};
  add_writes(operation, pieces);
}

void Plan::add_writes(PlannedOperation operation, const Pieces& pieces) {
  const std::vector<MessagePart> writes = writes_of(operation.message_bytes);
  if (writes.size() > 1) operation.part = Part::head;
  for (const MessagePart& write : writes) {
    operation.bytes = write.bytes;
    add(operation, write.offset, cut(pieces, write.offset, write.offset + write.bytes));
    operation.part = Part::later;
    ++operation.write;
  }
}

// A provider that takes only one piece at a time has no place for the surplus, so the staging memory holds it.
std::uint64_t Plan::bytes_to_stage(const PlannedOperation& operation) const {
  const bool surplus_inside = takes_surplus(operation) && max_pieces(operation) == 1;
  return surplus_inside ? std::max(operation.message_bytes, least_room(operation)) : operation.message_bytes;
}

std::size_t Plan::max_pieces(const PlannedOperation& operation) noexcept {
  const Provider* provider = operation.peer->provider;
  return provider == nullptr ? kMaxPieces : std::min(provider->capabilities().iov_limit, kMaxPieces);
}

Plan::Pieces Plan::pieces_in_place(const PlannedOperation& operation) const {
  Pieces pieces;
  for (const BlockRecord& block : schedule_.blocks(*operation.record)) {
    if (block.bytes == 0) continue;
    std::vector<Piece> parts{{0, block.bytes}};
    if (block.node_count > 0) {
      // One more than a post can take is enough to see that they do not fit.
      parts.resize(std::min(piece_count(schedule_.nodes(block)), max_pieces(operation) + 1));
      list_pieces(schedule_.nodes(block), parts);
    }
    for (const Piece& part : parts) pieces.push_back({block.buffer, block.offset + part.offset, part.bytes});
  }
  return pieces;
}

// The user's memory as it is, where its pieces, the frame and the surplus fit one post and packing is not cheaper.
bool Plan::fits_in_place(const PlannedOperation& operation, const Pieces& pieces) const {
  const bool plain = pieces.size() <= 1 && operation.frame_bytes == 0;
  if (!plain && operation.message_bytes <= kStageBytes) return false;
  const bool surplus = takes_surplus(operation);
  const std::size_t extra = (operation.frame_bytes > 0 ? 1u : 0u) + (surplus ? 1u : 0u);
  return pieces.size() + extra <= max_pieces(operation);
}

void Plan::add_parts(const PlannedOperation& operation, const Pieces& pieces) {
  const TagFormat& tags = membership_.runtime().tags();
  std::vector<MessagePart> parts{{.offset = 0, .bytes = operation.message_bytes}};
  if (operation.peer->in_parts()) parts = parts_of(operation.message_bytes, tags);
  PlannedOperation first = operation;
  first.bytes = parts[0].bytes;
  first.part = parts.size() > 1 ? Part::head : Part::whole;
  if (operation.frame_bytes > 0) first.message_tag |= tags.framed();
  Pieces its_pieces = cut(pieces, 0, std::max(first.bytes, least_room(operation)));
  if (takes_surplus(operation) && its_pieces.size() < max_pieces(operation))
    its_pieces.push_back({surplus(), 0, least_room(operation) - first.bytes});
  add(first, 0, its_pieces);
  for (const MessagePart& part : std::span(parts).subspan(1)) {
    PlannedOperation later = operation;
    later.bytes = part.bytes;
    later.part = Part::later;
    later.message_tag |= part.mark;
    add(later, part.offset, cut(pieces, part.offset, part.offset + part.bytes));
  }
}

// What the part that begins there in the message has of its blocks.
void Plan::add_shares(PlannedOperation& operation, std::uint64_t offset) {
  operation.first_share = static_cast<std::uint32_t>(shares_.size());
  if (!operation.staged || operation.part == Part::credit) return;
  std::uint64_t position = operation.frame_bytes;
  for (const BlockRecord& block : schedule_.blocks(*operation.record)) {
    const std::uint64_t first = std::max(offset, position);
    const std::uint64_t end = std::min(offset + operation.bytes, position + block.bytes);
    if (first < end)
      shares_.push_back(share_of(block, {first - position, end - first}, operation.staging_offset + first));
    position += block.bytes;
  }
  operation.share_count = static_cast<std::uint32_t>(shares_.size()) - operation.first_share;
}

PlannedShare Plan::share_of(const BlockRecord& block, PackedRange range, std::uint64_t staging_offset) const {
  PlannedShare share{.block = &block, .range = range, .staging_offset = staging_offset};
  for (Trees trees = schedule_.nodes(block); !trees.empty(); trees = trees.subspan(trees.front().nodes)) {
    const std::uint64_t bytes = packed_bytes(trees.front());
    if (share.range.first < bytes) break;
    share.range.first -= bytes;
    share.first_node += trees.front().nodes;
  }
  return share;
}

void Plan::add(PlannedOperation operation, std::uint64_t offset, std::span<const PlannedPiece> pieces) {
  operation.message_offset = offset;
  add_shares(operation, offset);
  operation.first_piece = static_cast<std::uint32_t>(pieces_.size());
  operation.piece_count = static_cast<std::uint32_t>(pieces.size());
  pieces_.insert(pieces_.end(), pieces.begin(), pieces.end());
  operations_.push_back(operation);
}

Arrival Plan::find(OperationKind kind, Edge edge) const noexcept {
  if (rounds_.empty()) return {};
  const bool to_itself = edge.peer == membership_.rank();
  const auto belongs = [&](const PlannedOperation& operation) {
    const OperationRecord& record = *operation.record;
    if (to_itself) return record.kind == OperationKind::copy && record.slot == edge.slot;
    return record.kind == kind && operation.part != Part::credit && record.slot == edge.slot &&
           schedule_.peers()[record.peer] == edge.peer;
  };
  const auto first = std::ranges::find_if(operations_, belongs);
  const auto end = std::find_if_not(first, operations_.end(), belongs);
  return {.first = static_cast<std::uint32_t>(first - operations_.begin()),
          .count = static_cast<std::uint32_t>(end - first)};
}

std::vector<Arrival> Plan::arrivals(std::span<const Edge> sources) const {
  std::map<std::pair<Rank, std::uint32_t>, Arrival> known;
  const std::size_t rounds = round_count();
  for (std::size_t round = 0; round < rounds; ++round) {
    const auto operations = messages(round);
    for (std::size_t i = 0; i < operations.size(); ++i) {
      const OperationRecord& record = *operations[i].record;
      if (!operations[i].receives() || operations[i].part == Part::later) continue;
      std::size_t end = i + 1;
      while (end < operations.size() && operations[end].part == Part::later) ++end;
      const Arrival arrival{.round = static_cast<std::uint32_t>(round),
                            .first = static_cast<std::uint32_t>(i),
                            .count = static_cast<std::uint32_t>(end - i)};
      for (const BlockRecord& block : schedule_.blocks(record))
        known[{schedule_.peers()[record.peer], block.slot}] = block.bytes > 0 ? arrival : Arrival{};
    }
  }
  std::vector<Arrival> result;
  for (const Edge& edge : sources) {
    const auto found = known.find({edge.peer, edge.slot});
    const auto last_round = static_cast<std::uint32_t>(std::max<std::size_t>(rounds, 1) - 1);
    result.push_back(found != known.end() ? found->second : Arrival{.round = last_round});
  }
  return result;
}

PlannedAmounts Plan::amounts() const noexcept {
  PlannedAmounts amounts;
  for (const PlannedOperation& operation : operations_) {
    if (!is_message(operation.kind) || operation.part == Part::credit) continue;
    const MessageAmounts part = operation.amounts();
    const bool sends = operation.kind == OperationKind::send;
    (sends ? amounts.sent : amounts.received).add(part);
    if (operation.staged) (sends ? amounts.packed : amounts.unpacked).add(part);
    if (sends && operation.channel != PlannedOperation::kNoChannel) amounts.written.add(part);
  }
  return amounts;
}

bool Plan::find_ready() const noexcept {
  all_ready_ = membership_.has_context_id() &&
               std::ranges::all_of(peers_, [](const Peer* peer)
                                               FAB_REQUIRES(engine_lock) { return peer->state == Peer::State::ready; });
  if (all_ready_) urgency_ = find_urgency();
  return all_ready_;
}

// The end of a long send within a node needs its receiver's polls, and is hardly urgent: a rank that waits for it waits
// for a receiver that computes.
Urgency Plan::find_urgency() const noexcept {
  const auto longer_than = [this](std::uint64_t Capabilities::*most) {
    return std::ranges::any_of(operations_, [most](const PlannedOperation& operation) FAB_REQUIRES(engine_lock) {
      return operation.peer != nullptr && operation.message_bytes > operation.peer->provider->capabilities().*most;
    });
  };
  if (longer_than(&Capabilities::unattended_bytes)) return Urgency::polls;
  const auto rounds_with_messages =
      std::ranges::count_if(rounds_, [](const Round& round) { return round.messages > 0; });
  if (rounds_with_messages > 1 || has_user_reductions_) return Urgency::peers;
  return longer_than(&Capabilities::detached_bytes) ? Urgency::sends : Urgency::none;
}

const Peer* Plan::failed_peer() const noexcept {
  const auto found = std::find_if(peers_.begin(), peers_.end(), [](const Peer* peer) FAB_REQUIRES(engine_lock) {
    return peer->state == Peer::State::failed;
  });
  return found == peers_.end() ? nullptr : *found;
}

const Status* Plan::find_failure() const noexcept {
  if (const Status* refusal = membership_.refusal()) return refusal;
  const Peer* peer = failed_peer();
  return peer == nullptr ? nullptr : &peer->failure;
}

std::string Plan::missing_peers() const {
  std::string text;
  for (std::size_t i = 0; i < peers_.size(); ++i)
    if (peers_[i]->state == Peer::State::looking_up)
      text += fmt::format("{}rank {} (number {} of the job) has not published its address", text.empty() ? "" : "; ",
                          schedule_.peers()[i], peers_[i]->world_rank);
  if (!text.empty()) text += " (no call of fab's there yet; under fab_run all ranks need the same FAB_DROPIN)";
  if (!membership_.has_context_id())
    text += fmt::format("{}the communicator has no context id yet: not all of its ranks have used it",
                        text.empty() ? "" : "; ");
  return text;
}

}  // namespace fab::core
