// The only source of the module fab_scotch.so, which is linked with Scotch and has no need of libfab.
#include "core/topology/mapping/scotch/functions.h"

namespace fab::mapping {

namespace {

/// An object of Scotch's with its end.
template <class Object, int (*kInit)(Object*), void (*kExit)(Object*)>
class Owned {
 public:
  Owned() : status_(kInit(&object_)) {}
  ~Owned() {
    if (status_ == 0) kExit(&object_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;

  [[nodiscard]] int status() const noexcept { return status_; }
  [[nodiscard]] Object* get() noexcept { return &object_; }

 private:
  Object object_{};
  const int status_;
};
using Graph = Owned<SCOTCH_Graph, SCOTCH_graphInit, SCOTCH_graphExit>;
using Context = Owned<SCOTCH_Context, SCOTCH_contextInit, SCOTCH_contextExit>;
using Architecture = Owned<SCOTCH_Arch, SCOTCH_archInit, SCOTCH_archExit>;
using Strategy = Owned<SCOTCH_Strat, SCOTCH_stratInit, SCOTCH_stratExit>;

/// Calls until one fails.
class Calls {
 public:
  template <class Call>
  Calls& then(const char* name, Call&& call) {
    if (failure_.call != nullptr) return *this;
    if (const int status = call(); status != 0) failure_ = {name, status};
    return *this;
  }
  [[nodiscard]] const ScotchFailure& failure() const noexcept { return failure_; }

 private:
  ScotchFailure failure_;
};

/// A context of its own: no other threads, and random numbers that no other code draws from.
int seed(SCOTCH_Context* context) {
  const int status = SCOTCH_contextRandomClone(context);
  if (status != 0) return status;
  SCOTCH_contextRandomSeed(context, 1);
  SCOTCH_contextRandomReset(context);
  return 0;
}

ScotchFailure partition(const ScotchGraph& what) noexcept {
  constexpr double kImbalance = 0.01;
  Graph graph, bound;
  Context context;
  Architecture machine;
  Strategy strategy;
  return Calls()
      .then("SCOTCH_graphInit", [&] { return graph.status() != 0 ? graph.status() : bound.status(); })
      .then("SCOTCH_contextInit", [&] { return context.status(); })
      .then("SCOTCH_archInit", [&] { return machine.status(); })
      .then("SCOTCH_stratInit", [&] { return strategy.status(); })
      .then("SCOTCH_graphBuild",
            [&] {
              return SCOTCH_graphBuild(graph.get(), 0, what.vertices, what.starts, nullptr, nullptr, nullptr,
                                       what.edges, what.targets, what.weights);
            })
      .then("SCOTCH_contextOptionSetNum",
            [&] { return SCOTCH_contextOptionSetNum(context.get(), SCOTCH_OPTIONNUMDETERMINISTIC, 1); })
      .then("SCOTCH_contextOptionSetNum",
            [&] { return SCOTCH_contextOptionSetNum(context.get(), SCOTCH_OPTIONNUMRANDOMFIXEDSEED, 1); })
      .then("SCOTCH_contextRandomClone", [&] { return seed(context.get()); })
      .then("SCOTCH_contextThreadSpawn", [&] { return SCOTCH_contextThreadSpawn(context.get(), 1, nullptr); })
      .then("SCOTCH_contextBindGraph", [&] { return SCOTCH_contextBindGraph(context.get(), graph.get(), bound.get()); })
      .then("SCOTCH_archCmpltw", [&] { return SCOTCH_archCmpltw(machine.get(), what.parts, what.sizes); })
      .then("SCOTCH_stratGraphMapBuild",
            [&] {
              return SCOTCH_stratGraphMapBuild(strategy.get(), SCOTCH_STRATQUALITY | SCOTCH_STRATBALANCE, what.parts,
                                               kImbalance);
            })
      .then("SCOTCH_graphMap",
            [&] { return SCOTCH_graphMap(bound.get(), machine.get(), strategy.get(), what.placement); })
      .failure();
}

}  // namespace

}  // namespace fab::mapping

extern "C" __attribute__((visibility("default")))
const fab::mapping::ScotchFunctions fab_scotch{SCOTCH_numSizeof, fab::mapping::partition};
