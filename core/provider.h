// The provider interface: what fab needs of a transport between two ranks. One implementation per folder of providers/.
#pragma once

#include <sys/uio.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "fab/error.h"
#include "fab/message.h"

namespace fab {

/// Pieces of memory in one post at most, even if the provider could take more.
inline constexpr std::size_t kMaxPieces = 16;

[[nodiscard]] inline std::uint64_t total_bytes(std::span<const iovec> pieces) noexcept {
  std::uint64_t bytes = 0;
  for (const iovec& piece : pieces) bytes += piece.iov_len;
  return bytes;
}

/// What became of a post. `again` is no error: the engine keeps the post and repeats it after the next progress.
enum class PostResult { done, pending, again };

/// How a message or a write leaves. Within a node: announced, and then sent in chunks, as the receiver can do neither
/// of the next two; announced, in memory that the receiver has the kernel read, or that it maps; in one copy for
/// several receivers; in the bulk memory; in a cell. By libfabric: a one-sided write, or a credit for one; a tagged
/// message, or a part of one.
enum class Way : std::uint8_t { chunks, kernel, mapped, written, tagged, shared, ring, cell };
inline constexpr std::array<std::string_view, 8> kWayNames{"chunks", "kernel", "mapped", "written",
                                                           "tagged", "shared", "ring",   "cell"};

/// How much has left by each way. Not atomic: the counting is under the engine's lock.
class WayCounts {
 public:
  struct Sent {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
  };

  [[nodiscard]] const Sent& operator[](Way way) const noexcept { return sent_[static_cast<std::size_t>(way)]; }
  void add(Way way, std::uint64_t bytes) noexcept {
    Sent& sent = sent_[static_cast<std::size_t>(way)];
    ++sent.messages;
    sent.bytes += bytes;
  }
  /// One of these that was counted for `from` goes by `to` instead.
  void move(Way from, Way to, std::uint64_t bytes) noexcept {
    Sent& sent = sent_[static_cast<std::size_t>(from)];
    --sent.messages;
    sent.bytes -= bytes;
    add(to, bytes);
  }
  void add(const WayCounts& others) noexcept {
    for (std::size_t i = 0; i < sent_.size(); ++i) {
      sent_[i].messages += others.sent_[i].messages;
      sent_[i].bytes += others.sent_[i].bytes;
    }
  }
  /// Calls `visit(way, messages, bytes)` for each way that something has left by; `way` is a word.
  template <class Visit>
  void visit(Visit&& visit) const {
    for (std::size_t i = 0; i < sent_.size(); ++i)
      if (sent_[i].messages > 0) visit(kWayNames[i], sent_[i].messages, sent_[i].bytes);
  }

 private:
  std::array<Sent, kWayNames.size()> sent_{};
};

/// Bytes of a message on their way into a receive, where the provider found them.
struct Delivery {
  std::uint64_t tag = 0;            ///< the sender's whole tag
  std::uint64_t message_bytes = 0;  ///< of the whole message
  std::uint64_t offset = 0;         ///< of these in the message
  std::span<const std::byte> bytes;
};

/// Something that is in flight. Lives inside the request it belongs to; the provider keeps only its address, which
/// must stay valid until one of the two handlers was called. A Completion cannot be made without an error handler.
class Completion {
 public:
  /// `tag` is the sender's whole tag (receives only), `bytes` what arrived.
  using DoneHandler = void (*)(Completion& self, std::uint64_t bytes, std::uint64_t tag) noexcept;
  using ErrorHandler = void (*)(Completion& self, const Status& status) noexcept;
  /// Makes use of bytes of a message, so that they need not come to the pieces of the receive; false: they shall. Says
  /// the same of all bytes of a message. Posts nothing.
  using TakeHandler = bool (*)(Completion& self, const Delivery& delivery) noexcept;

  Completion(DoneHandler on_done, ErrorHandler on_error, TakeHandler on_take = nullptr) noexcept
      : on_done_(on_done), on_error_(on_error), on_take_(on_take) {}

  void done(std::uint64_t bytes, std::uint64_t tag) noexcept { on_done_(*this, bytes, tag); }
  void fail(const Status& status) noexcept { on_error_(*this, status); }
  /// Of a receive that was met, before done(): what a provider may offer that would otherwise copy to the pieces.
  [[nodiscard]] bool take(const Delivery& delivery) noexcept {
    return on_take_ != nullptr && on_take_(*this, delivery);
  }

