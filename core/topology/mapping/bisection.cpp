#include "core/topology/mapping/bisection.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

namespace fab::mapping {
namespace {

class Bisection {
 public:
  Bisection(const Cartesian& grid, std::span<const double> weights, const Nodes& nodes)
      : grid_(grid), weights_(weights), sizes_(nodes.sizes), placement_(static_cast<std::size_t>(grid.size())) {
    strides_.resize(grid.dims().size());
    std::exclusive_scan(grid.dims().rbegin(), grid.dims().rend(), strides_.rbegin(), 1, std::multiplies<>());
  }

  [[nodiscard]] Placement run() && {
    std::vector<int> places(placement_.size());
    std::iota(places.begin(), places.end(), 0);
    divide(places, 0, sizes_.size());
    return std::move(placement_);
  }

 private:
  /// The places are for nodes [first, last), and as many as those have ranks.
  void divide(std::span<int> places, std::size_t first, std::size_t last) {
    if (last - first == 1) {
      for (const int place : places) placement_[static_cast<std::size_t>(place)] = static_cast<int>(first);
      return;
    }
    const std::size_t middle = first + (last - first) / 2;
    std::size_t low = 0;
    for (std::size_t node = first; node < middle; ++node) low += static_cast<std::size_t>(sizes_[node]);
    const std::vector<std::size_t> significance = dimensions_by_cut(places);
    std::nth_element(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(low), places.end(),
                     [&](int a, int b) {
                       for (const std::size_t d : significance)
                         if (coordinate(a, d) != coordinate(b, d)) return coordinate(a, d) < coordinate(b, d);
                       return false;
                     });
    divide(places.first(low), first, middle);
    divide(places.subspan(low), middle, last);
  }

  /// Lightest cut first: a plane across dimension d has about one message for every place of a layer.
  [[nodiscard]] std::vector<std::size_t> dimensions_by_cut(std::span<const int> places) const {
    std::vector<double> cost;
    for (std::size_t d = 0; d < strides_.size(); ++d) {
      int least = grid_.dims()[d];
      int most = 0;
      for (const int place : places) {
        least = std::min(least, coordinate(place, d));
        most = std::max(most, coordinate(place, d));
      }
      const int extent = most - least + 1;
      const bool closed = grid_.periodic(static_cast<Dimension>(d)) && extent == grid_.dims()[d];
      cost.push_back((closed ? 2 : 1) * weights_[d] / extent);
      if (extent == 1) cost.back() = std::numeric_limits<double>::infinity();
    }
    std::vector<std::size_t> order(strides_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return cost[a] < cost[b]; });
    return order;
  }

  [[nodiscard]] int coordinate(int place, std::size_t d) const { return place / strides_[d] % grid_.dims()[d]; }

  const Cartesian& grid_;
  const std::span<const double> weights_;
  const std::vector<int>& sizes_;
  std::vector<int> strides_;
  Placement placement_;
};

}  // namespace

Placement bisect(const Cartesian& grid, std::span<const double> weights, const Nodes& nodes) {
  return Bisection(grid, weights, nodes).run();
}

}  // namespace fab::mapping
