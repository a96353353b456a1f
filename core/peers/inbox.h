// The inbox: messages that arrived before their receives, taken in so that they do not block later messages.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>

#include "core/base/engine_lock.h"
#include "core/progress/task.h"
#include "core/provider.h"
#include "core/wire/frame.h"
#include "core/wire/match_tag.h"

namespace fab::core {

class Engine;

/// For a provider with Capabilities::early_messages_block. A receive of any message is posted and cancelled at once:
/// it catches only what no posted receive was waiting for. Receives that come later look here first. Guarded by the
/// engine's lock.
class Inbox final : public Intake {
 public:
  Inbox(Engine& engine, Provider& provider, const TagFormat& tags);
  /// Nothing may be in flight: the provider is closed, or will call no handler any more.
  ~Inbox() = default;
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  // Looking costs as much as several polls and what is caught is copied, so it happens when nothing else has for a
  // while, and once in many polls; but at once as long as each look catches something (16 looks after each catch took
  // a tenth of the time of collectives of 8 B between ranks that share processors).

  /// Messages that were dropped because they are longer than any that a rank of the job sends without a receive.
  [[nodiscard]] std::uint64_t too_long() const noexcept FAB_REQUIRES(engine_lock) { return too_long_; }

  bool look_before_sleep(bool quiet) override FAB_REQUIRES(engine_lock);
  void polled(bool nothing_happened) override FAB_REQUIRES(engine_lock);
  /// From now on point-to-point envelopes go to `envelope`; those that are here go there at once.
  using Forward = std::function<void(std::span<const std::byte>)>;
  void forward(Forward envelope) FAB_REQUIRES(engine_lock);
  /// As Provider::post_recv, which it calls unless the message is here. Tags match whether framed or not.
  [[nodiscard]] PostResult post_recv(PeerHandle from, std::span<const iovec> pieces, std::uint64_t tag,
                                     Completion& completion) FAB_REQUIRES(engine_lock);

 private:
  /// The receive that catches any message. While it is in use it is not known which message it will be.
  struct Catch : Completion {
    explicit Catch(Inbox& its_inbox);

    Inbox& inbox;
    bool in_use = false;
    std::unique_ptr<std::byte[]> memory;
  };
  /// A message, or one of the parts of a long one.
  struct UnexpectedMessage : Completion {
    UnexpectedMessage(Inbox& its_inbox, std::uint64_t its_tag, std::uint64_t its_bytes);

    Inbox& inbox;
    std::uint64_t tag;
    std::uint64_t bytes;
    std::unique_ptr<std::byte[]> memory;
    bool arrived = false;
  };
  /// By the tag without the mark of frames. Messages of one tag stay in their order.
  using Messages = std::multimap<std::uint64_t, UnexpectedMessage>;

  [[nodiscard]] std::uint64_t key(std::uint64_t tag) const noexcept { return tag & ~tags_.framed(); }
  /// Takes in one message if there is one that no receive waits for; returns whether something happened.
  bool look() FAB_REQUIRES(engine_lock);
  void caught(std::uint64_t bytes, std::uint64_t tag) FAB_REQUIRES(engine_lock);
  void caught_nothing(const Status& status) FAB_REQUIRES(engine_lock);
  void expect_later_parts(std::uint64_t tag, std::uint64_t message_bytes) FAB_REQUIRES(engine_lock);
  void post_later_part(UnexpectedMessage& message) FAB_REQUIRES(engine_lock);
  void lost(const UnexpectedMessage& message) FAB_REQUIRES(engine_lock);

  Engine& engine_;
  Provider& provider_;
  const TagFormat& tags_;
  Catch catch_ FAB_GUARDED_BY(engine_lock);
  Messages messages_ FAB_GUARDED_BY(engine_lock);
  Forward forward_ FAB_GUARDED_BY(engine_lock);
  std::uint64_t too_long_ FAB_GUARDED_BY(engine_lock) = 0;
  bool caught_one_ FAB_GUARDED_BY(engine_lock) = false;  ///< the latest look did; the next idle poll looks again
  int polls_ FAB_GUARDED_BY(engine_lock) = 0;            ///< since the last look
};

}  // namespace fab::core
