// dims_create: divides ranks into a grid whose extents are as close to each other as possible.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "fab/error.h"
#include "fab/topology.h"

namespace fab {
namespace {

[[noreturn]] void refuse_dims(const std::string& what) { throw Error(Errc::invalid_argument, "dims_create: " + what); }

/// The product that is left for the entries that are 0.
int checked_rest(int ranks, std::span<const int> dims) {
  if (ranks < 1) refuse_dims(fmt::format("ranks is {}; valid is 1 or more", ranks));
  std::int64_t product = 1;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] < 0) refuse_dims(fmt::format("dims[{}] is {}; valid is 0 (to be chosen) or more", d, dims[d]));
    if (dims[d] == 0) continue;
    product *= dims[d];
    if (ranks % product != 0)
      refuse_dims(fmt::format("dims[0] to dims[{}] of {} multiply to {}, which does not divide {} ranks", d, dims,
                              product, ranks));
  }
  if (std::count(dims.begin(), dims.end(), 0) == 0 && product != ranks)
    refuse_dims(
        fmt::format("dims {} leave nothing to choose and multiply to {}, not to {} ranks", dims, product, ranks));
  return static_cast<int>(ranks / product);
}

std::vector<int> divisors(int number) {
  std::vector<int> low;
  std::vector<int> high;
  for (int i = 1; i <= number / i; ++i) {
    if (number % i != 0) continue;
    low.push_back(i);
    if (i != number / i) high.push_back(number / i);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

/// All ways to write a number as a product of so many factors that do not increase, the best of them.
class Factors {
 public:
  Factors(int number, std::size_t count) : divisors_(divisors(number)), count_(count) { extend(number); }

  [[nodiscard]] std::vector<int> best() && { return std::move(best_); }

 private:
  /// `rest` is to be written as a product of the factors that are missing, which may be neither larger than the last
  /// one nor so small that the spread were worse than the best.
  void extend(std::int64_t rest) {
    const std::size_t missing = count_ - factors_.size();
    if (missing == 0) {
      if (rest == 1 && (best_.empty() || better(factors_, best_))) best_ = factors_;
      return;
    }
    for (const int factor : divisors_) {
      if (!factors_.empty() && factor > factors_.back()) break;
      if (rest % factor != 0 || too_spread(factor) || !reaches(factor, missing, rest)) continue;
      if (factors_.empty() && too_large(factor, rest)) break;
      factors_.push_back(factor);
      extend(rest / factor);
      factors_.pop_back();
    }
  }

  static int spread(const std::vector<int>& factors) { return factors.front() - factors.back(); }
  static bool better(const std::vector<int>& a, const std::vector<int>& b) {
    const auto key = [](const std::vector<int>& factors) {
      return std::pair(spread(factors), std::accumulate(factors.begin(), factors.end(), std::int64_t{0}));
    };
    return std::pair(key(a), a) < std::pair(key(b), b);
  }

  [[nodiscard]] bool too_spread(int smallest) const {
    return !best_.empty() && !factors_.empty() && factors_.front() - smallest > spread(best_);
  }
  /// As the first factor: the smallest one is below 1 + rest / factor.
  [[nodiscard]] bool too_large(int factor, std::int64_t rest) const {
    return count_ > 1 && !best_.empty() && factor - rest / factor > spread(best_);
  }
  /// Can `missing` factors of at most `largest` have that product?
  static bool reaches(int largest, std::size_t missing, std::int64_t product) {
    std::int64_t power = 1;
    for (; missing > 0 && power < product; --missing) power *= largest;
    return power >= product;
  }

  const std::vector<int> divisors_;
  const std::size_t count_;
  std::vector<int> factors_;
  std::vector<int> best_;
};

}  // namespace

std::vector<int> dims_create(int ranks, std::vector<int> dims) {
  const int rest = checked_rest(ranks, dims);
  const auto open = static_cast<std::size_t>(std::count(dims.begin(), dims.end(), 0));
  if (open == 0) return dims;
  const std::vector<int> chosen = Factors(rest, open).best();
  auto next = chosen.begin();
  for (int& extent : dims)
    if (extent == 0) extent = *next++;
  return dims;
}

}  // namespace fab
