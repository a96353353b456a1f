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
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/provider.h"
#include "core/wire/message_parts.h"

namespace fab::core {

class OneSided;
class Run;
struct Peer;
struct PlannedOperation;
struct Transfer;

/// One message of a persistent exchange, at one of its two ends.
struct Channel {
  OneSided* owner = nullptr;
  std::span<const PlannedOperation> writes{};  ///< more than one: of a long message
  std::uint32_t number = 0;                    ///< what writes to this end carry, see Arrivals
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

/// The open channels of this rank by their numbers, and the byte that credits are written to.
class Arrivals final : public WriteListener {
 public:
  /// Precondition: the provider writes.
  explicit Arrivals(Provider& provider);
  ~Arrivals();
  Arrivals(const Arrivals&) = delete;
  Arrivals& operator=(const Arrivals&) = delete;

  void add(Channel& channel);
  void remove(const Channel& channel) noexcept;
  void written(std::uint32_t data) noexcept override;

  [[nodiscard]] std::span<const iovec> credit() const noexcept { return {&credit_, 1}; }
  [[nodiscard]] const Registration& credit_source() const noexcept { return *source_; }
  [[nodiscard]] RemoteMemory mailbox() const noexcept { return mailbox_->remote(); }

 private:
  struct Place {
    Channel* channel = nullptr;
    std::uint32_t uses = 0;  ///< part of the number, so that a late write for a channel that is gone meets no other
  };

  Provider& provider_;
  std::vector<Place> places_;
  std::vector<std::uint32_t> free_;
  std::array<std::byte, 64> memory_{};
  iovec credit_{memory_.data(), 1};
  std::unique_ptr<Registration> source_;
  std::unique_ptr<Registration> mailbox_;
};

/// The channels of one persistent exchange. Guarded by the engine's lock.
class OneSided {
 public:
  /// Messages in each direction between two ranks; exchanges with more of them send messages.
  static constexpr std::size_t kMostChannels = 32;

  /// Registers the run's memory and starts telling the peers. Precondition: the run's plan has channels, and its
  /// buffers are known. `tag` is TagFormat::lasting of a number that all ranks use for this. Memory that cannot be
  /// registered fails the starts at both of its ends. Throws Error(no_resources) where there is no room for channels.
  OneSided(Run& run, std::uint64_t tag);
  /// Precondition: nothing of the run is in flight.
  ~OneSided();
  OneSided(const OneSided&) = delete;
  OneSided& operator=(const OneSided&) = delete;

  /// All peers have told theirs, or one will not; see failure().
  [[nodiscard]] bool ready();
  /// Null unless nothing can be started. A peer that disagrees fails its own messages only.
  [[nodiscard]] const Status* failure() const noexcept { return failure_.ok() ? nullptr : &failure_; }
  [[nodiscard]] std::string describe_pending() const;

  void next_start() noexcept { ++starts_; }
  /// Of the message that the last start expects, or sends.
  [[nodiscard]] std::uint64_t slot_offset(const PlannedOperation& operation) const noexcept;
  [[nodiscard]] PostResult post(Transfer& transfer, std::span<const iovec> pieces);
  /// The peer has written a message, or a credit. A lane is a slot of a message that has two, else a write's number.
  void written(Channel& channel, unsigned lane) noexcept;
  /// Ends a transfer that waits for its peer; false when it does not.
  bool cancel(Transfer& transfer);
  /// The provider could not do it.
  void broken(const PlannedOperation& operation) noexcept;
  /// The start has failed. The ends of a channel that did not do its part count differently from now on, and its memory
  /// must not be written to any more.
  void end_start(const Status& reason);

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
  void exchange_letters(std::uint64_t tag);
  void read_letters();
  void read(const Letter& letter, const Partner& partner);
  [[nodiscard]] Status connect(Channel& channel, const Letter& letter, const LetterEnd& other) const;
  [[nodiscard]] PostResult write(const Channel& channel, Transfer& transfer, std::span<const iovec> pieces);
  static void give_up(Channel& channel, const Status& reason);
  [[nodiscard]] static const PlannedOperation& partner_operation(const Partner& partner) noexcept;
  [[nodiscard]] std::byte* letter_memory(std::size_t number) const noexcept;
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
