#include "core/topology/mapping/scotch/scotch.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/base/own_module.h"
#include "core/topology/mapping/scotch/functions.h"
#include "fab/error.h"

namespace fab::mapping {
namespace {

const ScotchFunctions& functions() {
#if FAB_WITHOUT_MODULES
  return fab_scotch;
#else
  static const auto* const loaded = static_cast<const ScotchFunctions*>(
      core::load_from_module(kScotchModule, kScotchTable, core::Symbols::for_the_module, Errc::no_resources,
                             "Scotch cannot be loaded, which divides graphs"));
  return *loaded;
#endif
}

/// Another build of Scotch in the process, of other integers, would take arrays for what they are not.
void check_integers() {
  const int bytes = functions().integer_bytes();
  if (bytes == sizeof(SCOTCH_Num)) return;
  throw Error(Errc::no_resources, fmt::format("Scotch in this process has integers of {} bytes; fab was built for {}",
                                              bytes, sizeof(SCOTCH_Num)));
}

/// Traffic in Scotch's form, which has weights of at least 1 and sums of them that fit its integers.
struct Arrays {
  explicit Arrays(const Traffic& traffic) {
    std::int64_t sum = 0;
    std::size_t messages = 0;
    const auto for_each_weight = [&](auto&& use) {
      for (int place = 0; place < traffic.places(); ++place)
        for (std::size_t i = 0; i < traffic.targets(place).size(); ++i) use(traffic.weight(place, i));
    };
    for_each_weight([&](std::int64_t weight) {
      sum += weight;
      ++messages;
    });
    if (messages > kMostSum)
      throw Error(Errc::no_resources, fmt::format("{} messages are more than Scotch's integers can count", messages));
    const std::int64_t divisor = sum / static_cast<std::int64_t>(kMostSum - messages + 1) + 1;
    for_each_weight([&](std::int64_t weight) {
      weights.push_back(static_cast<SCOTCH_Num>(std::max<std::int64_t>(weight / divisor, 1)));
    });
    starts.push_back(0);
    for (int place = 0; place < traffic.places(); ++place) {
      targets.insert(targets.end(), traffic.targets(place).begin(), traffic.targets(place).end());
      starts.push_back(static_cast<SCOTCH_Num>(targets.size()));
    }
  }

  static constexpr std::size_t kMostSum = 1u << 30;
  std::vector<SCOTCH_Num> starts;
  std::vector<SCOTCH_Num> targets;
  std::vector<SCOTCH_Num> weights;
};

}  // namespace

Placement partition_by_scotch(const Traffic& traffic, const Nodes& nodes) {
  check_integers();
  const Arrays arrays(traffic);
  const std::vector<SCOTCH_Num> sizes(nodes.sizes.begin(), nodes.sizes.end());
  std::vector<SCOTCH_Num> placement(static_cast<std::size_t>(traffic.places()));
  const ScotchFailure failure = functions().partition({.vertices = static_cast<SCOTCH_Num>(traffic.places()),
                                                       .starts = arrays.starts.data(),
                                                       .edges = static_cast<SCOTCH_Num>(arrays.targets.size()),
                                                       .targets = arrays.targets.data(),
                                                       .weights = arrays.weights.data(),
                                                       .parts = static_cast<SCOTCH_Num>(sizes.size()),
                                                       .sizes = sizes.data(),
                                                       .placement = placement.data()});
  if (failure.call != nullptr)
    throw Error(Errc::no_resources, fmt::format("{}: Scotch failed and returned {}", failure.call, failure.status));
  return {placement.begin(), placement.end()};
}

}  // namespace fab::mapping
