#include "core/topology/mapping/columns.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>
#include <utility>

namespace fab::mapping {
namespace {

/// Calls `visit` with every point of a box of these extents; successive points are neighbours.
template <class Visit>
void walk(const std::vector<int>& extents, Visit&& visit) {
  std::vector<int> at(extents.size(), 0);
  std::vector<int> step(extents.size(), 1);
  while (true) {
    visit(at);
    std::size_t d = extents.size();
    while (d > 0 && (at[d - 1] + step[d - 1] < 0 || at[d - 1] + step[d - 1] == extents[d - 1])) {
      step[d - 1] = -step[d - 1];
      --d;
    }
    if (d == 0) return;
    at[d - 1] += step[d - 1];
  }
}

class ColumnSearch {
 public:
  ColumnSearch(const Cartesian& grid, std::span<const double> weights, double ranks_of_node)
      : grid_(grid), weights_(weights), ranks_of_node_(ranks_of_node) {
    for (std::size_t d = 0; d < grid.dims().size(); ++d) choices_.push_back(choices(d));
  }

  /// At most so many, best first.
  [[nodiscard]] std::vector<Columns> best(std::size_t most) && {
    std::vector<int> counts(choices_.size(), 1);
    for (std::size_t along = 0; along < choices_.size(); ++along) extend(along, 0, 1, counts);
    std::stable_sort(found_.begin(), found_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    found_.resize(std::min(found_.size(), most));
    std::vector<Columns> result;
    for (auto& [cost, columns] : found_) result.push_back(std::move(columns));
    return result;
  }

 private:
  /// How often to divide a dimension: evenly, or about as an ideal brick would.
  [[nodiscard]] std::vector<int> choices(std::size_t d) const {
    const int extent = grid_.dims()[d];
    std::set<int> counts{1, extent};
    for (int i = 2; i <= extent / i; ++i)
      if (extent % i == 0) counts.insert({i, extent / i});
    double product = 1;
    for (const double weight : weights_) product *= weight;
    const double ideal_width =
        weights_[d] * std::pow(ranks_of_node_ / product, 1.0 / static_cast<double>(weights_.size()));
    for (int more = -1; more <= 1; ++more) {
      const double width = std::clamp(std::round(ideal_width) + more, 1.0, static_cast<double>(extent));
      counts.insert({static_cast<int>(extent / width), static_cast<int>(std::ceil(extent / width))});
    }
    return {counts.begin(), counts.end()};
  }

  /// Chooses the counts of dimension d and of those after it. A layer of a column is no larger than a node.
  void extend(std::size_t along, std::size_t d, double layer, std::vector<int>& counts) {
    if (d == choices_.size()) return add(along, layer, counts);
    if (d == along) return extend(along, d + 1, layer, counts);
    for (const int count : choices_[d]) {
      const double width = static_cast<double>(grid_.dims()[d]) / count;
      if (layer * width > ranks_of_node_) continue;
      counts[d] = count;
      extend(along, d + 1, layer * width, counts);
    }
    counts[d] = 1;
  }

  void add(std::size_t along, double layer, const std::vector<int>& counts) {
    double cost = 0;  // per place
    for (std::size_t d = 0; d < counts.size(); ++d) {
      const double extent = grid_.dims()[d];
      const double bricks = d == along ? std::max(1.0, extent * layer / ranks_of_node_) : counts[d];
      const double planes = bricks - (grid_.periodic(static_cast<Dimension>(d)) && bricks > 1 ? 0 : 1);
      cost += weights_[d] * planes / extent;
    }
    found_.emplace_back(cost, Columns{along, counts});
  }

  const Cartesian& grid_;
  const std::span<const double> weights_;
  const double ranks_of_node_;
  std::vector<std::vector<int>> choices_;
  std::vector<std::pair<double, Columns>> found_;
};

}  // namespace

std::vector<Columns> find_columns(const Cartesian& grid, std::span<const double> weights, int ranks_of_node,
                                  std::size_t most) {
  return ColumnSearch(grid, weights, ranks_of_node).best(most);
}

std::vector<int> order_by_columns(const Cartesian& grid, const Columns& columns) {
  const std::size_t dimensions = grid.dims().size();
  std::vector<int> strides(dimensions);
  std::exclusive_scan(grid.dims().rbegin(), grid.dims().rend(), strides.rbegin(), 1, std::multiplies<>());
  // Within a column the dimension along it comes first, and the others in their order.
  std::vector<std::size_t> nested{columns.along};
  for (std::size_t d = 0; d < dimensions; ++d)
    if (d != columns.along) nested.push_back(d);

  std::vector<int> order;
  order.reserve(static_cast<std::size_t>(grid.size()));
  bool backwards = false;
  walk(columns.counts, [&](const std::vector<int>& column) {
    const auto border = [&](std::size_t d, int i) {
      return static_cast<int>(std::int64_t{grid.dims()[d]} * i / columns.counts[d]);
    };
    std::vector<int> extents(dimensions);
    for (std::size_t i = 0; i < dimensions; ++i)
      extents[i] = border(nested[i], column[nested[i]] + 1) - border(nested[i], column[nested[i]]);
    walk(extents, [&](const std::vector<int>& inner) {
      int place = 0;
      for (std::size_t i = 0; i < dimensions; ++i) {
        const std::size_t d = nested[i];
        const int offset = i == 0 && backwards ? extents[0] - 1 - inner[0] : inner[i];
        place += (border(d, column[d]) + offset) * strides[d];
      }
      order.push_back(place);
    });
    backwards = !backwards;
  });
  return order;
}

}  // namespace fab::mapping
