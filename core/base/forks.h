// Detects fork(): a child must not use or release the parent's resources.
#pragma once

#include <cstdint>

namespace fab::core {

/// How many forks lie between the process that loaded fab and this one. Children of vfork() and posix_spawn(), and
/// those of clone() without fork()'s handlers, are not counted: they do not get so far.
[[nodiscard]] std::uint32_t forks() noexcept;

/// Part of an object that belongs to the process which made it.
class Birthplace {
 public:
  /// This process is a child of that one.
  [[nodiscard]] bool is_abroad() const noexcept { return forks_ != forks(); }

 private:
  std::uint32_t forks_ = forks();
};

/// An object that takes part in fork(): its locks are held meanwhile, so that the child finds it whole.
class ForkParticipant {
 public:
  /// first: its lock may be held when a last one's is taken.
  enum class Order : std::uint8_t { first, last };

  explicit ForkParticipant(Order order);
  ForkParticipant(const ForkParticipant&) = delete;
  ForkParticipant& operator=(const ForkParticipant&) = delete;

  /// Takes the locks.
  virtual void before_fork() noexcept = 0;
  /// In the parent: releases them.
  virtual void after_fork() noexcept = 0;
  /// In the child, which has no other thread: becomes harmless, and releases them.
  virtual void begin_abroad() noexcept = 0;

 protected:
  ~ForkParticipant();
};

}  // namespace fab::core
