// Improving a placement by single moves and exchanges (B. Kernighan and S. Lin, An efficient heuristic procedure for
// partitioning graphs, Bell System Technical Journal 49, 1970).
#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "core/topology/mapping/placement.h"

namespace fab::mapping {
namespace {

/// A placement with the list of each node's places.
class Regions {
 public:
  Regions(const Traffic& traffic, const Nodes& nodes, Placement& placement)
      : traffic_(traffic), placement_(placement), places_(nodes.sizes.size()), index_(placement.size()) {
    for (std::size_t place = 0; place < placement.size(); ++place) put(static_cast<int>(place), placement[place]);
  }

  [[nodiscard]] int node(int place) const { return placement_[static_cast<std::size_t>(place)]; }
  [[nodiscard]] const std::vector<int>& places(int node) const { return places_[static_cast<std::size_t>(node)]; }

  /// The weight of messages between a place and the places of a node.
  [[nodiscard]] std::int64_t pull(int place, int node) const {
    std::int64_t sum = 0;
    const std::span<const int> targets = traffic_.targets(place);
    for (std::size_t i = 0; i < targets.size(); ++i)
      if (this->node(targets[i]) == node) sum += traffic_.weight(place, i);
    return sum;
  }
  /// The weight that leaves the cut when the place goes to that node.
  [[nodiscard]] std::int64_t gain(int place, int to) const { return pull(place, to) - pull(place, node(place)); }
  /// The weight that leaves the cut when both change places.
  [[nodiscard]] std::int64_t gain_of_exchange(int a, int b) const {
    return gain(a, node(b)) + gain(b, node(a)) - 2 * weight_between(a, b);
  }

  void move(int place, int to) {
    std::vector<int>& from = places_[static_cast<std::size_t>(node(place))];
    const std::size_t at = index_[static_cast<std::size_t>(place)];
    from[at] = from.back();
    index_[static_cast<std::size_t>(from[at])] = at;
    from.pop_back();
    put(place, to);
  }
  void exchange(int a, int b) {
    const int of_a = node(a);
    move(a, node(b));
    move(b, of_a);
  }

  /// The nodes at which messages of a place end, its own aside; each once.
  void neighbors(int place, std::vector<int>& nodes) const {
    nodes.clear();
    for (const int target : traffic_.targets(place))
      if (node(target) != node(place)) nodes.push_back(node(target));
    std::sort(nodes.begin(), nodes.end());
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  }

 private:
  void put(int place, int node) {
    std::vector<int>& of_node = places_[static_cast<std::size_t>(node)];
    placement_[static_cast<std::size_t>(place)] = node;
    index_[static_cast<std::size_t>(place)] = of_node.size();
    of_node.push_back(place);
  }
  [[nodiscard]] std::int64_t weight_between(int a, int b) const {
    const std::span<const int> targets = traffic_.targets(a);
    const auto found = std::lower_bound(targets.begin(), targets.end(), b);
    if (found == targets.end() || *found != b) return 0;
    return traffic_.weight(a, static_cast<std::size_t>(found - targets.begin()));
  }

  const Traffic& traffic_;
  Placement& placement_;
  std::vector<std::vector<int>> places_;  ///< by node
  std::vector<std::size_t> index_;        ///< of a place in its node's list
};

constexpr std::size_t kMostWork = 1 << 18;  ///< of descents: places times ranks of the largest node
constexpr std::size_t kMostInChains = 64;   ///< places: a chain takes the third power of their number

/// The place of a node that is best to exchange with; none where no exchange gains something.
std::optional<int> find_exchange(const Regions& regions, int place, int node) {
  std::int64_t most = 0;
  std::optional<int> best;
  for (const int other : regions.places(node)) {
    const std::int64_t gain = regions.gain_of_exchange(place, other);
    if (gain <= most) continue;
    most = gain;
    best = other;
  }
  return best;
}

/// Exchanges between neighbouring nodes as long as each gains something.
void descend(const Traffic& traffic, Regions& regions) {
  std::vector<int> neighbors;
  for (bool improved = true; improved;) {
    improved = false;
    for (int place = 0; place < traffic.places(); ++place) {
      regions.neighbors(place, neighbors);
      for (const int node : neighbors) {
        const std::optional<int> other = find_exchange(regions, place, node);
        if (!other) continue;
        regions.exchange(place, *other);
        improved = true;
        break;
      }
    }
  }
}

/// A chain of exchanges, the best ones first, each place once, of which some may cost something; what does not pay in
/// the end is taken back. True if the cut became lighter.
bool improve_by_chain(const Traffic& traffic, Regions& regions) {
  std::vector<int> free(static_cast<std::size_t>(traffic.places()));
  std::iota(free.begin(), free.end(), 0);
  std::vector<std::pair<int, int>> chain;
  std::int64_t sum = 0;
  std::int64_t most = 0;
  std::size_t paying = 0;
  while (true) {
    std::int64_t gain = std::numeric_limits<std::int64_t>::min();
    std::pair<int, int> best{-1, -1};
    for (std::size_t i = 0; i < free.size(); ++i)
      for (std::size_t j = i + 1; j < free.size(); ++j) {
        if (regions.node(free[i]) == regions.node(free[j])) continue;
        const std::int64_t its_gain = regions.gain_of_exchange(free[i], free[j]);
        if (its_gain > gain) std::tie(gain, best) = std::pair(its_gain, std::pair(free[i], free[j]));
      }
    if (best.first < 0) break;
    regions.exchange(best.first, best.second);
    std::erase_if(free, [&](int place) { return place == best.first || place == best.second; });
    chain.push_back(best);
    sum += gain;
    if (sum <= most) continue;
    most = sum;
    paying = chain.size();
  }
  for (; chain.size() > paying; chain.pop_back()) regions.exchange(chain.back().first, chain.back().second);
  return paying > 0;
}

}  // namespace

void refine(const Traffic& traffic, const Nodes& nodes, Placement& placement) {
  const int largest = *std::max_element(nodes.sizes.begin(), nodes.sizes.end());
  if (placement.size() * static_cast<std::size_t>(largest) > kMostWork) return;
  const Traffic symmetric = traffic.symmetric();
  Regions regions(symmetric, nodes, placement);
  descend(symmetric, regions);
  if (placement.size() > kMostInChains) return;
  while (improve_by_chain(symmetric, regions)) descend(symmetric, regions);
}

void balance(const Traffic& traffic, const Nodes& nodes, Placement& placement) {
  Regions regions(traffic, nodes, placement);
  const auto surplus = [&](std::size_t node) {
    return static_cast<std::ptrdiff_t>(regions.places(static_cast<int>(node)).size()) - nodes.sizes[node];
  };
  std::vector<int> lacking;
  for (std::size_t node = 0; node < nodes.sizes.size(); ++node)
    if (surplus(node) < 0) lacking.push_back(static_cast<int>(node));
  for (std::size_t from = 0; from < nodes.sizes.size(); ++from)
    while (surplus(from) > 0) {
      std::int64_t most = std::numeric_limits<std::int64_t>::min();
      std::pair<int, int> best;  // place and node
      for (const int place : regions.places(static_cast<int>(from)))
        for (const int to : lacking) {
          const std::int64_t gain = regions.gain(place, to);
          if (gain > most) std::tie(most, best) = std::pair(gain, std::pair(place, to));
        }
      regions.move(best.first, best.second);
      if (surplus(static_cast<std::size_t>(best.second)) == 0) std::erase(lacking, best.second);
    }
}

}  // namespace fab::mapping
