// Messages from one rank to another: matching, and how they travel (docs/explanation/point-to-point.md).
#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/engine_lock.h"
#include "core/base/slots.h"
#include "core/failure/losses.h"
#include "core/failure/refusals.h"
#include "core/job/membership.h"
#include "core/point/bundles.h"
#include "core/point/correspondent.h"
#include "core/point/match_queues.h"
#include "core/point/operations.h"
#include "core/point/point_counts.h"
#include "core/point/sendrecv_operation.h"
#include "core/wire/match_tag.h"

namespace fab::core {

/// One per runtime, from the first call on. Guarded by the engine's lock.
class PointToPoint final : PointHost, public LossListener, public Refusals::Courier {
 public:
  explicit PointToPoint(Runtime& runtime);
  /// Begins to listen, and takes what has come. Some of it is answered at once, by a message: the runtime must
  /// know this object.
  void listen() FAB_REQUIRES(engine_lock);
  /// Nothing may be in flight but receives of envelopes, which no provider will complete any more.
  ~PointToPoint();
  PointToPoint(const PointToPoint&) = delete;
  PointToPoint& operator=(const PointToPoint&) = delete;

  /// Held by the caller until let_go(). Throws Error(no_resources) for a message that no provider or buffer takes,
  /// Error(cancelled) when the context is closed.
  [[nodiscard]] Pending& send(Membership& communicator, MessageMemory memory, Destination to, SendMode mode)
      FAB_REQUIRES(engine_lock);
  [[nodiscard]] Pending& receive(Membership& communicator, MessageMemory memory, Source from) FAB_REQUIRES(engine_lock);
  [[nodiscard]] Pending& probe(Membership& communicator, Source from) FAB_REQUIRES(engine_lock);
  /// Both, of which one may have kNoRank for its rank. Nothing is sent if the receive cannot be started.
  [[nodiscard]] Pending& sendrecv(Membership& communicator, MessageMemory out, Destination to, MessageMemory in,
                                  Source from) FAB_REQUIRES(engine_lock);
  /// The message received replaces the one sent, of which the send has a copy.
  [[nodiscard]] Pending& sendrecv_replace(Membership& communicator, const MessageMemory& memory, Destination to,
                                          Source from) FAB_REQUIRES(engine_lock);
  /// A message that has come and was not received. Makes no progress.
  [[nodiscard]] std::optional<MessageInfo> find(Membership& communicator, Source from) FAB_REQUIRES(engine_lock);

  // For Refusals. A reason that is too long for an envelope is cut.
  void ask_refusals(Rank world_rank) override FAB_REQUIRES(engine_lock);
  void tell_refusal(Rank world_rank, const CallPlace& place, std::string_view reason) override
      FAB_REQUIRES(engine_lock);
  void listen_to_node() override FAB_REQUIRES(engine_lock);

  /// A communicator of that id is no more, which has received or probed here: what has come for it is dropped. Its
  /// queues end with its last receive, which its user may have let go of.
  void communicator_ended(const ContextId& communicator) FAB_REQUIRES(engine_lock);
  /// Communicators for which something is kept.
  [[nodiscard]] std::size_t queues() const noexcept FAB_REQUIRES(engine_lock) { return match_queues_.size(); }

  /// Envelopes that were dropped as they make no sense.
  [[nodiscard]] std::uint64_t misfits() const noexcept FAB_REQUIRES(engine_lock) { return misfits_; }

  /// What buffered sends may hold at a time.
  static constexpr std::uint64_t kMostBufferedBytes = 64 * 1024 * 1024;

  void peer_lost(Rank world_rank, const Status& reason) override FAB_REQUIRES(engine_lock);
  void give_up_envelopes(Rank world_rank) override FAB_REQUIRES(engine_lock);

 private:
  using Key = std::pair<Rank, std::uint32_t>;

  template <class Operation>
  [[nodiscard]] Operation& acquire(Slots<Operation>& operations) FAB_REQUIRES(engine_lock);

