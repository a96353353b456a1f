#include "core/progress/backlog.h"

#include <utility>

namespace fab::core {

// A send that is repeated asks for this before anything else does, or was accepted: then it may be another by now.
void Backlog::add(Post& send, RefusedPosts& to_peer) {
  if (std::exchange(repeated_, nullptr) == &send)
    to_peer.push_front(send);
  else
    to_peer.push_back(send);
  if (!std::exchange(to_peer.listed, true)) peers_.push_back(&to_peer);
}

std::size_t Backlog::retry() {
  std::size_t accepted = 0;
  for (std::size_t tries = refused_.size(); tries > 0 && !refused_.empty(); --tries) {
    Post& post = refused_.pop_front();
    if (post.attempt(post)) ++accepted;
  }
  for (std::size_t i = 0; i < peers_.size();) {
    RefusedPosts& to_peer = *peers_[i];
    accepted += retry_sends(to_peer);
    if (!to_peer.empty()) {
      ++i;
      continue;
    }
    to_peer.listed = false;
    peers_[i] = peers_.back();
    peers_.pop_back();
  }
  return accepted;
}

std::size_t Backlog::retry_sends(RefusedPosts& to_peer) {
  std::size_t accepted = 0;
  for (bool takes = true; takes && !to_peer.empty();) {
    Post& send = to_peer.pop_front();
    repeated_ = &send;
    takes = send.attempt(send);
    repeated_ = nullptr;
    if (takes) ++accepted;
  }
  return accepted;
}

}  // namespace fab::core
