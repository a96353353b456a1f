// The send and the receive operation of a point-to-point message, as their callers see them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/base/engine_lock.h"
#include "core/job/membership.h"
#include "core/point/envelope.h"
#include "core/point/match_queues.h"
#include "core/point/message_memory.h"
#include "core/point/point_counts.h"
#include "core/progress/pending.h"
#include "core/trace/trace_record.h"

namespace fab::core {

class PointOperation;
class ReceiveOperation;
class SendOperation;
class SendrecvOperation;

/// What operations need of their owner. Guarded by the engine's lock, as all of this folder.
class PointHost {
 public:
  [[nodiscard]] virtual Runtime& runtime() const noexcept = 0;
  /// The operation is over: its place in the pool may be used again.
  virtual void release(SendOperation& send) FAB_REQUIRES(engine_lock) = 0;
  virtual void release(ReceiveOperation& receive) FAB_REQUIRES(engine_lock) = 0;
  virtual void release(SendrecvOperation& both) FAB_REQUIRES(engine_lock) = 0;
  /// One of this rank's own sends, by its number.
  [[nodiscard]] virtual SendOperation& send_to_self(std::uint32_t number) FAB_REQUIRES(engine_lock) = 0;
  /// Memory of buffered sends was taken, or given back.
  virtual void count_buffered(std::int64_t bytes) noexcept FAB_REQUIRES(engine_lock) = 0;

  [[nodiscard]] virtual PointCounts& count_of_sends() noexcept FAB_REQUIRES(engine_lock) = 0;
  /// Receives and probes.
  [[nodiscard]] virtual PointCounts& count_of_receives() noexcept FAB_REQUIRES(engine_lock) = 0;

  virtual void answer(Correspondent& correspondent, EnvelopeKind kind, std::uint32_t send, std::uint32_t receive = 0)
      FAB_REQUIRES(engine_lock) = 0;
  /// A receive has taken a message that came with its envelope.
  virtual void return_credits(Correspondent& correspondent) FAB_REQUIRES(engine_lock) = 0;
  /// Posts it, unless the peer's address is still being looked up.
  virtual void post_when_ready(Correspondent& correspondent, Post& post) FAB_REQUIRES(engine_lock) = 0;
  virtual void forget(Correspondent& correspondent, Post& post) FAB_REQUIRES(engine_lock) = 0;
  /// The tag under which the bytes of a message travel that a receive has asked for.
  [[nodiscard]] virtual std::uint64_t payload_tag(Rank sender, std::uint32_t receive) const noexcept = 0;
  /// And of one that waits at its sender.
  [[nodiscard]] virtual std::uint64_t offer_tag(Rank sender, std::uint32_t sequence) const noexcept = 0;

  /// Nothing gets through to that rank any more.
  virtual void lose(Correspondent& correspondent, const Status& reason) FAB_REQUIRES(engine_lock) = 0;
  /// Whose fault that is; kNoRank: no rank's.
  [[nodiscard]] virtual Rank blame(const Correspondent& correspondent, const Status& reason)
      FAB_REQUIRES(engine_lock) = 0;
  /// The peers of a communicator that are known; all where it is not too large.
  virtual void visit_members(const Membership& communicator, const Pending::PeerVisitor& visit)
      FAB_REQUIRES(engine_lock) = 0;

 protected:
  ~PointHost() = default;
};

/// An operation that has others as parts. They tell it how they fare, as long as a user holds it.
class WholeOperation {
 public:
  /// Something of a part has happened.
  virtual void part_moved() noexcept = 0;
  /// The part is done. A part that is done when it joins tells nothing.
  virtual void part_ended(PointOperation& part) FAB_REQUIRES(engine_lock) = 0;

 protected:
  ~WholeOperation() = default;
};

/// Belongs to the pool of its owner; in use until the user let go of it and nothing of it is in flight.
class PointOperation : public Pending {
 public:
  PointOperation(PointHost& owner, std::uint32_t number) noexcept : owner_(owner), number_(number) {}

  [[nodiscard]] Membership& membership() const noexcept override { return *communicator_; }
  /// Its place in the pool, by which the other end names it.
  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
  /// It is a part of that one from now on, until its user lets go of it.
  void belongs_to(WholeOperation& whole) noexcept FAB_REQUIRES(engine_lock) { whole_ = &whole; }
  /// Tells the user how it ended, once.
  void complete(Status status = {}) FAB_REQUIRES(engine_lock);
  [[nodiscard]] std::string describe_pending() const override FAB_REQUIRES(engine_lock) {
    return describe() + ": " + describe_state();
  }
  [[nodiscard]] CallScope* held_scope() const noexcept override FAB_REQUIRES(engine_lock) {
    return held_ ? &communicator_->scope() : nullptr;
  }
  void abandon_for(Rank failed_rank, const Status& reason) override FAB_REQUIRES(engine_lock);
  /// Ends it with the failure of a rank that nothing gets through to. Precondition: nothing of it is in flight.
  void fail_like(const Correspondent& lost) FAB_REQUIRES(engine_lock);

