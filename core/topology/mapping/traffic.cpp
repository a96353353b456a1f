// Traffic: which places of a topology send to which, and how much, made from lists, grids and graphs.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "fab/error.h"
#include "fab/mapping.h"

namespace fab {
namespace {

template <class... Arguments>
[[noreturn]] void refuse(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  throw Error(Errc::invalid_argument, "Traffic: " + fmt::format(text, std::forward<Arguments>(arguments)...));
}

void check_weights(std::span<const std::int64_t> weights, std::size_t needed, const char* of_what) {
  if (!weights.empty() && weights.size() != needed)
    refuse("{} weights are given; valid are one for each of the {} {}, or none", weights.size(), needed, of_what);
  for (std::size_t i = 0; i < weights.size(); ++i)
    if (weights[i] < 0) refuse("weights[{}] is {}; valid is 0 or more", i, weights[i]);
}

}  // namespace

Traffic::Traffic(std::vector<std::int64_t> ends, std::vector<int> targets, std::vector<std::int64_t> weights)
    : ends_(std::move(ends)), targets_(std::move(targets)), weights_(std::move(weights)) {
  std::int64_t previous = 0;
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    if (ends_[i] < previous) refuse("ends[{}] is {}; it must not be below {}", i, ends_[i], previous);
    previous = ends_[i];
  }
  if (static_cast<std::size_t>(previous) != targets_.size())
    refuse("there are {} targets; the ends ask for {}", targets_.size(), previous);
  for (std::size_t i = 0; i < targets_.size(); ++i)
    if (targets_[i] < 0 || targets_[i] >= places())
      refuse("targets[{}] is {}; valid are the places from 0 below {}", i, targets_[i], places());
  check_weights(weights_, targets_.size(), "targets");
}

Traffic Traffic::of(const Cartesian& grid, std::span<const std::int64_t> weights) {
  check_weights(weights, grid.dims().size(), "dimensions");
  std::vector<std::int64_t> ends;
  ends.reserve(static_cast<std::size_t>(grid.size()));
  std::vector<int> targets;
  std::vector<std::int64_t> of_targets;
  for (int place = 0; place < grid.size(); ++place) {
    int stride = grid.size();
    for (int d = 0; d < grid.dimensions(); ++d) {
      const int extent = grid.dims()[static_cast<std::size_t>(d)];
      stride /= extent;
      const int coordinate = place / stride % extent;
      const auto add = [&](bool inside, int step, int around) {
        if (!inside && !grid.periodic(Dimension{d})) return;
        targets.push_back(place + (inside ? step : around) * stride);
        if (!weights.empty()) of_targets.push_back(weights[static_cast<std::size_t>(d)]);
      };
      add(coordinate + 1 < extent, +1, 1 - extent);
      add(coordinate > 0, -1, extent - 1);
    }
    ends.push_back(static_cast<std::int64_t>(targets.size()));
  }
  return {std::move(ends), std::move(targets), std::move(of_targets)};
}

Traffic Traffic::of(const Graph& graph) {
  std::vector<std::int64_t> ends;
  std::vector<int> targets;
  for (Rank rank = 0; rank < graph.size(); ++rank) {
    const std::span<const int> neighbors = graph.neighbors(rank);
    targets.insert(targets.end(), neighbors.begin(), neighbors.end());
    ends.push_back(static_cast<std::int64_t>(targets.size()));
  }
  return {std::move(ends), std::move(targets)};
}

Traffic Traffic::symmetric() const {
  using Message = std::pair<int, std::int64_t>;  // target and weight
  std::vector<std::vector<Message>> edges(ends_.size());
  for (int place = 0; place < places(); ++place)
    for (std::size_t i = 0; i < degree(place); ++i) {
      const int target = targets(place)[i];
      if (target == place) continue;
      edges[static_cast<std::size_t>(place)].emplace_back(target, weight(place, i));
      edges[static_cast<std::size_t>(target)].emplace_back(place, weight(place, i));
    }
  std::vector<std::int64_t> ends;
  std::vector<int> targets;
  std::vector<std::int64_t> weights;
  for (std::vector<Message>& own : edges) {
    std::sort(own.begin(), own.end());
    int previous = -1;
    for (const auto& [target, weight] : own) {
      if (target != previous) {
        targets.push_back(target);
        weights.push_back(0);
      }
      weights.back() += weight;
      previous = target;
    }
    ends.push_back(static_cast<std::int64_t>(targets.size()));
  }
  return {std::move(ends), std::move(targets), std::move(weights)};
}

}  // namespace fab
