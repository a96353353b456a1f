// Persistent exchanges by one-sided writes: each message is one write into the receiver's memory, a long one a few,
// whose completion tells the receiver which message came. Nothing is matched.
//
// A writer must not touch memory whose owner has not started. Short messages have two slots in memory of fab's, which
// starts use in turn: what rank A wrote for start k - 2 was copied out before its receiver B started k - 1, which A
// knows from B's own message of k - 1, or from a credit where B sends it none. Long ones go straight to the user's
// buffer, and wait for the credit that B writes with its start k. docs/ownership.md has the proof.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/engine_lock.h"
#include "core/peers/arrivals.h"
#include "core/provider.h"
#include "core/run/run.h"
#include "core/run/written_messages.h"
#include "core/wire/message_parts.h"

namespace fab::core {

class OneSided;

/// One message of a persistent exchange, at one of its two ends.
struct Channel final : WriteTarget {
  explicit Channel(OneSided& its_owner) noexcept : owner(its_owner) {}

  void written(unsigned lane) noexcept override FAB_REQUIRES(engine_lock);

  OneSided& owner;
  std::span<const PlannedOperation> writes{};  ///< more than one: of a long message
  std::unique_ptr<Registration> target_memory{};
  std::array<std::unique_ptr<Registration>, kMostWrites> sources{};  ///< by write

  // Of the other end.
  std::uint32_t peer_number FAB_GUARDED_BY(engine_lock) = 0;
  RemoteMemory target FAB_GUARDED_BY(
      engine_lock) = {};  ///< the first slot, for an outgoing message; where credits go, for an incoming one
  std::uint64_t slot_distance FAB_GUARDED_BY(engine_lock) = 0;

  std::array<std::uint64_t, kMostWrites> arrived FAB_GUARDED_BY(engine_lock) = {};  ///< messages, by lane
  std::uint64_t credits FAB_GUARDED_BY(engine_lock) = 0;
  /// It has done, or will do, its part of all up to here.
  std::array<std::uint64_t, kMostWrites> kept_starts FAB_GUARDED_BY(engine_lock) = {};
  std::array<Transfer*, kMostWrites> waiting FAB_GUARDED_BY(engine_lock) = {};  ///< for a message, or for a credit
  Status failure FAB_GUARDED_BY(engine_lock) = {};                              ///< why it cannot be used any more

  /// Of the message as a whole.
  [[nodiscard]] const PlannedOperation& operation() const noexcept;
};

/// The channels of one persistent exchange. Guarded by the engine's lock.
class OneSided final : public WrittenMessages {
 public:
  /// Makes the run that tells the peers, of a schedule and under the tag of OneSided's constructor, and starts it.
  using StartRun = std::function<void(Schedule schedule, std::uint64_t tag, const std::function<void(Run&)>& fill)>;

  /// Registers the run's memory and starts telling the peers. Precondition: the run's plan has channels, and its
  /// buffers are known. `tag` is TagFormat::persistent of a number that all ranks use for this. Memory that cannot be
  /// registered fails the starts at both of its ends. Throws Error(no_resources) where there is no room for channels.
  OneSided(Run& run, std::uint64_t tag, const StartRun& start);
  /// Precondition: nothing of the run is in flight.
  ~OneSided() override;
  OneSided(const OneSided&) = delete;
  OneSided& operator=(const OneSided&) = delete;

  [[nodiscard]] bool ready() override FAB_REQUIRES(engine_lock);
  [[nodiscard]] const Status* failure() const noexcept override FAB_REQUIRES(engine_lock) {
    return failure_.ok() ? nullptr : &failure_;
  }
  [[nodiscard]] std::string describe_pending() const override FAB_REQUIRES(engine_lock);