 protected:
  ~PointOperation() = default;

  void begin(Membership& communicator) FAB_REQUIRES(engine_lock);
  // FAB_TRACE. Precondition: the engine has a recorder.
  void record(const TraceRecord& record) FAB_REQUIRES(engine_lock);
  void record_start(PointCounts& counts) FAB_REQUIRES(engine_lock);
  /// Its message is at its end here.
  virtual void record_message() FAB_REQUIRES(engine_lock) = 0;
  /// Nothing of it is in flight any more: this is how it ended.
  virtual void end(const Status& status) FAB_REQUIRES(engine_lock) = 0;
  [[nodiscard]] Engine& engine() const noexcept { return owner_.runtime().engine(); }
  /// Something of it has happened.
  void moved() noexcept FAB_REQUIRES(engine_lock);
  /// Its user is gone. Returns whether nothing of it is in flight.
  [[nodiscard]] bool let_go_of() noexcept FAB_REQUIRES(engine_lock);
  /// Nothing of it is in flight any more.
  void settle() FAB_REQUIRES(engine_lock);
  /// The user was told, so no thread has to drive for it.
  void no_longer_active() FAB_REQUIRES(engine_lock);
  [[nodiscard]] Status failure(const Status& reason) const FAB_REQUIRES(engine_lock) {
    return {reason.code, describe() + ": " + reason.message};
  }
  [[nodiscard]] virtual std::string describe() const FAB_REQUIRES(engine_lock) = 0;
  /// What it waits for.
  [[nodiscard]] virtual const char* describe_state() const noexcept FAB_REQUIRES(engine_lock) = 0;

  PointHost& owner_;
  const std::uint32_t number_;
  Membership* communicator_ = nullptr;  ///< while held
  [[nodiscard]] bool has_member(Rank world_rank) const FAB_REQUIRES(engine_lock);

  WholeOperation* whole_ FAB_GUARDED_BY(engine_lock) = nullptr;  ///< while held; null: it is no part
  Rank failed_rank_ FAB_GUARDED_BY(engine_lock) = kNoRank;       ///< of the job, by whose end it failed
  bool held_ FAB_GUARDED_BY(engine_lock) = false;
  bool in_flight_ FAB_GUARDED_BY(engine_lock) = false;
  bool active_ FAB_GUARDED_BY(engine_lock) = false;  ///< counted by the engine
};

/// The bytes of a long message on their way, at either end.
struct Payload : Post {
  Payload(PointOperation& its_operation, DoneHandler on_done, ErrorHandler on_error, Attempt its_attempt) noexcept
      : Post(on_done, on_error, its_attempt), operation(its_operation) {}

  PointOperation& operation;
  std::unique_ptr<std::byte[]> memory;  ///< where they are packed; null: the caller's memory
};

class SendOperation final : public PointOperation {
 public:
  enum class State : std::uint8_t {
    idle,
    leaving,   ///< complete when its envelope has left
    answered,  ///< complete when the receiver answers
    sending    ///< complete when its bytes have left
  };

  SendOperation(PointHost& owner, std::uint32_t number) noexcept;

  void start(Membership& communicator, MessageMemory memory, Destination to, SendMode mode,
             Correspondent& correspondent) FAB_REQUIRES(engine_lock);
  [[nodiscard]] std::string_view name() const noexcept override { return "send"; }
  void abandon(const Status& reason) override FAB_REQUIRES(engine_lock);
  void let_go() noexcept override FAB_REQUIRES(engine_lock);
  void visit_peers(const PeerVisitor& visit) const override FAB_REQUIRES(engine_lock);
  void stalled() override FAB_REQUIRES(engine_lock);

  /// After start(): its memory is this, which ends with it.
  void keep(std::unique_ptr<std::byte[]> memory) FAB_REQUIRES(engine_lock) { own_ = std::move(memory); }
  /// What tells the receiver of it; kind and sequence are the caller's to fill in.
  [[nodiscard]] Envelope envelope() const FAB_REQUIRES(engine_lock);
  /// After start(): its bytes go with this envelope, into which they are packed. Those of others may, too.
  void leave(OutgoingEnvelope& out) FAB_REQUIRES(engine_lock);
  /// The envelope is gone. Returns the next one of those that left in it; null: there is none. Then has_left() or
  /// could_not_leave().
  [[nodiscard]] SendOperation* left_envelope() FAB_REQUIRES(engine_lock);
  /// After start(), instead: an RTS goes, and the bytes follow when the CTS of the receiver is there.
  void await_cts() FAB_REQUIRES(engine_lock);
  /// Instead, after an offer with that number has gone: the bytes wait for the receiver.
  void offer(std::uint32_t sequence) FAB_REQUIRES(engine_lock);
  /// After start(): with that number its message, or its RTS, is about to leave. Precondition: the engine has a
  /// recorder.
  void record_send(std::uint32_t sequence, bool eager) FAB_REQUIRES(engine_lock);

