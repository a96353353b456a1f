// Any number of ranks as a power of two: of as many pairs of neighbours as there are ranks too many, the odd rank drops
// out while the even one works for both (Thakur, Rabenseifner, Gropp, Optimization of Collective Communication
// Operations in MPICH, 2005). The ranks that stay are numbered anew, in the old order.
#pragma once

#include <bit>
#include <optional>

namespace fab::collectives {

class Fold {
 public:
  explicit Fold(int ranks) noexcept
      : size_(static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)))), pairs_(ranks - size_) {}

  /// Of the ranks that stay.
  [[nodiscard]] int size() const noexcept { return size_; }
  [[nodiscard]] bool drops(int rank) const noexcept { return rank < 2 * pairs_ && rank % 2 == 1; }
  /// The other one of a pair.
  [[nodiscard]] std::optional<int> partner(int rank) const noexcept {
    return rank < 2 * pairs_ ? std::optional<int>(rank ^ 1) : std::nullopt;
  }
  /// Of a rank that stays.
  [[nodiscard]] int number(int rank) const noexcept { return rank < 2 * pairs_ ? rank / 2 : rank - pairs_; }
  [[nodiscard]] int rank(int number) const noexcept { return number < pairs_ ? 2 * number : number + pairs_; }

 private:
  int size_;
  int pairs_;
};

}  // namespace fab::collectives
