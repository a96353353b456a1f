// Posts that providers refused for now, and will be given again.
#pragma once

#include <cstddef>
#include <vector>

#include "core/progress/post.h"

namespace fab::core {

/// Guarded by the engine's lock.
class Backlog {
 public:
  [[nodiscard]] bool empty() const noexcept { return refused_.empty() && peers_.empty(); }
  /// A receive, or a write: to be repeated.
  void add(Post& post) noexcept { refused_.push_back(post); }
  /// A send, and so will those be that wait for the same peer: they leave in the order of their posts, which is the one
  /// in which the peer looks for them.
  void add(Post& send, RefusedPosts& to_peer);
  static void forget(Post& post) noexcept {
    if (post.refused_in != nullptr) post.refused_in->erase(post);
  }
  /// Tries each post that was refused when the pass began once, but of the sends to one peer only as many as it takes.
  /// Returns how many were accepted.
  std::size_t retry();

 private:
  std::size_t retry_sends(RefusedPosts& to_peer);

  RefusedPosts refused_;
  std::vector<RefusedPosts*> peers_;  ///< the sends of each peer that has some
  const Post* repeated_ = nullptr;    ///< the send that is being repeated
};

}  // namespace fab::core
