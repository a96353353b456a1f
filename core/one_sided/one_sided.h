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

  void written(unsigned lane) noexcept override;

  OneSided& owner;
  std::span<const PlannedOperation> writes{};  ///< more than one: of a long message
  std::unique_ptr<Registration> target_memory{};
  std::array<std::unique_ptr<Registration>, kMostWrites> sources{};  ///< by write

  // Of the other end.
  std::uint32_t peer_number = 0;
  RemoteMemory target{};  ///< the first slot, for an outgoing message; where credits go, for an incoming one
  std::uint64_t slot_distance = 0;

  std::array<std::uint64_t, kMostWrites> arrived{};  ///< messages, by lane
  std::uint64_t credits = 0;
  std::array<std::uint64_t, kMostWrites> kept_starts{};  ///< it has done, or will do, its part of all up to here
  std::array<Transfer*, kMostWrites> waiting{};          ///< for a message, or for a credit
  Status failure{};                                      ///< why it cannot be used any more

  /// Of the message as a whole.
  [[nodiscard]] const PlannedOperation& operation() const noexcept;
};

/// The channels of one persistent exchange. Guarded by the engine's lock.
class OneSided final : public WrittenMessages {
 public:
  /// Makes the run that tells the peers, of a schedule and under the tag of OneSided's constructor, and starts it.
  using StartRun = std::function<void(Schedule schedule, std::uint64_t tag, const std::function<void(Run&)>& fill)>;

  /// Registers the run's memory and starts telling the peers. Precondition: the run's plan has channels, and its
  /// buffers are known. `tag` is TagFormat::lasting of a number that all ranks use for this. Memory that cannot be
  /// registered fails the starts at both of its ends. Throws Error(no_resources) where there is no room for channels.
  OneSided(Run& run, std::uint64_t tag, const StartRun& start);
  /// Precondition: nothing of the run is in flight.
  ~OneSided() override;
  OneSided(const OneSided&) = delete;
  OneSided& operator=(const OneSided&) = delete;

  [[nodiscard]] bool ready() override;
  [[nodiscard]] const Status* failure() const noexcept override { return failure_.ok() ? nullptr : &failure_; }
  [[nodiscard]] std::string describe_pending() const override;

  void next_start() noexcept override { ++starts_; }
  [[nodiscard]] std::uint64_t slot_offset(const PlannedOperation& operation) const noexcept override;
  [[nodiscard]] PostResult post(Transfer& transfer, std::span<const iovec> pieces) override;
  bool cancel(Transfer& transfer) override;
  void broken(const PlannedOperation& operation) noexcept override;
  void end_start(const Status& reason) override;

  /// The peer has written a message, or a credit. A lane is a slot of a message that has two, else a write's number.
  void written(Channel& channel, unsigned lane) noexcept;

 private:
  struct LetterEnd;
  struct Letter;

  /// With one peer, as both ends sort them.
  struct Partner {
    Peer* peer = nullptr;
    std::vector<Channel*> outgoing{};
    std::vector<Channel*> incoming{};
  };

  void add_channels();
  void withdraw() noexcept;
  Channel& add_channel(const PlannedOperation& head);
  void register_memory(Channel& channel, const PlannedOperation& write);
  void make_memory(Channel& channel, const PlannedOperation& write);
  [[nodiscard]] Letter letter_to(const Partner& partner) const;
  void exchange_letters(std::uint64_t tag, const StartRun& start);
  void read_letters();
  void read(const Letter& letter, const Partner& partner);
  [[nodiscard]] Status connect(Channel& channel, const Letter& letter, const LetterEnd& other) const;
  [[nodiscard]] PostResult write(const Channel& channel, Transfer& transfer, std::span<const iovec> pieces);
  static void give_up(Channel& channel, const Status& reason);
  [[nodiscard]] static const PlannedOperation& partner_operation(const Partner& partner) noexcept;
  [[nodiscard]] static std::byte* letter_memory(const Run& letters, std::size_t number) noexcept;
  [[nodiscard]] unsigned lane(const PlannedOperation& write) const noexcept;
  [[nodiscard]] bool has_arrived(const Channel& channel, const PlannedOperation& write) const noexcept;
  [[nodiscard]] bool may_write(const Channel& channel) const noexcept;

  Run& run_;
  Arrivals& arrivals_;
  std::vector<std::unique_ptr<Channel>> channels_;  ///< by PlannedOperation::channel
  std::vector<Partner> partners_;
  Run* letters_ = nullptr;  ///< the run that exchanges them; null afterwards
  Status failure_;
  std::uint64_t starts_ = 0;
};

}  // namespace fab::core
