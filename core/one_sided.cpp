#include "core/one_sided.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/communicator.h"
#include "core/context.h"
#include "core/plan.h"
#include "core/run.h"

namespace fab::core {

namespace {

// A number is 31 bits: the place of its channel, and how often the place was used.
constexpr unsigned kPlaceBits = 20;
constexpr std::uint32_t kPlaces = 1u << kPlaceBits;
constexpr std::uint32_t kUses = 1u << (31 - kPlaceBits);

/// What a write carries: the channel's number, and the slot of the message.
std::uint32_t data_of(std::uint32_t number, unsigned slot) noexcept { return number << 1 | slot; }

/// Tells lists of blocks apart whose sums are equal.
std::uint64_t fingerprint(std::span<const BlockRecord> blocks) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325ull;
  for (const BlockRecord& block : blocks) hash = (hash ^ block.bytes) * 0x100000001b3ull;
  return hash;
}

}  // namespace

Arrivals::Arrivals(Provider& provider)
    : provider_(provider), source_(provider.prepare_source(credit())), mailbox_(provider.expose(memory_)) {
  provider.set_listener(this);
}

Arrivals::~Arrivals() { provider_.set_listener(nullptr); }

void Arrivals::add(Channel& channel) {
  if (free_.empty()) {
    if (places_.size() == kPlaces)
      throw Error(Errc::no_resources,
                  fmt::format("this rank has {} messages of persistent exchanges, the most there can be", kPlaces));
    free_.push_back(static_cast<std::uint32_t>(places_.size()));
    places_.emplace_back();
  }
  const std::uint32_t place = free_.back();
  free_.pop_back();
  places_[place].channel = &channel;
  channel.number = places_[place].uses << kPlaceBits | place;
}

void Arrivals::remove(const Channel& channel) noexcept {
  Place& place = places_[channel.number % kPlaces];
  place.channel = nullptr;
  place.uses = (place.uses + 1) % kUses;
  free_.push_back(channel.number % kPlaces);
}

void Arrivals::written(std::uint32_t data) noexcept {
  const std::uint32_t number = data >> 1;
  if (number % kPlaces >= places_.size()) return;
  const Place& place = places_[number % kPlaces];
  if (place.channel != nullptr && place.uses == number >> kPlaceBits)
    place.channel->owner->written(*place.channel, data & 1);
}

/// What one rank tells another about a message between them.
struct OneSided::LetterEnd {
  std::uint32_t slot;    ///< of the message, as in the schedule
  std::uint32_t number;  ///< of the channel there
  std::uint64_t bytes;
  std::uint64_t blocks;  ///< their fingerprint
  RemoteMemory target;   ///< what it is written to; incoming ones only
  std::uint64_t slot_distance;
  bool refused;  ///< its memory could not be registered
};

/// And about all of them.
struct OneSided::Letter {
  RemoteMemory mailbox;
  std::uint64_t outgoing_count;
  std::uint64_t incoming_count;
  std::array<LetterEnd, kMostChannels> outgoing;
  std::array<LetterEnd, kMostChannels> incoming;
};

OneSided::OneSided(Run& run, std::uint64_t tag) : run_(run), arrivals_(run.plan().communicator().context().arrivals()) {
  try {
    add_channels();
    exchange_letters(tag);
  } catch (...) {
    withdraw();
    throw;
  }
}

OneSided::~OneSided() { withdraw(); }

// What others know of this object must not outlive it, nor a constructor that failed.
void OneSided::withdraw() noexcept {
  if (letters_ != nullptr) letters_->let_go();
  for (const auto& channel : channels_) arrivals_.remove(*channel);
}

void OneSided::add_channels() {
  const Plan& plan = run_.plan();
  channels_.reserve(plan.channel_count());
  for (std::size_t round = 0; round < plan.round_count(); ++round)
    for (const PlannedOperation& operation : plan.messages(round)) {
      if (operation.channel == PlannedOperation::kNoChannel || operation.part == PlannedOperation::Part::credit)
        continue;
      auto channel = std::make_unique<Channel>();
      channel->owner = this;
      channel->operation = &operation;
      register_memory(*channel);
      arrivals_.add(*channel);
      channels_.push_back(std::move(channel));
      auto partner = std::ranges::find(partners_, operation.peer, &Partner::peer);
      if (partner == partners_.end()) partner = partners_.insert(partner, {.peer = operation.peer});
      (operation.receives() ? partner->incoming : partner->outgoing).push_back(channels_.back().get());
    }
  const auto by_slot = [](const Channel* channel) { return channel->operation->record->slot; };
  for (Partner& partner : partners_) {
    std::ranges::stable_sort(partner.outgoing, {}, by_slot);
    std::ranges::stable_sort(partner.incoming, {}, by_slot);
  }
}

// The peer has to hear of a failure, which fails its starts, too.
void OneSided::register_memory(Channel& channel) {
  try {
    make_memory(channel);
  } catch (const Error& error) {
    channel.failure = {error.code(), std::string("its memory cannot be registered: ") + error.what()};
  }
}

