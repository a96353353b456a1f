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

/// What two ranks tell each other about the messages between them.
struct OneSided::Letter {
  struct End {
    std::uint32_t slot;    ///< of the message, as in the schedule
    std::uint32_t number;  ///< of the channel there
    std::uint64_t bytes;
    std::uint64_t blocks;  ///< their fingerprint
    RemoteMemory target;   ///< what it is written to; incoming ones only
    std::uint64_t slot_distance;
  };
  RemoteMemory mailbox;
  std::uint64_t outgoing_count;
  std::uint64_t incoming_count;
  std::array<End, kMostChannels> outgoing;
  std::array<End, kMostChannels> incoming;
};

OneSided::OneSided(Run& run, std::uint64_t tag) : run_(run), arrivals_(run.plan().communicator().context().arrivals()) {
  add_channels();
  exchange_letters(tag);
}

OneSided::~OneSided() {
  if (letters_ != nullptr) letters_->let_go();
  for (const auto& channel : channels_) arrivals_.remove(*channel);
}

void OneSided::add_channels() {
  const Plan& plan = run_.plan();
  for (std::size_t round = 0; round < plan.schedule().rounds().size(); ++round)
    for (const PlannedOperation& operation : plan.operations(round)) {
      if (operation.channel == PlannedOperation::kNoChannel || operation.part == PlannedOperation::Part::credit)
        continue;
      auto channel = std::make_unique<Channel>();
      channel->owner = this;
      channel->operation = &operation;
      make_memory(*channel);
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

void OneSided::make_memory(Channel& channel) {
  const PlannedOperation& operation = *channel.operation;
  if (operation.bytes == 0) return;
  std::array<iovec, kMaxPieces> pieces;
  const std::size_t count = run_.list_memory(operation, pieces);
  Provider& provider = *operation.peer->provider;
  if (!operation.receives()) {
    channel.memory = provider.prepare_source(std::span(pieces).first(count));
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
    return Letter::End{.slot = operation.record->slot,
                       .number = channel->number,
                       .bytes = operation.bytes,
                       .blocks = fingerprint(run_.plan().schedule().blocks(*operation.record)),
                       // A message without bytes is a write all the same.
                       .target = channel->memory ? channel->memory->remote() : arrivals_.mailbox(),
                       .slot_distance = operation.two_slots && operation.bytes > 0 ? operation.slot_distance() : 0};
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
  if (letter.outgoing_count != partner.incoming.size() || letter.incoming_count != partner.outgoing.size())
    return disagree(
        partner_operation(partner),
        fmt::format("the other rank sends {} messages and receives {} where this one receives {} and sends {}",
                    letter.outgoing_count, letter.incoming_count, partner.incoming.size(), partner.outgoing.size()),
        false);
  const auto connect = [&](Channel& channel, const Letter::End& end) {
    const PlannedOperation& operation = *channel.operation;
    const bool in_blocks = operation.record->block_count > 1;
    if (end.slot != operation.record->slot || end.bytes != operation.bytes ||
        (in_blocks && end.blocks != fingerprint(run_.plan().schedule().blocks(*operation.record))))
      return disagree(operation,
                      fmt::format("the other rank declares {} bytes where {} are declared here{}; the two ends of an "
                                  "channel must agree about its size",
                                  end.bytes, operation.bytes, end.bytes == operation.bytes ? " (in other blocks)" : ""),
                      operation.receives() && end.bytes > operation.bytes);
    channel.peer_number = end.number;
    channel.target = operation.receives() ? letter.mailbox : end.target;
    channel.slot_distance = end.slot_distance;
  };
  for (std::size_t i = 0; i < partner.outgoing.size(); ++i) connect(*partner.outgoing[i], letter.incoming[i]);
  for (std::size_t i = 0; i < partner.incoming.size(); ++i) connect(*partner.incoming[i], letter.outgoing[i]);
}

void OneSided::disagree(const PlannedOperation& operation, const std::string& fault, bool sent_more) {
  if (!failure_.ok()) return;
  failure_ = {make_error_code(sent_more ? Errc::truncated : Errc::mismatch),
              fmt::format("{}: {}", run_.describe(operation), fault)};
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
  const Peer& peer = *operation.peer;
  if (operation.part == PlannedOperation::Part::credit)
    return peer.provider->post_write(peer.handle, arrivals_.credit(), arrivals_.credit_source(), channel.target,
                                     data_of(channel.peer_number, 0), transfer);
  if (operation.receives()) {
    if (has_arrived(channel))
      transfer.done(operation.bytes, 0);
    else
      channel.waiting = &transfer;
    return PostResult::pending;
  }
  if (!may_write(channel)) {
    channel.waiting = &transfer;
    return PostResult::pending;
  }
  const unsigned its_slot = slot(operation);
  const std::uint32_t data = data_of(channel.peer_number, its_slot);
  if (operation.bytes == 0)
    return peer.provider->post_write(peer.handle, arrivals_.credit(), arrivals_.credit_source(), channel.target, data,
                                     transfer);
  return peer.provider->post_write(peer.handle, pieces, *channel.memory,
                                   channel.target.behind(its_slot * channel.slot_distance), data, transfer);
}

void OneSided::written(Channel& channel, unsigned its_slot) noexcept {
  const bool incoming = channel.operation->receives();
  ++(incoming ? channel.arrived[its_slot] : channel.credits);
  if (channel.waiting == nullptr || !(incoming ? has_arrived(channel) : may_write(channel))) return;
  Transfer& transfer = *std::exchange(channel.waiting, nullptr);
  if (incoming)
    transfer.done(channel.operation->bytes, 0);
  else
    run_.repost(transfer);
}

bool OneSided::cancel(Transfer& transfer) {
  if (transfer.operation->channel == PlannedOperation::kNoChannel) return false;
  Channel& channel = *channels_[transfer.operation->channel];
  if (channel.waiting != &transfer) return false;
  channel.waiting = nullptr;
  transfer.fail({make_error_code(Errc::cancelled), "the peer has not come"});
  return true;
}

void OneSided::end(const Status& reason) {
  if (failure_.ok())
    failure_ = {reason.code, "an earlier start failed, and its peers may count differently; make a new exchange (" +
                                 reason.message + ")"};
  for (const auto& channel : channels_)
    if (channel->operation->receives()) channel->memory.reset();
}

}  // namespace fab::core
