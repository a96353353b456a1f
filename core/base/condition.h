// The condition that a caller waits for, in a form that other threads can check.
#pragma once

namespace fab::core {

/// Refers to a function object that returns whether something has come, and to nothing by default.
class Condition {
 public:
  Condition() = default;
  template <class Holds>
  explicit Condition(const Holds& holds) noexcept
      : what_(&holds), look_([](const void* what) { return (*static_cast<const Holds*>(what))(); }) {}

  [[nodiscard]] bool is_known() const noexcept { return look_ != nullptr; }
  /// Precondition: it is known, and what it refers to lives.
  [[nodiscard]] bool holds() const { return look_(what_); }

 private:
  const void* what_ = nullptr;
  bool (*look_)(const void*) = nullptr;
};

}  // namespace fab::core