void OneSided::make_memory(Channel& channel) {
  const PlannedOperation& operation = *channel.operation;
  if (operation.bytes == 0) return;
  const std::span<const iovec> pieces = run_.memory(operation);
  Provider& provider = *operation.peer->provider;
  if (!operation.receives()) {
    channel.memory = provider.prepare_source(pieces);
    return;
  }
  const std::uint64_t bytes = operation.two_slots ? operation.slot_distance() + operation.bytes : operation.bytes;
  channel.memory = provider.expose({static_cast<std::byte*>(pieces[0].iov_base), bytes});
}

OneSided::Letter OneSided::letter_to(const Partner& partner) const {
  Letter letter{.mailbox = arrivals_.mailbox(),
                .outgoing_count = partner.outgoing.size(),
                .incoming_count = partner.incoming.size(),
                .outgoing = {},
                .incoming = {}};
  const auto end_of = [this](const Channel* channel) {
    const PlannedOperation& operation = *channel->operation;
    return LetterEnd{.slot = operation.record->slot,
                     .number = channel->number,
                     .bytes = operation.bytes,
                     .blocks = fingerprint(run_.plan().schedule().blocks(*operation.record)),
                     // A message without bytes is a write all the same.
                     .target = channel->memory ? channel->memory->remote() : arrivals_.mailbox(),
                     .slot_distance = operation.two_slots && operation.bytes > 0 ? operation.slot_distance() : 0,
                     .refused = !channel->failure.ok()};
  };
  std::ranges::transform(partner.outgoing, letter.outgoing.begin(), end_of);
  std::ranges::transform(partner.incoming, letter.incoming.begin(), end_of);
  return letter;
}

// As an exchange of its own, which has its progress, time-outs and failures from the engine. Its scratch memory holds
// for each partner the letter to it, and the one from it.
void OneSided::exchange_letters(std::uint64_t tag) {
  Communicator& communicator = run_.plan().communicator();
  const Schedule& schedule = run_.plan().schedule();
  ScheduleBuilder builder(fmt::format("{}, memory of peers", schedule.name()), communicator.size());
  for (const Partner& partner : partners_) {
    const auto rank = schedule.peers()[partner_operation(partner).record->peer];
    const Layout letter = Layout::contiguous(sizeof(Letter));
    builder.send(rank, 0, {BufferId::scratch, builder.scratch(sizeof(Letter)), letter});
    builder.recv(rank, 0, {BufferId::scratch, builder.scratch(sizeof(Letter)), letter});
  }
  letters_ = &communicator.make_retired(builder.commit(), Plan::Use::runs, {}, tag);
  for (std::size_t i = 0; i < partners_.size(); ++i) {
    const Letter letter = letter_to(partners_[i]);
    std::memcpy(letter_memory(2 * i), &letter, sizeof(letter));
  }
  communicator.start_lasting(*letters_);
}

const PlannedOperation& OneSided::partner_operation(const Partner& partner) noexcept {
  return *(partner.outgoing.empty() ? partner.incoming : partner.outgoing).front()->operation;
}

std::byte* OneSided::letter_memory(std::size_t number) const noexcept {
  constexpr std::size_t kAlignment = 64;  // of scratch
  return letters_->scratch() + number * ((sizeof(Letter) + kAlignment - 1) / kAlignment * kAlignment);
}

bool OneSided::ready() {
  if (letters_ == nullptr || !failure_.ok()) return true;
  if (!letters_->done()) return false;
  failure_ = letters_->status();
  if (failure_.ok()) read_letters();
  std::exchange(letters_, nullptr)->let_go();
  return true;
}

void OneSided::read_letters() {
  for (std::size_t i = 0; i < partners_.size(); ++i) {
    Letter letter;
    std::memcpy(&letter, letter_memory(2 * i + 1), sizeof(letter));
    read(letter, partners_[i]);
  }
}

void OneSided::read(const Letter& letter, const Partner& partner) {
  Status fault;
  const auto note = [&fault](Status status) {
    if (fault.ok()) fault = std::move(status);
  };
  if (letter.outgoing_count != partner.incoming.size() || letter.incoming_count != partner.outgoing.size())
    note({make_error_code(Errc::mismatch),
          fmt::format("the other rank sends {} messages and receives {} where this one receives {} and sends {}",
                      letter.outgoing_count, letter.incoming_count, partner.incoming.size(), partner.outgoing.size())});
  // What is too long for its receiver is told first.
  for (std::size_t i = 0; fault.ok() && i < partner.incoming.size(); ++i)
    note(connect(*partner.incoming[i], letter, letter.outgoing[i]));
  for (std::size_t i = 0; fault.ok() && i < partner.outgoing.size(); ++i)
    note(connect(*partner.outgoing[i], letter, letter.incoming[i]));
  if (fault.ok()) return;
  for (const auto& channels : {partner.incoming, partner.outgoing})
    for (Channel* channel : channels) give_up(*channel, fault);
}

