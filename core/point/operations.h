// The two ends of a point-to-point message, as their callers see them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/job/membership.h"
#include "core/point/envelope.h"
#include "core/point/mailbox.h"
#include "core/point/message_memory.h"
#include "core/progress/pending.h"

namespace fab::core {

class ReceiveOperation;
class SendOperation;

/// What operations need of their owner. Guarded by the engine's lock, as all of this folder.
class PointHost {
 public:
  [[nodiscard]] virtual Runtime& runtime() const noexcept = 0;
  /// The operation is over: its place in the pool may be used again.
  virtual void release(const SendOperation& send) = 0;
  virtual void release(const ReceiveOperation& receive) = 0;
  /// One of this rank's own sends, by its number.
  [[nodiscard]] virtual SendOperation& send_to_self(std::uint32_t number) = 0;
  /// Memory of buffered sends was taken, or given back.
  virtual void count_buffered(std::int64_t bytes) noexcept = 0;

  virtual void answer(Correspondent& correspondent, EnvelopeKind kind, std::uint32_t send,
                      std::uint32_t receive = 0) = 0;
  /// A receive has taken a message that came with its envelope.
  virtual void return_credits(Correspondent& correspondent) = 0;
  /// Posts it, unless the peer's address is still being looked up.
  virtual void post_when_ready(Correspondent& correspondent, Post& post) = 0;
  virtual void forget(Correspondent& correspondent, Post& post) = 0;
  /// The tag under which the bytes of a message travel.
  [[nodiscard]] virtual std::uint64_t payload_tag(Rank sender, std::uint32_t receive) const noexcept = 0;

  /// Nothing gets through to that rank any more.
  virtual void lose(Correspondent& correspondent, const Status& reason) = 0;
  /// Whose fault that is; kNoRank: nobody's.
  [[nodiscard]] virtual Rank blame(const Correspondent& correspondent, const Status& reason) = 0;
  /// The peers of a communicator that are known; all where it is not too large.
  virtual void visit_members(const Membership& communicator, const Pending::PeerVisitor& visit) = 0;

 protected:
  ~PointHost() = default;
};

/// Belongs to the pool of its owner; in use until the user let go of it and nothing of it is in flight.
class PointOperation : public Pending {
 public:
  PointOperation(PointHost& owner, std::uint32_t number) noexcept : owner_(owner), number_(number) {}

  [[nodiscard]] Membership& membership() const noexcept override { return *communicator_; }
  /// Its place in the pool, by which the other end names it.
  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
  /// Tells the user how it ended, and nobody a second time.
  void complete(Status status = {});
  [[nodiscard]] std::string describe_pending() const override { return describe() + ": " + describe_state(); }
  [[nodiscard]] CallScope* held_scope() const noexcept override { return held_ ? &communicator_->scope() : nullptr; }
  void abandon_for(Rank culprit, const Status& reason) override;

 protected:
  ~PointOperation() = default;

  void begin(Membership& communicator);
  [[nodiscard]] Engine& engine() const noexcept { return owner_.runtime().engine(); }
  /// Nothing of it is in flight any more.
  void settle();
  /// The user was told, so nobody has to drive for it.
  void no_longer_active();
  [[nodiscard]] Status failure(const Status& reason) const { return {reason.code, describe() + ": " + reason.message}; }
  [[nodiscard]] virtual std::string describe() const = 0;
  /// What it waits for.
  [[nodiscard]] virtual const char* describe_state() const noexcept = 0;

  PointHost& owner_;
  const std::uint32_t number_;
  Membership* communicator_ = nullptr;  ///< while held
  [[nodiscard]] bool has_member(Rank world_rank) const;

  Rank culprit_ = kNoRank;  ///< of the job, by whose end it failed
  bool held_ = false;
  bool in_flight_ = false;
  bool active_ = false;  ///< counted by the engine
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
             Correspondent& correspondent);
  [[nodiscard]] std::string_view name() const noexcept override { return "send"; }
  void abandon(const Status& reason) override;
  void let_go() noexcept override;
  void visit_peers(const PeerVisitor& visit) const override;

  // What happens to it.
  void has_left();
  void was_taken();
  void was_refused();
  void was_asked_for(std::uint32_t receive);
  void correspondent_lost();

  /// The user was told that it failed, but the receiver may still answer.
  [[nodiscard]] bool given_up() const noexcept override { return given_up_; }
  [[nodiscard]] const MessageMemory& memory() const noexcept { return memory_; }

 private:
  friend class PointToPoint;
  [[nodiscard]] std::string describe() const override;
  [[nodiscard]] const char* describe_state() const noexcept override;
  /// Packs the message into memory of its own, from which it goes on.
  void buffer();
  bool post_payload();
  void end(const Status& status);

  Payload payload_;
  MessageMemory memory_;
  std::unique_ptr<std::byte[]> own_;  ///< of a buffered message
  Destination to_;
  SendMode mode_ = SendMode::standard;
  Correspondent* correspondent_ = nullptr;
  OutgoingEnvelope* envelope_ = nullptr;  ///< while leaving
  std::uint32_t receive_ = 0;
  bool given_up_ = false;
  State state_ = State::idle;
};

/// A receive, or a probe, which takes nothing.
class ReceiveOperation final : public PointOperation, public PostedReceive {
 public:
  enum class State : std::uint8_t {
    idle,
    waiting,    ///< for a message that matches
    matched,    ///< the receive of the bytes is not posted yet
    receiving,  ///< the bytes
    discarding  ///< the bytes, which nobody wants any more
  };

  ReceiveOperation(PointHost& owner, std::uint32_t number) noexcept;

  void start(Membership& communicator, Mailbox& mailbox, MessageMemory memory, Source from, bool probe,
             Correspondent* correspondent);
  [[nodiscard]] std::string_view name() const noexcept override { return probe_ ? "probe" : "recv"; }
  void abandon(const Status& reason) override;
  void cancel() override;
  void let_go() noexcept override;
  void visit_peers(const PeerVisitor& visit) const override;

  [[nodiscard]] bool given_up() const noexcept override { return !end_.ok(); }
  [[nodiscard]] bool waits_for_any() const noexcept override { return correspondent_ == nullptr; }
  void found(const Envelope& envelope) override;
  void take(Correspondent& correspondent, const Envelope& envelope, const std::byte* bytes) override;
  void sender_gave_up();
  void correspondent_lost(const Correspondent& correspondent);

 private:
  friend class PointToPoint;
  [[nodiscard]] std::string describe() const override;
  [[nodiscard]] const char* describe_state() const noexcept override;
  [[nodiscard]] Status truncated(const Envelope& envelope) const;
  void fetch(const Envelope& envelope);
  void copy_from_self(const Envelope& envelope);
  void wait_for_message();
  bool post_payload();
  void received();
  void payload_failed(const Status& status);
  void end(const Status& status);

  Payload payload_;
  MessageMemory memory_;
  Mailbox* mailbox_ = nullptr;
  Correspondent* correspondent_ = nullptr;  ///< to the sender, as soon as it is known
  std::uint64_t payload_bytes_ = 0;
  std::uint32_t send_ = 0;
  Status end_;             ///< why it is being taken back
  bool discards_ = false;  ///< and the bytes come nevertheless
  State state_ = State::idle;
};

}  // namespace fab::core