  /// What leaves for it is counted there from now on, as the provider tells; null: nowhere. The counts outlive all that
  /// is in flight.
  void count_in(WayCounts* counts) noexcept { counts_ = counts; }
  /// Of a provider: a message or a write of so many bytes, or a part of one, has left by that way.
  void left_by(Way way, std::uint64_t bytes) noexcept {
    if (counts_ != nullptr) counts_->add(way, bytes);
  }
  /// Of a provider: one that had left by `from` goes by `to`.
  void goes_by(Way from, Way to, std::uint64_t bytes) noexcept {
    if (counts_ != nullptr) counts_->move(from, to, bytes);
  }

  /// The first bytes belong to the provider while the operation is in flight (libfabric's FI_CONTEXT2).
  static constexpr std::size_t kProviderSpace = 64;
  [[nodiscard]] void* provider_space() noexcept { return space_; }
  static Completion& from_provider_space(void* space) noexcept { return *static_cast<Completion*>(space); }

 private:
  alignas(16) std::byte space_[kProviderSpace] = {};
  DoneHandler on_done_;
  ErrorHandler on_error_;
  TakeHandler on_take_;
  WayCounts* counts_ = nullptr;
};

/// A provider's own name for a peer.
using PeerHandle = std::uint64_t;

/// One of the peers that the same message goes to.
struct Addressee {
  PeerHandle to = 0;
  std::uint64_t tag = 0;
  Completion* completion = nullptr;
  PostResult result = PostResult::again;  ///< what became of its post
};

/// Receives: from any rank. Only transports to other nodes know it.
inline constexpr PeerHandle kAnyPeer = ~PeerHandle{0};

/// Where a peer may write: what the provider of the memory's owner made of its address.
struct RemoteMemory {
  std::uint64_t address = 0;
  std::uint64_t key = 0;

  [[nodiscard]] RemoteMemory behind(std::uint64_t bytes) const noexcept { return {address + bytes, key}; }
};

/// Memory that the provider has got ready for one-sided writes, until this object ends.
class Registration {
 public:
  virtual ~Registration() = default;
  /// Of memory that was exposed.
  [[nodiscard]] virtual RemoteMemory remote() const noexcept = 0;
};

/// Hears of writes that peers made to this rank's memory.
class WriteListener {
 public:
  /// All of the write is visible. `data` is what the writer gave.
  virtual void written(std::uint32_t data) noexcept = 0;

 protected:
  ~WriteListener() = default;
};

struct Capabilities {
  std::size_t inject_bytes = 0;  ///< post_send() of up to this size leaves the buffer free at once
  std::size_t iov_limit = 1;     ///< pieces of memory in one post
  std::uint64_t max_message_bytes = 0;
  bool directed_receive = false;      ///< post_recv matches by source; otherwise the tag must name the source
  std::uint64_t tag_mask = ~0ull;     ///< the bits of a tag that travel
  bool wait_fd = false;               ///< wait_fd() and may_sleep() work
  bool wait_fd_lags = false;          ///< poll() may find something a moment before wait_fd() tells of it
  bool early_messages_block = false;  ///< a message that no receive waits for may hold up its sender's later ones
  bool may_hold_back = false;         ///< messages that it has called sent may need polls to leave
  bool takes_longer_messages =
      false;  ///< a message longer than its receive is cut, and done() is told its whole length
  /// A long message for which no receive is posted stays with its sender, costs the receiver nothing, and can be taken
  /// back.
  bool waits_at_sender = false;
  /// Of so many bytes post_send_to_all() costs less than a post_send() for each.
  std::uint64_t least_copied_once = 1;
  std::uint64_t most_copied_once = 0;
  bool writes = false;  ///< one-sided writes, below, work
  bool card = false;    ///< a network card carries the bytes, past the kernel
  /// Messages up to this size reach their receiver's machine once they are posted, while both ranks compute. Longer
  /// ones move on in the polls of both.
  std::uint64_t unattended_bytes = ~0ull;
  /// Sends up to this size, repeated ones among them, end without polls of their receivers.
  std::uint64_t detached_bytes = ~0ull;

