#include "unit/harness/recording_provider.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "unit/harness/iovec_bytes.h"
#include "unit/support/allocation_count.h"

namespace fab::test {

std::size_t Post::bytes() const { return total_bytes(pieces); }

Capabilities RecordingProvider::default_capabilities() {
  return {.iov_limit = 4, .max_message_bytes = 1ull << 30, .directed_receive = true, .wait_fd = true};
}

RecordingProvider::RecordingProvider(const Capabilities& capabilities, std::string address)
    : capabilities_(capabilities), address_(std::move(address)), wait_fd_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

RecordingProvider::~RecordingProvider() { ::close(wait_fd_); }

void RecordingProvider::refuse(std::size_t posts, std::size_t after) {
  const std::lock_guard lock(mutex_);
  accept_next_ = after;
  refuse_next_ = posts;
}

void RecordingProvider::refuse_peer(PeerHandle peer, OperationKind kind, bool refused) {
  const std::lock_guard lock(mutex_);
  if (refused)
    refused_peers_.emplace(peer, kind);
  else
    refused_peers_.erase({peer, kind});
}

void RecordingProvider::fail_in_post(PeerHandle peer, OperationKind kind, std::string fault) {
  const std::lock_guard lock(mutex_);
  faults_.push_back({peer, kind, std::move(fault)});
}

void RecordingProvider::refuse_connections(std::string fault) {
  const std::lock_guard lock(mutex_);
  connection_fault_ = std::move(fault);
}

void RecordingProvider::show_given_up(PeerHandle peer, const GivenUp& what) {
  given_up_[{peer, what.communicator}] = what.failed_rank;
}

Rank RecordingProvider::given_up_by(PeerHandle peer, std::uint32_t communicator) const noexcept {
  const auto found = given_up_.find({peer, communicator});
  return found == given_up_.end() ? kNoRank : found->second;
}

void RecordingProvider::set_cancelling(Cancelling cancelling) {
  const std::lock_guard lock(mutex_);
  cancelling_ = cancelling;
}

std::vector<Post> RecordingProvider::posts() const {
  const std::lock_guard lock(mutex_);
  return posts_;
}

std::size_t RecordingProvider::count(OperationKind kind) const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(
      std::count_if(posts_.begin(), posts_.end(), [kind](const Post& post) { return post.kind == kind; }));
}

std::size_t RecordingProvider::find(OperationKind kind, PeerHandle peer, std::size_t n) const {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < posts_.size(); ++i)
    if (posts_[i].kind == kind && posts_[i].peer == peer && n-- == 0) return i;
  throw std::out_of_range("no such post: " + std::string(to_string(kind)) + ", peer " + std::to_string(peer));
}

void RecordingProvider::complete_send(std::size_t post) {
  const std::lock_guard lock(mutex_);
  settle(post, {.bytes = posts_.at(post).bytes()});
}

void RecordingProvider::deliver(std::size_t post, std::vector<std::byte> message, std::uint64_t tag_change) {
  const std::lock_guard lock(mutex_);
  const Post& receive = posts_.at(post);
  const std::uint64_t tag = receive.tag ^ tag_change;
  scatter(receive.pieces, message);
  if (message.size() > receive.bytes())
    settle(post, {.failure = {make_error_code(Errc::truncated), "a longer message arrived"}});
  else
    settle(post, {.bytes = message.size(), .tag = tag});
}

void RecordingProvider::fail(std::size_t post, Errc code, std::string fault) {
  const std::lock_guard lock(mutex_);
  settle(post, {.failure = {make_error_code(code), std::move(fault)}});
}

void RecordingProvider::settle_all(std::size_t bytes) {
  const std::vector<Post> all = posts();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].settled) continue;
    if (all[i].kind == OperationKind::send)
      complete_send(i);
    else
      deliver(i, std::vector<std::byte>(bytes));
  }
}

void RecordingProvider::knock() {
  const std::lock_guard lock(mutex_);
  push({});
}

void RecordingProvider::fall_silent() {
  const std::lock_guard lock(mutex_);
  is_silent_ = true;
}

void RecordingProvider::settle(std::size_t post, Event event) {
  if (posts_.at(post).settled) throw std::logic_error("post " + std::to_string(post) + " is settled already");
  posts_[post].settled = true;
  event.completion = posts_[post].completion;
  push(std::move(event));
}

void RecordingProvider::push(Event event) {
  events_.push_back(std::move(event));
  if (is_silent_) return;
  const std::uint64_t one = 1;
  EXPECT_EQ(::write(wait_fd_, &one, sizeof(one)), static_cast<ssize_t>(sizeof(one)));
}

PeerHandle RecordingProvider::connect(std::string_view address) {
  const std::lock_guard lock(mutex_);
  if (!connection_fault_.empty()) throw Error(Errc::unreachable, connection_fault_);
  return std::stoull(std::string(address));
}