  // What happens to it.
  void has_left() FAB_REQUIRES(engine_lock) { end({}); }
  void could_not_leave(const Status& reason) FAB_REQUIRES(engine_lock) { end(failure(reason)); }
  void was_acked() FAB_REQUIRES(engine_lock);
  void was_nacked() FAB_REQUIRES(engine_lock);
  void was_cleared(std::uint32_t receive) FAB_REQUIRES(engine_lock);
  void was_taken_back() FAB_REQUIRES(engine_lock);
  void correspondent_lost() FAB_REQUIRES(engine_lock);

  Peer* waited(std::uint64_t ns) noexcept override FAB_REQUIRES(engine_lock);
  /// The user was told that it failed, but the receiver may still answer.
  [[nodiscard]] bool given_up() const noexcept override FAB_REQUIRES(engine_lock) { return given_up_; }
  [[nodiscard]] const MessageMemory& memory() const noexcept FAB_REQUIRES(engine_lock) { return memory_; }
  /// Its memory is the message until it is done, or until it has left the envelope.
  [[nodiscard]] bool lends_memory() const noexcept FAB_REQUIRES(engine_lock) {
    return mode_ == SendMode::standard && memory_.is_contiguous();
  }
  [[nodiscard]] bool needs_no_answer() const noexcept FAB_REQUIRES(engine_lock) {
    return mode_ == SendMode::standard || mode_ == SendMode::buffered;
  }
  [[nodiscard]] const Correspondent* correspondent() const noexcept FAB_REQUIRES(engine_lock) { return correspondent_; }

 private:
  void stop_leaving() FAB_REQUIRES(engine_lock);
  void send_bytes(std::uint64_t tag) FAB_REQUIRES(engine_lock);
  void take_bytes_back() FAB_REQUIRES(engine_lock);
  [[nodiscard]] std::string describe() const override FAB_REQUIRES(engine_lock);
  [[nodiscard]] const char* describe_state() const noexcept override FAB_REQUIRES(engine_lock);
  /// Packs the message into memory of its own, from which it goes on.
  void buffer() FAB_REQUIRES(engine_lock);
  bool post_payload() FAB_REQUIRES(engine_lock);
  void end(const Status& status) override FAB_REQUIRES(engine_lock);
  void record_message() override FAB_REQUIRES(engine_lock);

  Payload payload_ FAB_GUARDED_BY(engine_lock);
  MessageMemory memory_ FAB_GUARDED_BY(engine_lock);
  std::unique_ptr<std::byte[]> own_
      FAB_GUARDED_BY(engine_lock);  ///< a copy of the message; null: memory_ is the caller's
  Destination to_ FAB_GUARDED_BY(engine_lock);
  SendMode mode_ FAB_GUARDED_BY(engine_lock) = SendMode::standard;
  Correspondent* correspondent_ FAB_GUARDED_BY(engine_lock) = nullptr;
  OutgoingEnvelope* envelope_ FAB_GUARDED_BY(engine_lock) = nullptr;   ///< while leaving
  SendOperation* next_leaving_ FAB_GUARDED_BY(engine_lock) = nullptr;  ///< in the same envelope
  std::uint32_t receive_ FAB_GUARDED_BY(engine_lock) = 0;              ///< that has asked for the bytes
  std::uint32_t sequence_ FAB_GUARDED_BY(engine_lock) = 0;             ///< of an offer
  bool offered_ FAB_GUARDED_BY(engine_lock) = false;
  bool posted_ FAB_GUARDED_BY(engine_lock) = false;   ///< the bytes
  bool refused_ FAB_GUARDED_BY(engine_lock) = false;  ///< the offer, by the receiver
  std::uint64_t payload_tag_ FAB_GUARDED_BY(engine_lock) = 0;
  bool given_up_ FAB_GUARDED_BY(engine_lock) = false;
  State state_ FAB_GUARDED_BY(engine_lock) = State::idle;
};

/// A receive, or a probe, which takes nothing.
class ReceiveOperation final : public PointOperation, public PostedReceive {
 public:
  enum class State : std::uint8_t {
    idle,
    waiting,    ///< for a message that matches
    matched,    ///< the receive of the bytes is not posted yet
    receiving,  ///< the bytes
    discarding  ///< the bytes, which no receive wants any more
  };

