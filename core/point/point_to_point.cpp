#include "core/point/point_to_point.h"

#include <fmt/core.h>

#include <utility>

namespace fab::core {

namespace {

/// So many envelopes may come through the network between two polls without any of them having to wait.
constexpr int kNetworkListeners = 8;
/// Ranks of a communicator from which a receive from any source expects something: connections to all of them.
constexpr int kMostLookedUp = 64;

}  // namespace

static_assert(kEnvelopeBytes <= kHeadBytes, "an inbox has no room for it");
static_assert(Bundles::kMost <= kEnvelopeBytes);

PointToPoint::PointToPoint(Runtime& runtime)
    : runtime_(runtime), bundles_(engine(), [this](OutgoingEnvelope& bundle) {
        engine_lock.assert_held();
        post(bundle);
      }) {}

void PointToPoint::listen() {
  Provider* const network = runtime_.transports().network.get();
  if (network == nullptr || runtime_.job().size == 1) return;
  for (int i = 0; i < kNetworkListeners; ++i)
    post(network_listeners_.emplace_back(*this, incoming_handlers(), *network, nullptr));
  if (runtime_.inbox() != nullptr)
    runtime_.inbox()->forward([this](std::span<const std::byte> wire) {
      engine_lock.assert_held();
      handle(wire);
    });
}

PointToPoint::~PointToPoint() = default;

template <class Operation>
Operation& PointToPoint::acquire(Slots<Operation>& operations) {
  const std::uint64_t limit = runtime_.tags().point_to_point_payloads();
  if (operations.all_in_use() && operations.size() >= limit)
    throw Error(Errc::no_resources, fmt::format("{} messages are in flight, the maximum: complete some first", limit));
  return operations.take(static_cast<PointHost&>(*this));
}

void PointToPoint::check_open(const char* call) const {
  if (runtime_.closed()) throw Error(Errc::cancelled, fmt::format("{}: the context is closed", call));
}

MatchQueues& PointToPoint::queues_of(const ContextId& communicator) {
  const Key key{communicator.owner, communicator.number};
  if (recent_queues_ == nullptr || recent_queues_->first != key)
    recent_queues_ = &*match_queues_.try_emplace(key).first;
  return recent_queues_->second;
}

MatchQueues& PointToPoint::queues_of(Membership& communicator) {
  MatchQueues*& queues = communicator.match_queues();
  if (queues == nullptr) {
    queues = &queues_of(communicator.context_id());
    queues->join();
  }
  return *queues;
}

// Ids are given once, so no communicator will receive what has come, or still comes; but the job's own has several
// handles, and gets more.
void PointToPoint::communicator_ended(const ContextId& communicator) {
  if (communicator == ContextId{} || runtime_.closed()) return;
  const Key key{communicator.owner, communicator.number};
  if (match_queues_.at(key).leave()) ended_.push_back(key);
  std::erase_if(ended_, [this](const Key& ended) FAB_REQUIRES(engine_lock) {
    MatchQueues& queues = match_queues_.at(ended);
    for (const Unexpected& message : queues.take_all()) drop(message);
    if (!queues.none_waits()) return false;
    end_queues(ended);
    return true;
  });
}

void PointToPoint::end_queues(const Key& communicator) {
  if (recent_queues_ != nullptr && recent_queues_->first == communicator) recent_queues_ = nullptr;
  match_queues_.erase(communicator);
}

SendOperation& PointToPoint::acquire_send(const Membership& communicator, std::uint64_t bytes, Destination to,
                                          SendMode mode) {
  const Correspondent& correspondent = this->correspondent(communicator.world_rank(to.rank));
  if (correspondent.peer != nullptr && correspondent.peer->provider != nullptr) {
    const std::uint64_t most = correspondent.peer->provider->capabilities().max_message_bytes;
    if (bytes > most)
      throw Error(
          Errc::no_resources,
          fmt::format("send: a message of {} bytes to rank {}; the provider carries at most {}", bytes, to.rank, most));
  }
  if (mode == SendMode::buffered && buffered_bytes_ + bytes > kMostBufferedBytes)
    throw Error(Errc::no_resources,
                fmt::format("send: no room for a buffered message of {} bytes; others in flight take {} of {} bytes",
                            bytes, buffered_bytes_, kMostBufferedBytes));
  return acquire(sends_);
}

void PointToPoint::start_send(SendOperation& send, Membership& communicator, MessageMemory memory, Destination to,
                              SendMode mode, std::unique_ptr<std::byte[]> copy) {
  Correspondent& correspondent = this->correspondent(communicator.world_rank(to.rank));
  send_counts_.called();
  send.start(communicator, std::move(memory), to, mode, correspondent);
  send.keep(std::move(copy));
  if (correspondent.failure.ok())
    send_message(send, correspondent);
  else
    send.fail_like(correspondent);
}

Pending& PointToPoint::send(Membership& communicator, MessageMemory memory, Destination to, SendMode mode) {
  check_open("send");
  SendOperation& send = acquire_send(communicator, memory.bytes(), to, mode);
  start_send(send, communicator, std::move(memory), to, mode);
  return send;
}

// The receive is there first, so that a message that comes at once finds it.
Pending& PointToPoint::start_both(std::string_view call, Membership& communicator, MessageMemory out, Destination to,
                                  MessageMemory in, Source from, std::unique_ptr<std::byte[]> copy) {
  const bool sends = to.rank != kNoRank;
  const bool receives = from.rank != kNoRank;
  SendrecvOperation& both = sendrecvs_.take(static_cast<PointHost&>(*this));
  SendOperation* send = nullptr;
  try {
    both.start(communicator, call, (sends ? 1 : 0) + (receives ? 1 : 0));
    if (sends) send = &acquire_send(communicator, out.bytes(), to, SendMode::standard);
    if (receives) both.join(start_receive(communicator, std::move(in), from, false));
  } catch (...) {
    if (send != nullptr) sends_.give_back(*send);
    sendrecvs_.give_back(both);
    throw;
  }
  if (send == nullptr) return both;
  start_send(*send, communicator, std::move(out), to, SendMode::standard, std::move(copy));
  both.join(*send);
  return both;
}

Pending& PointToPoint::sendrecv(Membership& communicator, MessageMemory out, Destination to, MessageMemory in,
                                Source from) {
  check_open("sendrecv");
  return start_both("sendrecv", communicator, std::move(out), to, std::move(in), from, nullptr);
}

Pending& PointToPoint::sendrecv_replace(Membership& communicator, const MessageMemory& memory, Destination to,
                                        Source from) {
  check_open("sendrecv_replace");
  std::unique_ptr<std::byte[]> copy(to.rank == kNoRank ? nullptr : new std::byte[memory.bytes()]);
  if (copy != nullptr) memory.pack(copy.get());
  const MessageMemory out(copy.get(), memory.bytes());
  return start_both("sendrecv_replace", communicator, out, to, memory, from, std::move(copy));
}

Pending& PointToPoint::receive(Membership& communicator, MessageMemory memory, Source from) {
  check_open("recv");
  return start_receive(communicator, std::move(memory), from, false);
}

Pending& PointToPoint::probe(Membership& communicator, Source from) {
  check_open("probe");
  return start_receive(communicator, {}, from, true);
}

ReceiveOperation& PointToPoint::start_receive(Membership& communicator, MessageMemory memory, Source from, bool probe) {
  Correspondent* known = nullptr;
  if (from.rank == kAnySource)
    listen_to_node();
  else
    known = &correspondent(communicator.world_rank(from.rank));
  MatchQueues& queues = queues_of(communicator);
  ReceiveOperation& receive = acquire(receives_);
  receive_counts_.called();
  receive.start(communicator, queues, std::move(memory), from, probe, known);
  if (probe) {
    if (const Envelope* found = queues.find(from)) {
      receive.found(*found);
      return receive;
    }
  } else if (const std::optional<Unexpected> message = queues.take(receive)) {
    receive.take(*message->correspondent, message->envelope, message->bytes.get());
    return receive;
  }
  if (const Correspondent* lost = failed(communicator, known))
    receive.fail_like(*lost);
  else
    receive.wait_for_message();
  return receive;
}

std::optional<MessageInfo> PointToPoint::find(Membership& communicator, Source from) {
  check_open("iprobe");
  Correspondent* known = nullptr;
  if (from.rank == kAnySource)
    listen_to_node();
  else
    known = &correspondent(communicator.world_rank(from.rank));
  if (const Envelope* found = queues_of(communicator).find(from))
    return MessageInfo{found->source, found->tag, found->bytes};
  if (const Correspondent* lost = failed(communicator, known))
    throw Error(lost->failure.errc(), "iprobe: " + lost->failure.message);
  return std::nullopt;
}

// A receive from any rank waits for the dead ones, too: an error is better than to wait for ever.
const Correspondent* PointToPoint::failed(const Membership& communicator, const Correspondent* from) const {
  if (from != nullptr) return from->failure.ok() ? nullptr : from;
  for (const auto& [rank, each] : correspondents_)
    if (!each->failure.ok() && communicator.has_member(rank)) return each.get();
  return nullptr;
}

void PointToPoint::visit_members(const Membership& communicator, const Pending::PeerVisitor& visit) {
  if (communicator.size() <= kMostLookedUp) {
    for (Rank rank = 0; rank < communicator.size(); ++rank)
      if (const Rank world_rank = communicator.world_rank(rank); world_rank != runtime_.job().rank)
        visit(runtime_.peers().find(world_rank));
    return;
  }
  for (const auto& [rank, each] : correspondents_)
    if (each->peer != nullptr && communicator.has_member(rank)) visit(*each->peer);
}

void PointToPoint::peer_lost(Rank world_rank, const Status& reason) { lose(correspondent(world_rank), reason); }

Correspondent& PointToPoint::look_up_correspondent(Rank world_rank) {
  std::unique_ptr<Correspondent>& place = correspondents_[world_rank];
  Correspondent*& recent = recent_[static_cast<std::size_t>(world_rank) % kRecent];
  if (place != nullptr) return *(recent = place.get());
  place = std::make_unique<Correspondent>();
  Correspondent& correspondent = *place;
  recent = &correspondent;
  correspondent.world_rank = world_rank;
  if (world_rank == runtime_.job().rank) return correspondent;
  correspondent.peer = &runtime_.peers().find(world_rank);
  correspondent.is_far = !runtime_.peers().is_near(world_rank);
  if (correspondent.peer->state == Peer::State::looking_up)
    correspondent.peer->look_up_ended = [this, &correspondent] {
      engine_lock.assert_held();
      look_up_ended(correspondent);
    };
  else
    look_up_ended(correspondent);
  return correspondent;
}

void PointToPoint::look_up_ended(Correspondent& correspondent) {
  const Peer& peer = *correspondent.peer;
  if (peer.state == Peer::State::failed) return lose(correspondent, peer.failure);
  if (runtime_.peers().is_near(correspondent.world_rank)) {
    correspondent.listener =
        std::make_unique<IncomingEnvelope>(*this, incoming_handlers(), *peer.provider, &correspondent);
    post(*correspondent.listener);
  }
  for (Post* waiting : std::exchange(correspondent.waiting, {})) waiting->attempt(*waiting);
}

// What has come from there stays.
void PointToPoint::lose(Correspondent& correspondent, const Status& reason) {
  if (!correspondent.failure.ok()) return;
  correspondent.failed_rank = blame(correspondent, reason);
  correspondent.failure = reason;
  if (correspondent.failed_rank != kNoRank)
    correspondent.failure.message = runtime_.losses().explain(correspondent.failed_rank, *correspondent.peer, reason);
  give_up_envelopes(correspondent.world_rank);
  for (Post* waiting : std::exchange(correspondent.waiting, {})) waiting->attempt(*waiting);
  for (SendOperation& send : sends_)
    if (send.correspondent() == &correspondent) send.correspondent_lost();
  for (ReceiveOperation& receive : receives_) receive.correspondent_lost(correspondent);
}

Rank PointToPoint::blame(const Correspondent& correspondent, const Status& reason) {
  return correspondent.peer == nullptr ? kNoRank : runtime_.losses().note(*correspondent.peer, reason);
}

void PointToPoint::give_up_envelopes(Rank world_rank) {
  for (Slots<OutgoingEnvelope>* envelopes : {&short_envelopes_, &long_envelopes_})
    for (OutgoingEnvelope& out : *envelopes)
      if (out.correspondent != nullptr && out.correspondent->world_rank == world_rank) give_up(out);
}

void PointToPoint::post_when_ready(Correspondent& correspondent, Post& post) {
  if (correspondent.peer != nullptr && correspondent.peer->state == Peer::State::looking_up)
    correspondent.waiting.push_back(&post);
  else
    post.attempt(post);
}

void PointToPoint::forget(Correspondent& correspondent, Post& post) {
  std::erase(correspondent.waiting, &post);
  engine().forget(post);
}

std::uint64_t PointToPoint::payload_tag(Rank sender, std::uint32_t receive) const noexcept {
  return runtime_.tags().point_to_point_payload(sender, receive);
}

std::uint64_t PointToPoint::offer_tag(Rank sender, std::uint32_t sequence) const noexcept {
  return runtime_.tags().point_to_point_offer(sender, sequence);
}

}  // namespace fab::core
