// A thread's operations: all ranks draw the same ones, and know what each of them sends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fab/fab.h"

namespace fab::test {

/// Of one thread on every rank. Its communicators are its own.
class Mixture {
 public:
  /// Collective over `world`, which serves this thread alone.
  Mixture(const Communicator& world, std::uint64_t seed);

  /// Does one operation; returns how many of the bytes that came are wrong.
  [[nodiscard]] std::uint64_t next();

 private:
  static constexpr std::size_t kPersistent = 3;
  static constexpr std::size_t kInFlight = 4;

  [[nodiscard]] std::uint64_t draw(std::uint64_t bound);
  [[nodiscard]] std::size_t draw_bytes();
  [[nodiscard]] std::byte value(Rank sender, std::size_t position) const;
  void fill(std::byte* out, std::size_t bytes, Rank sender, std::size_t first = 0) const;
  [[nodiscard]] std::uint64_t count_wrong(const std::byte* in, std::size_t bytes, Rank sender,
                                          std::size_t first = 0) const;
  [[nodiscard]] Rank neighbor(int direction) const;
  [[nodiscard]] std::uint64_t count_wrong_blocks(const std::byte* in, std::size_t bytes) const;
  void make_persistent();
  void renew();

  std::uint64_t exchange(bool blocking);
  std::uint64_t exchange_persistently();
  std::uint64_t exchange_several();
  std::uint64_t broadcast();
  std::uint64_t combine();
  std::uint64_t gather();
  std::uint64_t transpose();
  std::uint64_t pass_on();
  std::uint64_t synchronise();

  Communicator world_;
  Communicator ring_;
  Rank rank_;
  int ranks_;
  std::uint64_t state_;
  std::uint64_t number_ = 0;  ///< of the operation
  std::vector<std::byte> send_;
  std::vector<std::byte> recv_;
  std::vector<std::vector<std::byte>> persistent_send_;
  std::vector<std::vector<std::byte>> persistent_recv_;
  std::vector<PersistentExchange> persistent_;
};

}  // namespace fab::test