  ReceiveOperation(PointHost& owner, std::uint32_t number) noexcept;

  void start(Membership& communicator, MatchQueues& queues, MessageMemory memory, Source from, bool probe,
             Correspondent* correspondent) FAB_REQUIRES(engine_lock);
  [[nodiscard]] std::string_view name() const noexcept override { return probe_ ? "probe" : "recv"; }
  void abandon(const Status& reason) override FAB_REQUIRES(engine_lock);
  void cancel() override FAB_REQUIRES(engine_lock);
  void let_go() noexcept override FAB_REQUIRES(engine_lock);
  void visit_peers(const PeerVisitor& visit) const override FAB_REQUIRES(engine_lock);

  Peer* waited(std::uint64_t ns) noexcept override FAB_REQUIRES(engine_lock);
  [[nodiscard]] bool given_up() const noexcept override FAB_REQUIRES(engine_lock) { return !end_.ok(); }
  [[nodiscard]] bool waits_for_any() const noexcept override FAB_REQUIRES(engine_lock) {
    return correspondent_ == nullptr;
  }
  [[nodiscard]] std::byte* place_for(const Envelope& envelope) const noexcept override FAB_REQUIRES(engine_lock) {
    return envelope.bytes <= memory_.bytes() ? memory_.contiguous() : nullptr;
  }
  void found(const Envelope& envelope) override FAB_REQUIRES(engine_lock);
  void take(Correspondent& correspondent, const Envelope& envelope, const std::byte* bytes) override
      FAB_REQUIRES(engine_lock);
  /// After start(), if no message has come: the queues have it from now on.
  void wait_for_message() FAB_REQUIRES(engine_lock);
  void sender_gave_up() FAB_REQUIRES(engine_lock);
  /// It receives the bytes of the offer with that number.
  [[nodiscard]] bool takes_offer(const Correspondent& from, std::uint32_t sequence) const noexcept
      FAB_REQUIRES(engine_lock) {
    return offered_ && correspondent_ == &from && sequence_ == sequence &&
           (state_ == State::receiving || state_ == State::discarding);
  }
  void correspondent_lost(const Correspondent& correspondent) FAB_REQUIRES(engine_lock);
  /// The sender, as soon as it is known.
  [[nodiscard]] const Correspondent* correspondent() const noexcept FAB_REQUIRES(engine_lock) { return correspondent_; }

 private:
  [[nodiscard]] std::string describe() const override FAB_REQUIRES(engine_lock);
  [[nodiscard]] const char* describe_state() const noexcept override FAB_REQUIRES(engine_lock);
  [[nodiscard]] Status truncated(const Envelope& envelope) const FAB_REQUIRES(engine_lock);
  void fetch(const Envelope& envelope) FAB_REQUIRES(engine_lock);
  /// Takes note of an offer whose bytes find no room.
  void discard_offer(const Status& reason) FAB_REQUIRES(engine_lock);
  void copy_from_self(const Envelope& envelope) FAB_REQUIRES(engine_lock);
  bool post_payload() FAB_REQUIRES(engine_lock);
  void received() FAB_REQUIRES(engine_lock);
  void payload_failed(const Status& status) FAB_REQUIRES(engine_lock);
  void end(const Status& status) override FAB_REQUIRES(engine_lock);
  void record_message() override FAB_REQUIRES(engine_lock);

  Payload payload_ FAB_GUARDED_BY(engine_lock);
  MessageMemory memory_ FAB_GUARDED_BY(engine_lock);
  MatchQueues* queues_ FAB_GUARDED_BY(engine_lock) = nullptr;
  Correspondent* correspondent_ FAB_GUARDED_BY(engine_lock) = nullptr;  ///< to the sender, as soon as it is known
  std::uint64_t payload_bytes_ FAB_GUARDED_BY(engine_lock) = 0;
  std::uint32_t sequence_ FAB_GUARDED_BY(engine_lock) = 0;  ///< of the sender's messages
  std::uint32_t send_ FAB_GUARDED_BY(engine_lock) = 0;
  Status end_ FAB_GUARDED_BY(engine_lock);             ///< why it is being taken back
  bool discards_ FAB_GUARDED_BY(engine_lock) = false;  ///< and the bytes come nevertheless
  bool offered_ FAB_GUARDED_BY(engine_lock) = false;   ///< they need not be asked for
  State state_ FAB_GUARDED_BY(engine_lock) = State::idle;
};

}  // namespace fab::core