  [[nodiscard]] bool copies_once(std::uint64_t bytes) const noexcept {
    return bytes >= least_copied_once && bytes <= most_copied_once;
  }
  /// The lowest bit that does not travel ends what a tag may use.
  [[nodiscard]] unsigned tag_bits() const noexcept { return static_cast<unsigned>(std::countr_one(tag_mask)); }
  /// Of those, all but the two highest, which are open: a receive ignores open bits as it likes, but closed ones only
  /// all together, since a provider may disguise them.
  [[nodiscard]] std::uint64_t closed_tag_bits() const noexcept {
    constexpr unsigned kOpenBits = 2;
    return tag_bits() > kOpenBits ? ~0ull >> (64 - tag_bits() + kOpenBits) : 0;
  }
};

/// Where a rank's machine can be reached.
struct HostAddress {
  std::string socket_address;     ///< bytes of a sockaddr_in or sockaddr_in6, port included; empty: none is known
  bool carries_messages = false;  ///< the provider's own
};

/// A call that a rank has given up by the fault of a lost rank; kNoRank: it goes on there.
struct GivenUp {
  std::uint32_t communicator = 0;  ///< a word for its id, the same on all ranks, never 0
  Rank failed_rank = kNoRank;
};

/// All calls are made under one lock (the engine's), except capabilities, name, description and address, which are
/// constant. Handlers run inside post_* and poll.
class Provider {
 public:
  virtual ~Provider() = default;

  [[nodiscard]] virtual const Capabilities& capabilities() const noexcept = 0;
  /// A word: "net", "tcp;ofi_rxm", "local".
  [[nodiscard]] virtual const std::string& name() const noexcept = 0;
  /// For messages: provider, interface and own address.
  [[nodiscard]] virtual const std::string& description() const noexcept = 0;
  /// What peers need to reach this rank through this provider.
  [[nodiscard]] virtual const std::string& address() const noexcept = 0;

  /// Of the interface that it uses.
  [[nodiscard]] virtual HostAddress host_address() const { return {}; }

  /// Makes a peer reachable. Throws Error(unreachable, mismatch or transport).
  virtual PeerHandle connect(std::string_view address) = 0;

  /// Sends the pieces as one message. done: the buffer is free and no handler will be called; pending: a handler will
  /// be called, perhaps was called already (with a failure); again: nothing happened. A provider that has visit_ways()
  /// tells the completion the way of what has left, once for each part; so do writes.
  [[nodiscard]] virtual PostResult post_send(PeerHandle to, std::span<const iovec> pieces, std::uint64_t tag,
                                             Completion& completion) = 0;
  /// post_send() of a message that may come again from the same place. The provider may find out whether it changes
  /// meanwhile, and send it in a way that is better for that.
  [[nodiscard]] virtual PostResult post_repeated(PeerHandle to, std::span<const iovec> pieces, std::uint64_t tag,
                                                 Completion& completion) {
    return post_send(to, pieces, tag, completion);
  }
  /// Receives one message whose tag equals `tag` in all bits that `ignore` does not name, scattered to the pieces.
  /// `ignore` names all closed bits (Capabilities) or none. A message that no rank of the job has sent fails with
  /// Errc::mismatch if it is received at all, and counts in strangers().
  /// A longer message writes nothing beyond the pieces; it fails with Errc::truncated unless
  /// Capabilities::takes_longer_messages. Never `done`. With Capabilities::early_messages_block a message that has come
  /// in already is matched inside the call.
  [[nodiscard]] virtual PostResult post_recv(PeerHandle from, std::span<const iovec> pieces, std::uint64_t tag,
                                             std::uint64_t ignore, Completion& completion) = 0;
  /// Keeps memory ready that messages will be sent from and received in, for as long as the object lives, so that posts
  /// need not. Null where nothing is gained. Nothing may be in flight there when the object ends.
  [[nodiscard]] virtual std::unique_ptr<Registration> hold(std::span<const iovec> /*sent*/,
                                                           std::span<const iovec> /*received*/) {
    return nullptr;
  }

  // One-sided writes (with Capabilities::writes).

  /// Lets peers write to the memory. Throws Error(no_resources, transport).
  [[nodiscard]] virtual std::unique_ptr<Registration> expose(std::span<std::byte>) { return nullptr; }
  /// Exposed memory is its owner's again, though peers may not know yet. What they write there from now on goes
  /// nowhere; where the provider has no way to do that the write fails, perhaps with the connection.
  virtual void withdraw(std::unique_ptr<Registration>) {}
  /// Gets memory ready that post_write reads from. Throws as expose().
  [[nodiscard]] virtual std::unique_ptr<Registration> prepare_source(std::span<const iovec>) { return nullptr; }
  /// Writes the pieces, one behind the other, to memory that the peer has exposed, where the listener is told `data`.
  /// `source` is of the same pieces. Returns as post_send does.
  [[nodiscard]] virtual PostResult post_write(PeerHandle, std::span<const iovec>, const Registration& /*source*/,
                                              const RemoteMemory&, std::uint32_t /*data*/, Completion&) {
    return PostResult::again;
  }
  /// The listener to peers' writes; before this call there is none.
  virtual void set_listener(WriteListener*) noexcept {}