Status OneSided::connect(Channel& channel, const Letter& letter, const LetterEnd& other) const {
  if (other.refused) {
    give_up(channel, {make_error_code(Errc::no_resources), "the other rank could not register its memory"});
    return {};
  }
  const PlannedOperation& operation = *channel.operation;
  const bool in_blocks = operation.record->block_count > 1;
  const bool same_blocks = !in_blocks || other.blocks == fingerprint(run_.plan().schedule().blocks(*operation.record));
  if (other.slot != operation.record->slot || other.bytes != operation.bytes || !same_blocks) {
    const bool too_long = operation.receives() && other.bytes > operation.bytes;
    return {make_error_code(too_long ? Errc::truncated : Errc::mismatch),
            fmt::format("the other rank declares {} bytes where {} are declared here{}; the two ends of an edge must "
                        "agree about its size",
                        other.bytes, operation.bytes, other.bytes == operation.bytes ? " (in other blocks)" : "")};
  }
  channel.peer_number = other.number;
  channel.target = operation.receives() ? letter.mailbox : other.target;
  channel.slot_distance = other.slot_distance;
  return {};
}

void OneSided::give_up(Channel& channel, const Status& reason) {
  if (channel.failure.ok()) channel.failure = reason;
  if (channel.operation->receives()) channel.memory.reset();
}

std::string OneSided::describe_pending() const { return letters_ == nullptr ? "" : letters_->describe_pending(); }

unsigned OneSided::slot(const PlannedOperation& operation) const noexcept {
  return operation.two_slots ? starts_ & 1u : 0u;
}

std::uint64_t OneSided::slot_offset(const PlannedOperation& operation) const noexcept {
  return slot(operation) * operation.slot_distance();
}

bool OneSided::has_arrived(const Channel& channel) const noexcept {
  const unsigned its_slot = slot(*channel.operation);
  const std::uint64_t uses = channel.operation->two_slots ? (starts_ + its_slot) / 2 : starts_;
  return channel.arrived[its_slot] >= uses;
}

bool OneSided::may_write(const Channel& channel) const noexcept {
  if (!channel.operation->credited) return true;
  return channel.credits + (channel.operation->two_slots ? 1 : 0) >= starts_;
}

PostResult OneSided::post(Transfer& transfer, std::span<const iovec> pieces) {
  const PlannedOperation& operation = *transfer.operation;
  Channel& channel = *channels_[operation.channel];
  if (!channel.failure.ok()) {
    transfer.fail(channel.failure);
    return PostResult::pending;
  }
  const bool credit = operation.part == PlannedOperation::Part::credit;
  if (!credit && !(operation.receives() ? has_arrived(channel) : may_write(channel))) {
    channel.waiting = &transfer;
    return PostResult::pending;
  }
  if (operation.receives()) {
    channel.kept_starts = starts_;
    transfer.done(operation.bytes, 0);
    return PostResult::pending;
  }
  const PostResult result = write(channel, transfer, pieces);
  if (!credit && result != PostResult::again) channel.kept_starts = starts_;
  return result;
}

// A credit, like a message without bytes, is a write of one byte that nobody reads.
PostResult OneSided::write(const Channel& channel, Transfer& transfer, std::span<const iovec> pieces) {
  const PlannedOperation& operation = *transfer.operation;
  const Peer& peer = *operation.peer;
  const bool credit = operation.part == PlannedOperation::Part::credit;
  const unsigned its_slot = credit ? 0 : slot(operation);
  const std::uint32_t data = data_of(channel.peer_number, its_slot);
  if (credit || operation.bytes == 0)
    return peer.provider->post_write(peer.handle, arrivals_.credit(), arrivals_.credit_source(), channel.target, data,
                                     transfer);
  return peer.provider->post_write(peer.handle, pieces, *channel.memory,
                                   channel.target.behind(its_slot * channel.slot_distance), data, transfer);
}

void OneSided::written(Channel& channel, unsigned its_slot) noexcept {
  const bool incoming = channel.operation->receives();
  ++(incoming ? channel.arrived[its_slot] : channel.credits);
  if (channel.waiting == nullptr || !(incoming ? has_arrived(channel) : may_write(channel))) return;
  run_.repost(*std::exchange(channel.waiting, nullptr));
}

bool OneSided::cancel(Transfer& transfer) {
  if (transfer.operation->channel == PlannedOperation::kNoChannel) return false;
  Channel& channel = *channels_[transfer.operation->channel];
  if (channel.waiting != &transfer) return false;
  channel.waiting = nullptr;
  transfer.fail({make_error_code(Errc::cancelled), "the peer has not come"});
  return true;
}

void OneSided::broken(const PlannedOperation& operation) noexcept {
  if (operation.channel != PlannedOperation::kNoChannel) channels_[operation.channel]->kept_starts = starts_ - 1;
}

void OneSided::end_start(const Status& reason) {
  for (const auto& channel : channels_)
    if (channel->kept_starts != starts_)
      give_up(*channel, {reason.code,
                         "an earlier start failed here, so the two ends count differently; make a new "
                         "exchange (" +
                             reason.message + ")"});
}

}  // namespace fab::core
