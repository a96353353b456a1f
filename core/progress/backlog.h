// The backlog: posts that providers refused for now, to be repeated.
#pragma once

#include <cstddef>
#include <vector>

#include "core/base/engine_lock.h"
#include "core/progress/post.h"

namespace fab::core {

/// Guarded by the engine's lock.
class Backlog {
 public:
  [[nodiscard]] bool empty() const noexcept FAB_REQUIRES(engine_lock) { return refused_.empty() && peers_.empty(); }
  /// A receive, or a write: to be repeated.
  void add(Post& post) noexcept FAB_REQUIRES(engine_lock) { refused_.push_back(post); }
  /// A send, and so will those be that wait for the same peer: they leave in the order of their posts, which is the one
  /// in which the peer looks for them.
  void add(Post& send, RefusedPosts& to_peer) FAB_REQUIRES(engine_lock);
  static void forget(Post& post) noexcept {
    if (post.refused_in != nullptr) post.refused_in->erase(post);
  }
  /// Tries each post that was refused when the pass began once, but of the sends to one peer only as many as it takes.
  /// Returns how many were accepted.
  std::size_t retry() FAB_REQUIRES(engine_lock);

 private:
  std::size_t retry_sends(RefusedPosts& to_peer) FAB_REQUIRES(engine_lock);

  RefusedPosts refused_ FAB_GUARDED_BY(engine_lock);
  std::vector<RefusedPosts*> peers_ FAB_GUARDED_BY(engine_lock);  ///< the sends of each peer that has some
  const Post* repeated_ FAB_GUARDED_BY(engine_lock) = nullptr;    ///< the send that is being repeated
};

}  // namespace fab::core