  void next_start() noexcept override FAB_REQUIRES(engine_lock) { ++starts_; }
  [[nodiscard]] std::uint64_t slot_offset(const PlannedOperation& operation) const noexcept override
      FAB_REQUIRES(engine_lock);
  [[nodiscard]] PostResult post(Transfer& transfer, std::span<const iovec> pieces) override FAB_REQUIRES(engine_lock);
  bool cancel(Transfer& transfer) override FAB_REQUIRES(engine_lock);
  [[nodiscard]] bool may_be_refused(const PlannedOperation& operation) const noexcept override
      FAB_REQUIRES(engine_lock) {
    return operation.channel != PlannedOperation::kNoChannel && !operation.receives() &&
           channels_[operation.channel]->failure.ok();
  }
  void broken(const PlannedOperation& operation) noexcept override FAB_REQUIRES(engine_lock);
  void end_start(const Status& reason) override FAB_REQUIRES(engine_lock);

  /// The peer has written a message, or a credit. A lane is a slot of a message that has two, else a write's number.
  void written(Channel& channel, unsigned lane) noexcept FAB_REQUIRES(engine_lock);

 private:
  struct ControlEnd;
  struct ControlMessage;

  /// With one peer, as both ends sort them.
  struct Partner {
    Peer* peer = nullptr;
    std::vector<Channel*> outgoing{};
    std::vector<Channel*> incoming{};
  };

  void add_channels() FAB_REQUIRES(engine_lock);
  void withdraw() noexcept FAB_REQUIRES(engine_lock);
  Channel& add_channel(const PlannedOperation& head) FAB_REQUIRES(engine_lock);
  void register_memory(Channel& channel, const PlannedOperation& write) FAB_REQUIRES(engine_lock);
  void make_memory(Channel& channel, const PlannedOperation& write) FAB_REQUIRES(engine_lock);
  [[nodiscard]] ControlMessage control_message_to(const Partner& partner) const FAB_REQUIRES(engine_lock);
  void exchange_control_messages(std::uint64_t tag, const StartRun& start) FAB_REQUIRES(engine_lock);
  void read_control_messages() FAB_REQUIRES(engine_lock);
  void read(const ControlMessage& message, const Partner& partner) FAB_REQUIRES(engine_lock);
  [[nodiscard]] Status connect(Channel& channel, const ControlMessage& message, const ControlEnd& other) const
      FAB_REQUIRES(engine_lock);
  [[nodiscard]] PostResult write(const Channel& channel, Transfer& transfer, std::span<const iovec> pieces)
      FAB_REQUIRES(engine_lock);
  static void give_up(Channel& channel, const Status& reason) FAB_REQUIRES(engine_lock);
  static void withdraw_target(Channel& channel) FAB_REQUIRES(engine_lock);
  [[nodiscard]] static const PlannedOperation& partner_operation(const Partner& partner) noexcept;
  [[nodiscard]] static std::byte* control_memory(const Run& run, std::size_t number) noexcept;
  [[nodiscard]] unsigned lane(const PlannedOperation& write) const noexcept FAB_REQUIRES(engine_lock);
  [[nodiscard]] bool has_arrived(const Channel& channel, const PlannedOperation& write) const noexcept
      FAB_REQUIRES(engine_lock);
  [[nodiscard]] bool may_write(const Channel& channel) const noexcept FAB_REQUIRES(engine_lock);

  Run& run_;
  Arrivals& arrivals_;
  std::vector<std::unique_ptr<Channel>> channels_ FAB_GUARDED_BY(engine_lock);  ///< by PlannedOperation::channel
  std::vector<Partner> partners_ FAB_GUARDED_BY(engine_lock);
  Run* control_run_ FAB_GUARDED_BY(engine_lock) = nullptr;  ///< the run that exchanges them; null afterwards
  Status failure_ FAB_GUARDED_BY(engine_lock);
  std::uint64_t starts_ FAB_GUARDED_BY(engine_lock) = 0;
  bool any_start_failed_ FAB_GUARDED_BY(engine_lock) = false;
};

}  // namespace fab::core