  // For operations.
  [[nodiscard]] PointCounts& count_of_sends() noexcept override FAB_REQUIRES(engine_lock) { return send_counts_; }
  [[nodiscard]] PointCounts& count_of_receives() noexcept override FAB_REQUIRES(engine_lock) { return receive_counts_; }
  [[nodiscard]] Runtime& runtime() const noexcept override { return runtime_; }
  void release(SendOperation& send) override FAB_REQUIRES(engine_lock) { sends_.give_back(send); }
  void release(ReceiveOperation& receive) override FAB_REQUIRES(engine_lock) { receives_.give_back(receive); }
  void release(SendrecvOperation& both) override FAB_REQUIRES(engine_lock) { sendrecvs_.give_back(both); }
  [[nodiscard]] SendOperation& send_to_self(std::uint32_t number) override FAB_REQUIRES(engine_lock) {
    return sends_[number];
  }
  void count_buffered(std::int64_t bytes) noexcept override FAB_REQUIRES(engine_lock) {
    buffered_bytes_ += static_cast<std::uint64_t>(bytes);
  }
  void answer(Correspondent& correspondent, EnvelopeKind kind, std::uint32_t send, std::uint32_t receive = 0) override
      FAB_REQUIRES(engine_lock);
  void return_credits(Correspondent& correspondent) override FAB_REQUIRES(engine_lock);
  void post_when_ready(Correspondent& correspondent, Post& post) override FAB_REQUIRES(engine_lock);
  void forget(Correspondent& correspondent, Post& post) override FAB_REQUIRES(engine_lock);
  [[nodiscard]] std::uint64_t payload_tag(Rank sender, std::uint32_t receive) const noexcept override;
  [[nodiscard]] std::uint64_t offer_tag(Rank sender, std::uint32_t sequence) const noexcept override;
  void lose(Correspondent& correspondent, const Status& reason) override FAB_REQUIRES(engine_lock);
  [[nodiscard]] Rank blame(const Correspondent& correspondent, const Status& reason) override FAB_REQUIRES(engine_lock);
  void visit_members(const Membership& communicator, const Pending::PeerVisitor& visit) override
      FAB_REQUIRES(engine_lock);

  [[nodiscard]] Engine& engine() const noexcept { return runtime_.engine(); }
  void check_open(const char* call) const FAB_REQUIRES(engine_lock);
  /// Makes those of a communicator that this rank may not know yet.
  [[nodiscard]] MatchQueues& queues_of(const ContextId& communicator) FAB_REQUIRES(engine_lock);
  [[nodiscard]] MatchQueues& queues_of(Membership& communicator) FAB_REQUIRES(engine_lock);
  /// Nothing uses them any more.
  void end_queues(const Key& communicator) FAB_REQUIRES(engine_lock);
  void drop(const Unexpected& message) FAB_REQUIRES(engine_lock);
  [[nodiscard]] Correspondent& correspondent(Rank world_rank) FAB_REQUIRES(engine_lock) {
    Correspondent* const recent = recent_[static_cast<std::size_t>(world_rank) % kRecent];
    return recent != nullptr && recent->world_rank == world_rank ? *recent : look_up_correspondent(world_rank);
  }
  [[nodiscard]] Correspondent& look_up_correspondent(Rank world_rank) FAB_REQUIRES(engine_lock);
  [[nodiscard]] ReceiveOperation& start_receive(Membership& communicator, MessageMemory memory, Source from, bool probe)
      FAB_REQUIRES(engine_lock);
  /// Throws what send() does.
  [[nodiscard]] SendOperation& acquire_send(const Membership& communicator, std::uint64_t bytes, Destination to,
                                            SendMode mode) FAB_REQUIRES(engine_lock);
  void start_send(SendOperation& send, Membership& communicator, MessageMemory memory, Destination to, SendMode mode,
                  std::unique_ptr<std::byte[]> copy = nullptr) FAB_REQUIRES(engine_lock);
  /// `copy` holds the bytes of `out` until they have left; null: the caller does.
  [[nodiscard]] Pending& start_both(std::string_view call, Membership& communicator, MessageMemory out, Destination to,
                                    MessageMemory in, Source from, std::unique_ptr<std::byte[]> copy)
      FAB_REQUIRES(engine_lock);

  // Listening.
  [[nodiscard]] static Post::Handlers incoming_handlers() noexcept;
  bool post(IncomingEnvelope& incoming) FAB_REQUIRES(engine_lock);
  void envelope_arrived(IncomingEnvelope& incoming, std::size_t bytes) FAB_REQUIRES(engine_lock);
  void listener_failed(IncomingEnvelope& incoming, const Status& status) FAB_REQUIRES(engine_lock);

  // What comes.
  /// Copies a message within the node from where the provider has it to the receive that will take it. False: nothing
  /// was done, and the provider copies it to the memory of the envelope.
  [[nodiscard]] bool place(IncomingEnvelope& incoming, const Delivery& delivery) FAB_REQUIRES(engine_lock);
  /// So many bytes have come there.
  void handle(IncomingEnvelope& incoming, std::size_t bytes) FAB_REQUIRES(engine_lock);
  void handle_brief(Correspondent& from, std::span<const std::byte> wire) FAB_REQUIRES(engine_lock);
  void drop(std::span<const std::byte> wire) FAB_REQUIRES(engine_lock);
  /// One envelope, or a bundle of them.
  void handle(std::span<const std::byte> wire) FAB_REQUIRES(engine_lock);
  [[nodiscard]] bool makes_sense(std::span<const std::byte> wire) const noexcept;
  [[nodiscard]] bool makes_sense(const Envelope& envelope) const noexcept;
  void handle(const Envelope& envelope, std::span<const std::byte> behind) FAB_REQUIRES(engine_lock);
  void handle(Correspondent& from, const Envelope& envelope, const std::byte* bytes) FAB_REQUIRES(engine_lock);
  void message_came(Correspondent& correspondent, const Envelope& envelope, const std::byte* bytes)
      FAB_REQUIRES(engine_lock);
  void deliver(Correspondent& correspondent, const Envelope& envelope, const std::byte* bytes)
      FAB_REQUIRES(engine_lock);
  void offer_withdrawn(Correspondent& from, std::uint32_t sequence) FAB_REQUIRES(engine_lock);
  [[nodiscard]] static Unexpected copy_of(Correspondent& correspondent, const Envelope& envelope,
                                          const std::byte* bytes);

