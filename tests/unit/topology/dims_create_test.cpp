// dims_create against all ways to write a number as a product.
#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

#include "fab/topology.h"
#include "unit/support/expect_error.h"

namespace fab {
namespace {

using test::expect_error;
using testing::ElementsAre;
using Dims = std::vector<int>;

/// Calls `visit` with all that multiply to `product`, in any order.
template <class Visit>
void for_all_products(int product, std::size_t count, Dims& dims, Visit&& visit) {
  if (count == 0) {
    if (product == 1) visit(dims);
    return;
  }
  for (int extent = 1; extent <= product; ++extent) {
    if (product % extent != 0) continue;
    dims.push_back(extent);
    for_all_products(product / extent, count - 1, dims, visit);
    dims.pop_back();
  }
}

Dims best_by_trying(int product, std::size_t count) {
  using Score = std::tuple<int, int, Dims>;
  Score best{std::numeric_limits<int>::max(), 0, {}};
  Dims dims;
  for_all_products(product, count, dims, [&](const Dims& tried) {
    if (!std::is_sorted(tried.rbegin(), tried.rend())) return;
    best = std::min(best, Score{tried.front() - tried.back(), std::accumulate(tried.begin(), tried.end(), 0), tried});
  });
  return std::get<Dims>(best);
}

TEST(DimsCreate, FindsTheBestOfAllProducts) {
  for (int ranks = 1; ranks <= 144; ++ranks)
    for (std::size_t count = 1; count <= 4; ++count)
      EXPECT_EQ(dims_create(ranks, Dims(count, 0)), best_by_trying(ranks, count)) << ranks << " ranks";
}

// The table of MPI-4.1, chapter 8.5.2.
TEST(DimsCreate, GivesTheExamplesOfTheStandard) {
  EXPECT_THAT(dims_create(6, {0, 0}), ElementsAre(3, 2));
  EXPECT_THAT(dims_create(7, {0, 0}), ElementsAre(7, 1));
  EXPECT_THAT(dims_create(6, {0, 3, 0}), ElementsAre(2, 3, 1));
  expect_error(Errc::invalid_argument, {"dims_create", "[0, 3, 0]", "multiply to 3", "7 ranks"}, [] {
    (void)dims_create(7, {0, 3, 0});
  });
}

TEST(DimsCreate, KeepsWhatIsGiven) {
  EXPECT_THAT(dims_create(24, {0, 2, 0, 3}), ElementsAre(2, 2, 2, 3));
  EXPECT_THAT(dims_create(12, {3, 4}), ElementsAre(3, 4));
  EXPECT_THAT(dims_create(12, {12, 0}), ElementsAre(12, 1));
  EXPECT_THAT(dims_create(1, {}), ElementsAre());
}

TEST(DimsCreate, IsQuickForLargeNumbers) {
  EXPECT_THAT(dims_create(2147483647, {0, 0, 0}), ElementsAre(2147483647, 1, 1));
  EXPECT_THAT(dims_create(1 << 30, {0, 0, 0}), ElementsAre(1024, 1024, 1024));
  for (const std::size_t count : {2u, 3u, 5u, 8u, 31u}) {
    const Dims dims = dims_create(735134400, Dims(count, 0));
    EXPECT_EQ(std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>()), 735134400);
    EXPECT_TRUE(std::is_sorted(dims.rbegin(), dims.rend()));
  }
}

TEST(DimsCreate, RefusesTheImpossible) {
  expect_error(Errc::invalid_argument, {"ranks is 0"}, [] { (void)dims_create(0, {0}); });
  expect_error(Errc::invalid_argument, {"dims[1] is -2"}, [] { (void)dims_create(4, {0, -2}); });
  expect_error(Errc::invalid_argument, {"multiply to 2", "4 ranks"}, [] { (void)dims_create(4, {2, 1}); });
  expect_error(Errc::invalid_argument, {"multiply to 8", "4 ranks"}, [] { (void)dims_create(4, {8}); });
  expect_error(Errc::invalid_argument, {"multiply to"}, [] { (void)dims_create(4, {65536, 65536, 0}); });
  expect_error(Errc::invalid_argument, {"nothing to choose"}, [] { (void)dims_create(2, {}); });
}

}  // namespace
}  // namespace fab
