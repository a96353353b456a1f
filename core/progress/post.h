// Posts that a provider refused for now, and the queues in which they wait to be repeated.
#pragma once

#include <cstddef>

#include "core/provider.h"

namespace fab::core {

class RefusedPosts;

/// Something that a provider may refuse for now. The engine repeats it.
struct Post : Completion {
  /// Posts it; returns whether it was accepted. Otherwise it has asked the engine to repeat it.
  using Attempt = bool (*)(Post& self);

  Post(DoneHandler on_done, ErrorHandler on_error, Attempt its_attempt, TakeHandler on_take = nullptr) noexcept
      : Completion(on_done, on_error, on_take), attempt(its_attempt) {}

  Attempt attempt;
  RefusedPosts* refused_in = nullptr;  ///< while it waits there
  Post* next_refused = nullptr;
};

/// A queue of them; takes no memory of its own. The engine's.
class RefusedPosts {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  void push_back(Post& post) noexcept {
    post.next_refused = nullptr;
    (empty() ? first_ : last_->next_refused) = &post;
    last_ = &post;
    added(post);
  }
  void push_front(Post& post) noexcept {
    post.next_refused = first_;
    if (empty()) last_ = &post;
    first_ = &post;
    added(post);
  }
  Post& pop_front() noexcept {
    Post& post = *first_;
    first_ = post.next_refused;
    removed(post);
    return post;
  }
  void erase(Post& post) noexcept {
    Post* previous = nullptr;
    for (Post* p = first_; p != &post; p = p->next_refused) previous = p;
    (previous == nullptr ? first_ : previous->next_refused) = post.next_refused;
    if (last_ == &post) last_ = previous;
    removed(post);
  }

  bool listed = false;  ///< among the engine's queues of peers

 private:
  void added(Post& post) noexcept {
    post.refused_in = this;
    ++size_;
  }
  void removed(Post& post) noexcept {
    post.refused_in = nullptr;
    --size_;
  }

  Post* first_ = nullptr;
  Post* last_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace fab::core