bool RecordingProvider::refuses(const Post& post) {
  const bool peer_refused = refused_peers_.contains({post.peer, post.kind});
  if (!peer_refused && accept_next_ > 0) {
    --accept_next_;
    return false;
  }
  if (!peer_refused && refuse_next_ == 0) return false;
  if (!peer_refused) --refuse_next_;
  refusals_.fetch_add(1);
  return true;
}

PostResult RecordingProvider::accept(Post post) {
  EXPECT_LE(post.pieces.size(), capabilities_.iov_limit);
  EXPECT_LE(post.bytes(), capabilities_.max_message_bytes);
  EXPECT_EQ(post.tag & ~capabilities_.tag_mask, 0u);
  const bool injected = post.kind == OperationKind::send && post.bytes() <= capabilities_.inject_bytes;
  const bool sends = post.kind == OperationKind::send;
  const std::size_t bytes = post.bytes();
  Status fault;
  Completion& completion = *post.completion;
  {
    const std::lock_guard lock(mutex_);
    if (refuses(post)) return PostResult::again;
    const auto found = std::find_if(faults_.begin(), faults_.end(), [&post](const Fault& each) {
      return each.peer == post.peer && each.kind == post.kind;
    });
    if (found != faults_.end()) {
      fault = {make_error_code(Errc::transport), found->text};
      faults_.erase(found);
    }
    post.settled = injected || !fault.ok();
    posts_.push_back(std::move(post));
  }
  if (!fault.ok())
    completion.fail(fault);
  else if (sends)
    completion.left_by(fab::Way::tagged, bytes);
  return injected && fault.ok() ? PostResult::done : PostResult::pending;
}

PostResult RecordingProvider::post_send(PeerHandle to, std::span<const iovec> pieces, std::uint64_t tag,
                                        Completion& completion) {
  const PausedCount paused;
  return accept({.kind = OperationKind::send,
                 .peer = to,
                 .tag = tag,
                 .pieces = {pieces.begin(), pieces.end()},
                 .message = gather(pieces),
                 .completion = &completion});
}

void RecordingProvider::post_send_to_all(std::span<Addressee> addressees, std::span<const iovec> pieces) {
  std::vector<PeerHandle>& peers = posts_to_all_.emplace_back();
  for (const Addressee& each : addressees) peers.push_back(each.to);
  Provider::post_send_to_all(addressees, pieces);
}

PostResult RecordingProvider::post_recv(PeerHandle from, std::span<const iovec> pieces, std::uint64_t tag,
                                        std::uint64_t ignore, Completion& completion) {
  const PausedCount paused;
  return accept({.kind = OperationKind::recv,
                 .peer = from,
                 .tag = tag,
                 .ignore = ignore,
                 .pieces = {pieces.begin(), pieces.end()},
                 .completion = &completion});
}

void RecordingProvider::cancel(Completion& completion) {
  bool at_once = false;
  {
    const std::lock_guard lock(mutex_);
    const auto post = std::find_if(posts_.rbegin(), posts_.rend(),
                                   [&](const Post& p) { return p.completion == &completion && !p.settled; });
    if (post == posts_.rend()) return;  // its handler is on the way
    EXPECT_EQ(post->kind, OperationKind::recv) << "only receives may be cancelled";
    post->cancel_asked = true;
    if (cancelling_ == Cancelling::never) return;
    post->settled = true;
    at_once = cancelling_ == Cancelling::in_cancel;
    if (!at_once)
      push({.completion = &completion, .failure = {make_error_code(Errc::cancelled), "the receive was taken back"}});
  }
  if (at_once) completion.fail({make_error_code(Errc::cancelled), "the receive was taken back"});
}

void RecordingProvider::call(const Event& event) {
  if (event.completion == nullptr) return;
  if (event.failure.ok())
    event.completion->done(event.bytes, event.tag);
  else
    event.completion->fail(event.failure);
}

// The events that were there at the beginning, in the order in which the test made them.
std::size_t RecordingProvider::poll() {
  polls_.fetch_add(1);
  if (std::this_thread::get_id() != maker_) background_polls_.fetch_add(1);
  std::vector<Event> events;
  {
    const std::lock_guard lock(mutex_);
    events.swap(events_);
    std::uint64_t count = 0;
    if (!events.empty() && !is_silent_) {
      EXPECT_EQ(::read(wait_fd_, &count, sizeof(count)), static_cast<ssize_t>(sizeof(count)));
    }
  }
  for (const Event& event : events) call(event);
  return events.size();
}

int RecordingProvider::wait_fd() const noexcept { return capabilities_.wait_fd ? wait_fd_ : -1; }

bool RecordingProvider::may_sleep() {
  const std::lock_guard lock(mutex_);
  return events_.empty();
}

}  // namespace fab::test
