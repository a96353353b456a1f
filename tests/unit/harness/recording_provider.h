// A provider that does nothing on its own: it records the posts, and the test decides how each of them ends.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/provider.h"
#include "fab/schedule.h"

namespace fab::test {

inline constexpr auto kSend = OperationKind::send;
inline constexpr auto kRecv = OperationKind::recv;

/// What an accepted post asked for.
struct Post {
  OperationKind kind = OperationKind::send;
  PeerHandle peer = 0;
  std::uint64_t tag = 0;
  std::uint64_t ignore = 0;
  std::vector<iovec> pieces;
  std::vector<std::byte> message{};  ///< of a send: the bytes when it was posted
  Completion* completion = nullptr;
  bool settled = false;  ///< the test has said what becomes of it
  bool cancel_asked = false;

  [[nodiscard]] std::size_t bytes() const;
};

/// When the handler of a cancelled receive is called.
enum class Cancelling { in_cancel, in_next_poll, never };

/// A peer's handle is the number that its address spells. The test's side may be used from any thread.
class RecordingProvider : public Provider {
 public:
  explicit RecordingProvider(const Capabilities& capabilities, std::string address = "0");
  ~RecordingProvider() override;

  static Capabilities default_capabilities();

  // The test's side: before a post.
  /// So many posts of any kind are refused, after so many that are accepted.
  void refuse(std::size_t posts, std::size_t after = 0);
  void refuse_peer(PeerHandle peer, OperationKind kind, bool refused);  ///< all posts of a kind to or from one peer
  /// The next post of this kind to or from this peer fails before it returns.
  void fail_in_post(PeerHandle peer, OperationKind kind, std::string fault);
  void refuse_connections(std::string fault);  ///< connect throws Error(unreachable)
  void set_cancelling(Cancelling cancelling);
  void show_given_up(PeerHandle peer, const GivenUp& what);  ///< a peer tells it, from now on

  // What was posted, in the order of acceptance.
  [[nodiscard]] std::vector<Post> posts() const;
  [[nodiscard]] std::size_t count(OperationKind kind) const;
  /// The n-th accepted post of a kind to or from a peer; fails the test when there is none.
  [[nodiscard]] std::size_t find(OperationKind kind, PeerHandle peer, std::size_t n = 0) const;
  /// The peers of each post to several, in the order of the posts. Guarded by the engine's lock.
  [[nodiscard]] const std::vector<std::vector<PeerHandle>>& posts_to_all() const noexcept { return posts_to_all_; }
  /// What this rank told of what it has given up. Guarded by the engine's lock.
  [[nodiscard]] const std::vector<GivenUp>& told_given_up() const noexcept { return told_given_up_; }
  /// Whose connections this rank has ended. Guarded by the engine's lock.
  [[nodiscard]] const std::vector<PeerHandle>& dropped() const noexcept { return dropped_; }
  [[nodiscard]] std::size_t refusals() const noexcept { return refusals_.load(); }
  [[nodiscard]] std::size_t polls() const noexcept { return polls_.load(); }
  /// Those by other threads than the one that made the provider.
  [[nodiscard]] std::size_t background_polls() const noexcept { return background_polls_.load(); }

  // What becomes of post number `post`, in the next poll.
  void complete_send(std::size_t post);
  /// A message arrives, with the tag that the receive asked for; `tag_change` flips bits of it.
  void deliver(std::size_t post, std::vector<std::byte> message, std::uint64_t tag_change = 0);
  void fail(std::size_t post, Errc code, std::string fault);
  /// Completes every send that was not settled yet, and fills every such receive with `bytes` zeros.
  void settle_all(std::size_t bytes);
  /// The descriptor says that there is something to do, though nothing ends by it.
  void knock();
  /// From now on the descriptor does not tell of what ends: a fault that providers must not have.
  void fall_silent();

  // Provider.
  [[nodiscard]] const Capabilities& capabilities() const noexcept override { return capabilities_; }
  [[nodiscard]] const std::string& name() const noexcept override { return name_; }
  [[nodiscard]] const std::string& description() const noexcept override { return description_; }
  [[nodiscard]] const std::string& address() const noexcept override { return address_; }
  PeerHandle connect(std::string_view address) override;
  [[nodiscard]] PostResult post_send(PeerHandle to, std::span<const iovec> pieces, std::uint64_t tag,
                                     Completion& completion) override;
  [[nodiscard]] PostResult post_recv(PeerHandle from, std::span<const iovec> pieces, std::uint64_t tag,
                                     std::uint64_t ignore, Completion& completion) override;
  void post_send_to_all(std::span<Addressee> addressees, std::span<const iovec> pieces) override;
  void cancel(Completion& completion) override;
  void tell_given_up(const GivenUp& what) noexcept override { told_given_up_.push_back(what); }
  void drop(PeerHandle peer, bool /*whole_host*/) override { dropped_.push_back(peer); }
  [[nodiscard]] Rank given_up_by(PeerHandle peer, std::uint32_t communicator) const noexcept override;
  std::size_t poll() override;
  [[nodiscard]] int wait_fd() const noexcept override;
  [[nodiscard]] bool may_sleep() override;
  [[nodiscard]] std::atomic<bool>* caller_waits() noexcept override { return &caller_waits_; }

 private:
  struct Event {
    Completion* completion = nullptr;
    std::uint64_t bytes = 0;
    std::uint64_t tag = 0;
    Status failure{};
  };
  struct Fault {
    PeerHandle peer;
    OperationKind kind;
    std::string text;
  };

  PostResult accept(Post post);
  bool refuses(const Post& post);
  void settle(std::size_t post, Event event);
  void push(Event event);
  static void call(const Event& event);

  const Capabilities capabilities_;
  const std::string name_ = "recording";
  const std::string description_ = "recording";
  const std::string address_;
  const int wait_fd_;
  mutable std::mutex mutex_;
  std::vector<Post> posts_;
  std::vector<Event> events_;
  bool is_silent_ = false;
  std::size_t accept_next_ = 0;
  std::size_t refuse_next_ = 0;  ///< after those
  std::set<std::pair<PeerHandle, OperationKind>> refused_peers_;
  std::vector<Fault> faults_;
  std::string connection_fault_;
  std::atomic<bool> caller_waits_{false};
  std::map<std::pair<PeerHandle, std::uint32_t>, Rank> given_up_;
  std::vector<std::vector<PeerHandle>> posts_to_all_;
  std::vector<GivenUp> told_given_up_;
  std::vector<PeerHandle> dropped_;
  Cancelling cancelling_ = Cancelling::in_cancel;
  std::atomic<std::size_t> refusals_{0};
  std::atomic<std::size_t> polls_{0};
  std::atomic<std::size_t> background_polls_{0};
  const std::thread::id maker_ = std::this_thread::get_id();
};

}  // namespace fab::test
