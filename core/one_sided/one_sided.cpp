#include "core/one_sided/one_sided.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "core/base/hash.h"

namespace fab::core {

namespace {

static_assert(kMostWrites <= Arrivals::kLanes);

/// In traces, as providers name it in statistics.
constexpr std::string_view kWay = "written";

/// Tells lists of blocks apart whose sums are equal.
std::uint64_t fingerprint(std::span<const BlockRecord> blocks) noexcept {
  std::uint64_t hash = blocks.size();
  for (const BlockRecord& block : blocks) hash = hash_with(hash, block.bytes);
  return hash;
}

}  // namespace

const PlannedOperation& Channel::operation() const noexcept { return writes.front(); }

/// What one rank tells another about a message between them.
struct OneSided::ControlEnd {
  std::uint32_t slot;    ///< of the message, as in the schedule
  std::uint32_t number;  ///< of the channel there
  std::uint64_t bytes;
  std::uint64_t blocks;  ///< their fingerprint
  RemoteMemory target;   ///< what it is written to; incoming ones only
  std::uint64_t slot_distance;
  bool refused;  ///< its memory could not be registered
};

/// And about all of them.
struct OneSided::ControlMessage {
  RemoteMemory arrivals;
  std::uint64_t outgoing_count;
  std::uint64_t incoming_count;
  std::array<ControlEnd, kMostChannels> outgoing;
  std::array<ControlEnd, kMostChannels> incoming;
};

void Channel::written(unsigned lane) noexcept { owner.written(*this, lane); }

OneSided::OneSided(Run& run, std::uint64_t tag, const StartRun& start)
    : run_(run), arrivals_(run.membership().runtime().arrivals()) {
  try {
    add_channels();
    exchange_control_messages(tag, start);
  } catch (...) {
    withdraw();
    throw;
  }
}

OneSided::~OneSided() { withdraw(); }

// What others know of this object must not outlive it, nor a constructor that failed.
void OneSided::withdraw() noexcept {
  if (control_run_ != nullptr) control_run_->let_go();
  for (const auto& channel : channels_) {
    arrivals_.remove(*channel);
    if (any_start_failed_) withdraw_target(*channel);
  }
}

void OneSided::add_channels() {
  const Plan& plan = run_.plan();
  channels_.reserve(plan.channel_count());
  for (std::size_t round = 0; round < plan.round_count(); ++round)
    for (const PlannedOperation& operation : plan.messages(round)) {
      if (operation.channel == PlannedOperation::kNoChannel || operation.part == PlannedOperation::Part::credit)
        continue;
      Channel& channel = operation.write == 0 ? add_channel(operation) : *channels_.back();
      channel.writes = {&channel.operation(), operation.write + std::size_t{1}};
      register_memory(channel, operation);
    }
  const auto by_slot = [](const Channel* channel) { return channel->operation().record->slot; };
  for (Partner& partner : partners_) {
    std::ranges::stable_sort(partner.outgoing, {}, by_slot);
    std::ranges::stable_sort(partner.incoming, {}, by_slot);
  }
}

Channel& OneSided::add_channel(const PlannedOperation& head) {
  auto channel = std::make_unique<Channel>(*this);
  channel->writes = {&head, 1};
  arrivals_.add(*channel);
  channels_.push_back(std::move(channel));
  auto partner = std::ranges::find(partners_, head.peer, &Partner::peer);
  if (partner == partners_.end()) partner = partners_.insert(partner, {.peer = head.peer});
  (head.receives() ? partner->incoming : partner->outgoing).push_back(channels_.back().get());
  return *channels_.back();
}

// The peer has to hear of a failure, which fails its starts, too.
void OneSided::register_memory(Channel& channel, const PlannedOperation& write) {
  try {
    make_memory(channel, write);
  } catch (const Error& error) {
    channel.failure = {error.code(), std::string("its memory cannot be registered: ") + error.what()};
  }
}

// What is received is registered as a whole, each write's source for itself: it begins with another piece of memory.
void OneSided::make_memory(Channel& channel, const PlannedOperation& write) {
  if (write.bytes == 0) return;
  const std::span<const iovec> pieces = run_.memory(write);
  Provider& provider = *write.peer->provider;
  if (!write.receives()) {
    channel.sources[write.write] = provider.prepare_source(pieces);
  } else if (write.write == 0) {
    const std::uint64_t bytes = (write.two_slots ? write.slot_distance() : 0) + write.message_bytes;
    channel.target_memory = provider.expose({static_cast<std::byte*>(pieces[0].iov_base), bytes});
  }
}

OneSided::ControlMessage OneSided::control_message_to(const Partner& partner) const {
  ControlMessage message{.arrivals = arrivals_.remote(),
                         .outgoing_count = partner.outgoing.size(),
                         .incoming_count = partner.incoming.size(),
                         .outgoing = {},
                         .incoming = {}};
  const auto end_of = [this](const Channel* channel) FAB_REQUIRES(engine_lock) {
    const PlannedOperation& operation = channel->operation();
    const Registration* target = channel->target_memory.get();
    return ControlEnd{.slot = operation.record->slot,
                      .number = channel->number,
                      .bytes = operation.message_bytes,
                      .blocks = fingerprint(run_.plan().schedule().blocks(*operation.record)),
                      // A message without bytes is a write all the same.
                      .target = target != nullptr ? target->remote() : arrivals_.remote(),
                      .slot_distance = operation.two_slots && operation.bytes > 0 ? operation.slot_distance() : 0,
                      .refused = !channel->failure.ok()};
  };
  std::ranges::transform(partner.outgoing, message.outgoing.begin(), end_of);
  std::ranges::transform(partner.incoming, message.incoming.begin(), end_of);
  return message;
}

// As an exchange of its own, which has its progress, time-outs and failures from the engine. Its scratch memory holds
// for each partner the control message to it, and the one from it.
void OneSided::exchange_control_messages(std::uint64_t tag, const StartRun& start) {
  const Schedule& schedule = run_.plan().schedule();
  ScheduleBuilder builder(fmt::format("{}, memory of peers", schedule.name()), run_.membership().size());
  for (const Partner& partner : partners_) {
    const auto rank = schedule.peers()[partner_operation(partner).record->peer];
    const Layout layout = Layout::contiguous(sizeof(ControlMessage));
    builder.send(rank, 0, {BufferId::scratch, builder.scratch(sizeof(ControlMessage)), layout});
    builder.recv(rank, 0, {BufferId::scratch, builder.scratch(sizeof(ControlMessage)), layout});
  }
  start(builder.commit(), tag, [this](Run& run) {
    engine_lock.assert_held();
    control_run_ = &run;
    run.place_at(run_.place());
    for (std::size_t i = 0; i < partners_.size(); ++i) {
      const ControlMessage message = control_message_to(partners_[i]);
      std::memcpy(control_memory(run, 2 * i), &message, sizeof(message));
    }
  });
}

const PlannedOperation& OneSided::partner_operation(const Partner& partner) noexcept {
  return (partner.outgoing.empty() ? partner.incoming : partner.outgoing).front()->operation();
}

std::byte* OneSided::control_memory(const Run& run, std::size_t number) noexcept {
  constexpr std::size_t kAlignment = 64;  // of scratch
  return run.scratch() + number * ((sizeof(ControlMessage) + kAlignment - 1) / kAlignment * kAlignment);
}

bool OneSided::ready() {
  if (control_run_ == nullptr || !failure_.ok()) return true;
  if (!control_run_->done()) return false;
  failure_ = control_run_->status();
  if (failure_.ok()) read_control_messages();
  std::exchange(control_run_, nullptr)->let_go();
  return true;
}

void OneSided::read_control_messages() {
  for (std::size_t i = 0; i < partners_.size(); ++i) {
    ControlMessage message;
    std::memcpy(&message, control_memory(*control_run_, 2 * i + 1), sizeof(message));
    read(message, partners_[i]);
  }
}

void OneSided::read(const ControlMessage& message, const Partner& partner) {
  Status fault;
  const auto note = [&fault](Status status) {
    if (fault.ok()) fault = std::move(status);
  };
  if (message.outgoing_count != partner.incoming.size() || message.incoming_count != partner.outgoing.size())
    note({make_error_code(Errc::mismatch),
          fmt::format("the other rank sends {} messages and receives {} where this one receives {} and sends {}",
                      message.outgoing_count, message.incoming_count, partner.incoming.size(),
                      partner.outgoing.size())});
  // What is too long for its receiver is told first.
  for (std::size_t i = 0; fault.ok() && i < partner.incoming.size(); ++i)
    note(connect(*partner.incoming[i], message, message.outgoing[i]));
  for (std::size_t i = 0; fault.ok() && i < partner.outgoing.size(); ++i)
    note(connect(*partner.outgoing[i], message, message.incoming[i]));
  if (fault.ok()) return;
  for (const auto& channels : {partner.incoming, partner.outgoing})
    for (Channel* channel : channels) give_up(*channel, fault);
}

Status OneSided::connect(Channel& channel, const ControlMessage& message, const ControlEnd& other) const {
  if (other.refused) {
    give_up(channel, {make_error_code(Errc::no_resources), "the other rank could not register its memory"});
    return {};
  }
  const PlannedOperation& operation = channel.operation();
  const bool in_blocks = operation.record->block_count > 1;
  const bool same_blocks = !in_blocks || other.blocks == fingerprint(run_.plan().schedule().blocks(*operation.record));
  if (other.slot != operation.record->slot || other.bytes != operation.message_bytes || !same_blocks) {
    const bool too_long = operation.receives() && other.bytes > operation.message_bytes;
    return {make_error_code(too_long ? Errc::truncated : Errc::mismatch),
            fmt::format("the other rank declares {} bytes where {} are declared here{}; the two ends of an edge must "
                        "agree about its size",
                        other.bytes, operation.message_bytes,
                        other.bytes == operation.message_bytes ? " (in other blocks)" : "")};
  }
  channel.peer_number = other.number;
  channel.target = operation.receives() ? message.arrivals : other.target;
  channel.slot_distance = other.slot_distance;
  return {};
}

// A peer that has not heard of the failure may write.
void OneSided::withdraw_target(Channel& channel) {
  if (channel.target_memory != nullptr) channel.operation().peer->provider->withdraw(std::move(channel.target_memory));
}

void OneSided::give_up(Channel& channel, const Status& reason) {
  if (channel.failure.ok()) channel.failure = reason;
  withdraw_target(channel);
}

std::string OneSided::describe_pending() const {
  return control_run_ == nullptr ? "" : control_run_->describe_pending();
}

unsigned OneSided::lane(const PlannedOperation& write) const noexcept {
  return write.two_slots ? starts_ & 1u : write.write;
}

std::uint64_t OneSided::slot_offset(const PlannedOperation& operation) const noexcept {
  return operation.two_slots ? lane(operation) * operation.slot_distance() : 0;
}

bool OneSided::has_arrived(const Channel& channel, const PlannedOperation& write) const noexcept {
  const unsigned its_lane = lane(write);
  const std::uint64_t uses = write.two_slots ? (starts_ + its_lane) / 2 : starts_;
  return channel.arrived[its_lane] >= uses;
}

bool OneSided::may_write(const Channel& channel) const noexcept {
  const PlannedOperation& operation = channel.operation();
  if (!operation.credited) return true;
  return channel.credits + (operation.two_slots ? 1 : 0) >= starts_;
}

PostResult OneSided::post(Transfer& transfer, std::span<const iovec> pieces) {
  const PlannedOperation& operation = *transfer.operation;
  Channel& channel = *channels_[operation.channel];
  if (!channel.failure.ok()) {
    transfer.fail(channel.failure);
    return PostResult::pending;
  }
  const bool credit = operation.part == PlannedOperation::Part::credit;
  if (!credit && !(operation.receives() ? has_arrived(channel, operation) : may_write(channel))) {
    channel.waiting[operation.write] = &transfer;
    return PostResult::pending;
  }
  if (operation.receives()) {
    channel.kept_starts[operation.write] = starts_;
    transfer.done(operation.bytes, 0);
    return PostResult::pending;
  }
  const bool recorded = !credit && run_.membership().engine().recorder() != nullptr;
  const TraceRecord record = recorded ? run_.record_of(operation, kWay) : TraceRecord();
  const PostResult result = write(channel, transfer, pieces);
  if (recorded) run_.record_post(record, result);
  if (!credit && result != PostResult::again) channel.kept_starts[operation.write] = starts_;
  return result;
}

// A credit, like a message without bytes, is a write of one byte that is never read.
PostResult OneSided::write(const Channel& channel, Transfer& transfer, std::span<const iovec> pieces) {
  const PlannedOperation& operation = *transfer.operation;
  const Peer& peer = *operation.peer;
  const bool credit = operation.part == PlannedOperation::Part::credit;
  const std::uint32_t data = Arrivals::data_of(channel.peer_number, credit ? 0 : lane(operation));
  if (credit || operation.bytes == 0)
    return peer.provider->post_write(peer.handle, arrivals_.credit(), arrivals_.credit_source(), channel.target, data,
                                     transfer);
  const std::uint64_t place = operation.two_slots ? lane(operation) * channel.slot_distance : operation.message_offset;
  return peer.provider->post_write(peer.handle, pieces, *channel.sources[operation.write], channel.target.behind(place),
                                   data, transfer);
}

void OneSided::written(Channel& channel, unsigned its_lane) noexcept {
  const PlannedOperation& operation = channel.operation();
  const bool incoming = operation.receives();
  ++(incoming ? channel.arrived[its_lane] : channel.credits);
  std::span<Transfer*> waiting = channel.waiting;
  if (incoming) waiting = waiting.subspan(operation.two_slots ? 0 : its_lane, 1);
  const auto first = std::ranges::find_if(waiting, [](const Transfer* transfer) { return transfer != nullptr; });
  if (first == waiting.end()) return;
  if (incoming ? has_arrived(channel, *(*first)->operation) : may_write(channel)) run_.repost(waiting);
}

bool OneSided::cancel(Transfer& transfer) {
  if (transfer.operation->channel == PlannedOperation::kNoChannel) return false;
  Transfer*& waiting = channels_[transfer.operation->channel]->waiting[transfer.operation->write];
  if (waiting != &transfer) return false;
  waiting = nullptr;
  transfer.fail({make_error_code(Errc::cancelled), "the peer has not come"});
  return true;
}

void OneSided::broken(const PlannedOperation& operation) noexcept {
  if (operation.channel != PlannedOperation::kNoChannel)
    channels_[operation.channel]->kept_starts[operation.write] = starts_ - 1;
}

void OneSided::end_start(const Status& reason) {
  any_start_failed_ = true;
  for (const auto& channel : channels_) {
    const auto kept = std::span(channel->kept_starts).first(channel->writes.size());
    if (std::ranges::all_of(kept, [this](std::uint64_t starts) FAB_REQUIRES(engine_lock) { return starts == starts_; }))
      continue;
    give_up(*channel,
            {reason.code, "an earlier start failed here, so the two ends count differently; make a new exchange (" +
                              reason.message + ")"});
  }
}

}  // namespace fab::core
