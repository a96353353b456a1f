#include "core/topology/mapping/scotch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

// clang-format off
#include <cstdio>   // scotch.h needs it
#include <scotch.h>
// clang-format on

#include "fab/error.h"

namespace fab::mapping {
namespace {

/// Scotch does not say more than that it failed.
void check(const char* call, int status) {
  if (status != 0) throw Error(Errc::no_resources, fmt::format("{}: Scotch failed and returned {}", call, status));
}

/// An object of Scotch's with its end.
template <class Object, int (*kInit)(Object*), void (*kExit)(Object*)>
class Owned {
 public:
  explicit Owned(const char* init) { check(init, kInit(&object_)); }
  ~Owned() { kExit(&object_); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;

  [[nodiscard]] Object* get() noexcept { return &object_; }

 private:
  Object object_{};
};
using Graph = Owned<SCOTCH_Graph, SCOTCH_graphInit, SCOTCH_graphExit>;
using Context = Owned<SCOTCH_Context, SCOTCH_contextInit, SCOTCH_contextExit>;
using Architecture = Owned<SCOTCH_Arch, SCOTCH_archInit, SCOTCH_archExit>;
using Strategy = Owned<SCOTCH_Strat, SCOTCH_stratInit, SCOTCH_stratExit>;

/// Another build of Scotch in the process, of other integers, would take arrays for what they are not.
void check_integers() {
  if (SCOTCH_numSizeof() == sizeof(SCOTCH_Num)) return;
  throw Error(Errc::no_resources, fmt::format("Scotch in this process has integers of {} bytes; fab was built for {}",
                                              SCOTCH_numSizeof(), sizeof(SCOTCH_Num)));
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
  constexpr double kImbalance = 0.01;
  check_integers();
  const Arrays arrays(traffic);
  const auto places = static_cast<SCOTCH_Num>(traffic.places());
  const std::vector<SCOTCH_Num> sizes(nodes.sizes.begin(), nodes.sizes.end());
  const auto parts = static_cast<SCOTCH_Num>(sizes.size());

  Graph graph("SCOTCH_graphInit");
  check("SCOTCH_graphBuild", SCOTCH_graphBuild(graph.get(), 0, places, arrays.starts.data(), nullptr, nullptr, nullptr,
                                               static_cast<SCOTCH_Num>(arrays.targets.size()), arrays.targets.data(),
                                               arrays.weights.data()));
  // A context of its own: no other threads, and random numbers that no other code draws from.
  Context context("SCOTCH_contextInit");
  check("SCOTCH_contextOptionSetNum", SCOTCH_contextOptionSetNum(context.get(), SCOTCH_OPTIONNUMDETERMINISTIC, 1));
  check("SCOTCH_contextOptionSetNum", SCOTCH_contextOptionSetNum(context.get(), SCOTCH_OPTIONNUMRANDOMFIXEDSEED, 1));
  check("SCOTCH_contextRandomClone", SCOTCH_contextRandomClone(context.get()));
  SCOTCH_contextRandomSeed(context.get(), 1);
  SCOTCH_contextRandomReset(context.get());
  check("SCOTCH_contextThreadSpawn", SCOTCH_contextThreadSpawn(context.get(), 1, nullptr));
  Graph bound("SCOTCH_graphInit");
  check("SCOTCH_contextBindGraph", SCOTCH_contextBindGraph(context.get(), graph.get(), bound.get()));

  Architecture machine("SCOTCH_archInit");
  check("SCOTCH_archCmpltw", SCOTCH_archCmpltw(machine.get(), parts, sizes.data()));
  Strategy strategy("SCOTCH_stratInit");
  check("SCOTCH_stratGraphMapBuild",
        SCOTCH_stratGraphMapBuild(strategy.get(), SCOTCH_STRATQUALITY | SCOTCH_STRATBALANCE, parts, kImbalance));
  std::vector<SCOTCH_Num> placement(static_cast<std::size_t>(places));
  check("SCOTCH_graphMap", SCOTCH_graphMap(bound.get(), machine.get(), strategy.get(), placement.data()));
  return {placement.begin(), placement.end()};
}

}  // namespace fab::mapping
