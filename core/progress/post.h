// Posts that a provider refused for now, and the queues in which they wait to be repeated.
#pragma once

#include <cstddef>

#include "core/base/linked.h"
#include "core/provider.h"

namespace fab::core {

class RefusedPosts;

/// Something that a provider may refuse for now. The engine repeats it.
struct Post : Completion, Linked {
  /// Posts it; returns whether it was accepted. Otherwise it has asked the engine to repeat it.
  using Attempt = bool (*)(Post& self);

  Post(DoneHandler on_done, ErrorHandler on_error, Attempt its_attempt, TakeHandler on_take = nullptr) noexcept
      : Completion(on_done, on_error, on_take), attempt(its_attempt) {}
  /// What a class hands to posts that are its own, where only that class may call what they do.
  struct Handlers {
    DoneHandler done;
    ErrorHandler fail;
    Attempt attempt;
    TakeHandler take = nullptr;
  };
  explicit Post(const Handlers& handlers) noexcept
      : Post(handlers.done, handlers.fail, handlers.attempt, handlers.take) {}

  Attempt attempt;
  RefusedPosts* refused_in = nullptr;  ///< while it waits there
};

/// A queue of them. The engine's.
class RefusedPosts {
 public:
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  void push_back(Post& post) noexcept {
    list_.push_back(post);
    added(post);
  }
  void push_front(Post& post) noexcept {
    list_.push_front(post);
    added(post);
  }
  Post& pop_front() noexcept {
    Post& post = static_cast<Post&>(list_.first());
    erase(post);
    return post;
  }
  void erase(Post& post) noexcept {
    post.leave();
    post.refused_in = nullptr;
    --size_;
  }

  bool listed = false;  ///< among the engine's queues of peers

 private:
  void added(Post& post) noexcept {
    post.refused_in = this;
    ++size_;
  }

  Linked list_;
  std::size_t size_ = 0;
};

}  // namespace fab::core