  // What ranks that share memory tell each other without being asked.

  /// This rank closes in order, and posts nothing any more.
  virtual void tell_closed() noexcept {}
  /// A caller has waited for this peer for a while: if it has closed, what waits for more than it has sent fails in
  /// later polls.
  virtual void notice_close(PeerHandle) {}
  /// A rank of the job was lost.
  virtual void tell_lost(Rank) noexcept {}
  /// One that the peer has lost, also if it has ended since; kNoRank: none.
  [[nodiscard]] virtual Rank lost_by(PeerHandle) const noexcept { return kNoRank; }
  virtual void tell_given_up(const GivenUp&) noexcept {}
  /// By whose fault the peer has given up a call on that communicator; kNoRank: it has not, or goes on.
  [[nodiscard]] virtual Rank given_up_by(PeerHandle, std::uint32_t /*communicator*/) const noexcept { return kNoRank; }

  /// Ends the connection with a peer that does not answer, so that what is in flight there fails; a posted receive
  /// whose message has come in part cannot be taken back otherwise. `whole_host`: also what may be other ranks' of its
  /// host.
  virtual void drop(PeerHandle /*peer*/, bool /*whole_host*/) {}

  /// Why nothing more can come from the peer, if so, or null: for providers that do not bear a receive of what it had
  /// begun to send before its connection ended.
  virtual void ask_before_receiving(PeerHandle, std::function<const char*()> /*why_not*/) {}

  /// Asks for an end of a posted receive; its handler is called in any case, with Errc::cancelled if that worked.
  virtual void cancel(Completion& completion) = 0;
  /// Takes back a posted send, whose caller gives its memory up. False: the provider still needs the memory, and calls
  /// the handler when it does not. True: it was called, with Errc::cancelled if the receiver gets nothing: its receive
  /// then meets the next message of that tag.
  virtual bool take_back(Completion& /*completion*/) { return false; }

  /// Messages and writes that left for the peer, by the way that they took. `way` is a word.
  using WayVisitor = std::function<void(std::string_view way, std::uint64_t messages, std::uint64_t bytes)>;
  virtual void visit_ways(PeerHandle, const WayVisitor& /*visit*/) const {}
  /// The way of a message of these pieces that is posted now, to so many peers at once, as far as that is known before
  /// its receiver answers: a literal. Empty: unknown.
  [[nodiscard]] virtual std::string_view way_of(PeerHandle, std::span<const iovec> /*pieces*/,
                                                std::size_t /*peers*/ = 1) const {
    return {};
  }
  /// Of one that is posted by post_repeated() now, or by post_send_to_all().
  [[nodiscard]] virtual std::string_view way_of_repeated(PeerHandle peer, std::span<const iovec> pieces,
                                                         std::size_t peers = 1) const {
    return way_of(peer, pieces, peers);
  }

  /// Messages and writes that were dropped because no rank of the job can have sent them.
  [[nodiscard]] virtual std::uint64_t strangers() const noexcept { return 0; }

  /// Moves things on and calls handlers; returns how many.
  virtual std::size_t poll() = 0;
  /// Something of this rank's is in flight. Otherwise polls serve the peers only, and need not be frequent.
  [[nodiscard]] virtual bool busy() const noexcept { return true; }

  /// A descriptor that becomes readable when poll() has something to do, provided that may_sleep() said yes after the
  /// last poll and the last post, and awake() was not called since. -1 without Capabilities::wait_fd.
  [[nodiscard]] virtual int wait_fd() const noexcept { return -1; }
  /// Costs little where it said yes before, and awake() was not called since.
  [[nodiscard]] virtual bool may_sleep() { return false; }
  /// No thread sleeps on the descriptor any more, which need not tell of anything until may_sleep() says yes again. A
  /// poll() alone leaves it as it is, as another thread may sleep there.
  virtual void awake() {}
  /// Where peers see whether a caller waits, who polls: the engine writes it. Null: they do not look.
  [[nodiscard]] virtual std::atomic<bool>* caller_waits() noexcept { return nullptr; }
  /// Its descriptor tells of nothing that comes.
  [[nodiscard]] virtual bool is_disarmed() const noexcept { return false; }

  /// Posts the same pieces to each of several peers, with results as those of post_repeated(). Handlers may run before
  /// all have been posted.
  virtual void post_send_to_all(std::span<Addressee> addressees, std::span<const iovec> pieces) {
    for (Addressee& each : addressees) each.result = post_repeated(each.to, pieces, each.tag, *each.completion);
  }
};

}  // namespace fab