  // What goes.
  [[nodiscard]] static Post::Handlers outgoing_handlers() noexcept;
  void send_message(SendOperation& send, Correspondent& to) FAB_REQUIRES(engine_lock);
  /// The provider copies the message out of the caller's memory, or refuses it, in post_send.
  [[nodiscard]] static bool is_copied_once(const SendOperation& send, const Correspondent& to)
      FAB_REQUIRES(engine_lock);
  /// It goes there at once, or waits here until the receiver copies it.
  [[nodiscard]] static bool may_be_offered(const SendOperation& send, const Correspondent& to)
      FAB_REQUIRES(engine_lock);
  /// Within a node, with a BriefEnvelope.
  void send_brief(SendOperation& send, Correspondent& to, Envelope envelope) FAB_REQUIRES(engine_lock);
  void send_in_bundle(SendOperation& send, Correspondent& to, Envelope envelope) FAB_REQUIRES(engine_lock);
  /// What the head of every envelope says.
  [[nodiscard]] Envelope addressed(Envelope envelope, Correspondent& to) const FAB_REQUIRES(engine_lock);
  void send_note(Rank world_rank, const Envelope& envelope, std::string_view text) FAB_REQUIRES(engine_lock);
  [[nodiscard]] OutgoingEnvelope& outgoing(Correspondent& correspondent, bool with_bytes) FAB_REQUIRES(engine_lock);
  void send_out(OutgoingEnvelope& out, Envelope envelope, std::size_t payload_bytes) FAB_REQUIRES(engine_lock);
  /// Its memory is filled in, and has so many bytes.
  void leave(OutgoingEnvelope& out, std::size_t bytes) FAB_REQUIRES(engine_lock);
  bool post(OutgoingEnvelope& out) FAB_REQUIRES(engine_lock);
  void has_left(OutgoingEnvelope& out) FAB_REQUIRES(engine_lock);
  void could_not_leave(OutgoingEnvelope& out, const Status& status) FAB_REQUIRES(engine_lock);
  /// It may never leave: no operation waits for it any more.
  void give_up(OutgoingEnvelope& out) FAB_REQUIRES(engine_lock);
  void recycle(OutgoingEnvelope& out) FAB_REQUIRES(engine_lock);

  void look_up_ended(Correspondent& correspondent) FAB_REQUIRES(engine_lock);
  /// Why a receive will never get a message; null if it may.
  [[nodiscard]] const Correspondent* failed(const Membership& communicator, const Correspondent* from) const
      FAB_REQUIRES(engine_lock);

  static constexpr std::size_t kRecent = 64;

  Runtime& runtime_;
  PointCounts send_counts_ FAB_GUARDED_BY(engine_lock){runtime_.ledger(), "send"};
  PointCounts receive_counts_ FAB_GUARDED_BY(engine_lock){runtime_.ledger(), "recv"};
  std::unordered_map<Rank, std::unique_ptr<Correspondent>> correspondents_ FAB_GUARDED_BY(engine_lock);
  /// Of those, by their ranks: most messages go to, and come from, a few. None of them ends before this object.
  std::array<Correspondent*, kRecent> recent_ FAB_GUARDED_BY(engine_lock){};
  std::map<Key, MatchQueues> match_queues_ FAB_GUARDED_BY(engine_lock);
  std::pair<const Key, MatchQueues>* recent_queues_ FAB_GUARDED_BY(engine_lock) = nullptr;  ///< of match_queues_
  std::vector<Key> ended_ FAB_GUARDED_BY(engine_lock);  ///< communicators that are no more, of which receives wait
  Slots<SendOperation> sends_ FAB_GUARDED_BY(engine_lock);
  Slots<ReceiveOperation> receives_ FAB_GUARDED_BY(engine_lock);
  Slots<SendrecvOperation> sendrecvs_ FAB_GUARDED_BY(engine_lock);
  Slots<OutgoingEnvelope> short_envelopes_ FAB_GUARDED_BY(engine_lock);
  Slots<OutgoingEnvelope> long_envelopes_ FAB_GUARDED_BY(engine_lock);
  std::deque<IncomingEnvelope> network_listeners_ FAB_GUARDED_BY(engine_lock);
  Bundles bundles_ FAB_GUARDED_BY(engine_lock);
  std::uint64_t buffered_bytes_ FAB_GUARDED_BY(engine_lock) = 0;
  std::uint64_t misfits_ FAB_GUARDED_BY(engine_lock) = 0;
  bool listens_to_node_ FAB_GUARDED_BY(engine_lock) = false;
};

}  // namespace fab::core
