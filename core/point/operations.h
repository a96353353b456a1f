// The two ends of a point-to-point message, as their callers see them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/point/envelope.h"
#include "core/point/message_memory.h"
#include "core/progress/engine.h"
#include "core/progress/pending.h"

namespace fab::core {

class Mailbox;
class PointToPoint;
struct Correspondent;
struct OutgoingEnvelope;

/// Guarded by the engine's lock, as all of this folder. Belongs to the pool of its PointToPoint; in use until the user
/// let go of it and nothing of it is in flight.
class PointOperation : public Pending {
 public:
  PointOperation(PointToPoint& owner, std::uint32_t number) noexcept : owner_(owner), number_(number) {}

  [[nodiscard]] Communicator& communicator() const noexcept override { return *communicator_; }
  /// Its place in the pool, by which the other end names it.
  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
  /// Tells the user how it ended, and nobody a second time.
  void complete(Status status = {});
  [[nodiscard]] std::string describe_pending() const override { return describe() + ": " + describe_state(); }
  [[nodiscard]] Communicator* held_communicator() const noexcept override { return held_ ? communicator_ : nullptr; }
  void abandon_for(Rank culprit, const Status& reason) override;

 protected:
  ~PointOperation() = default;

  void begin(Communicator& communicator);
  /// Nothing of it is in flight any more.
  void settle();
  /// The user was told, so nobody has to drive for it.
  void no_longer_active();
  [[nodiscard]] Status failure(const Status& reason) const { return {reason.code, describe() + ": " + reason.message}; }
  [[nodiscard]] virtual std::string describe() const = 0;
  /// What it waits for.
  [[nodiscard]] virtual const char* describe_state() const noexcept = 0;

  PointToPoint& owner_;
  const std::uint32_t number_;
  Communicator* communicator_ = nullptr;  ///< while held
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

  SendOperation(PointToPoint& owner, std::uint32_t number) noexcept;

  void start(Communicator& communicator, MessageMemory memory, Destination to, SendMode mode,
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
class ReceiveOperation final : public PointOperation {
 public:
  enum class State : std::uint8_t {
    idle,
    waiting,    ///< for a message that matches
    matched,    ///< the receive of the bytes is not posted yet
    receiving,  ///< the bytes
    discarding  ///< the bytes, which nobody wants any more
  };

  ReceiveOperation(PointToPoint& owner, std::uint32_t number) noexcept;

  void start(Communicator& communicator, Mailbox& mailbox, MessageMemory memory, Source from, bool probe,
             Correspondent* correspondent);
  [[nodiscard]] std::string_view name() const noexcept override { return probe_ ? "probe" : "recv"; }
  void abandon(const Status& reason) override;
  void cancel() override;
  void let_go() noexcept override;
  void visit_peers(const PeerVisitor& visit) const override;

  [[nodiscard]] bool matches(const Envelope& envelope) const noexcept {
    return (from_.rank == kAnySource || from_.rank == envelope.source) &&
           (from_.tag == kAnyTag || from_.tag == envelope.tag);
  }
  [[nodiscard]] bool given_up() const noexcept override { return !end_.ok(); }
  [[nodiscard]] bool waits_for_any() const noexcept override { return correspondent_ == nullptr; }
  [[nodiscard]] bool is_probe() const noexcept { return probe_; }
  void found(const Envelope& envelope);
  /// Takes a message; `bytes` of an eager one. The mailbox has forgotten this receive.
  void take(Correspondent& correspondent, const Envelope& envelope, const std::byte* bytes);
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
  Source from_;
  bool probe_ = false;
  Correspondent* correspondent_ = nullptr;  ///< to the sender, as soon as it is known
  std::uint64_t payload_bytes_ = 0;
  std::uint32_t send_ = 0;
  Status end_;             ///< why it is being taken back
  bool discards_ = false;  ///< and the bytes come nevertheless
  State state_ = State::idle;
};

}  // namespace fab::core
