// Lists that take no memory of their own: what they hold has its place in itself.
#pragma once

namespace fab::core {

/// A place in a list, or the head of one. The list is a circle, so an element that leaves it need not know the list.
/// What enters a list lives until it has left.
class Linked {
 public:
  Linked() = default;
  /// A copy is in no list.
  Linked(const Linked& /*other*/) noexcept {}
  Linked& operator=(const Linked&) = delete;

  // Of a head.
  [[nodiscard]] bool is_empty() const noexcept { return next_ == this; }
  [[nodiscard]] Linked& first() noexcept { return *next_; }
  [[nodiscard]] const Linked& first() const noexcept { return *next_; }
  void push_back(Linked& place) noexcept { place.enter_between(*previous_, *this); }
  void push_front(Linked& place) noexcept { place.enter_between(*this, *next_); }
  /// Takes over all that the other one holds. Precondition: this one is empty.
  void take_all(Linked& other) noexcept {
    if (other.is_empty()) return;
    enter_between(other, *other.next_);
    other.leave();
    other.next_ = other.previous_ = &other;
  }

  // Of a place.
  /// The one behind it, or the head.
  [[nodiscard]] const Linked& next() const noexcept { return *next_; }
  void leave() noexcept {
    next_->previous_ = previous_;
    previous_->next_ = next_;
  }

 private:
  void enter_between(Linked& previous, Linked& next) noexcept {
    previous_ = &previous;
    next_ = &next;
    previous.next_ = this;
    next.previous_ = this;
  }

  Linked* next_ = this;
  Linked* previous_ = this;
};

}  // namespace fab::core
