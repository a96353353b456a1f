#include "collectives/select.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "fab/error.h"

namespace fab::collectives {

namespace {

constexpr std::size_t kAnyBytes = std::numeric_limits<std::size_t>::max();
constexpr int kAnyRanks = std::numeric_limits<int>::max();

enum class Where : std::uint8_t {
  anywhere,
  node,   ///< all ranks share memory
  nodes,  ///< some ranks do
};

/// An algorithm for calls of up to so many bytes on up to so many ranks.
struct Rule {
  Collective collective;
  std::size_t most_bytes;
  int most_ranks;
  const char* algorithm;
  Where where = Where::anywhere;

  [[nodiscard]] bool covers(const CollectiveCall& call) const {
    return collective == call.collective && call.bytes <= most_bytes && call.ranks <= most_ranks &&
           (where == Where::anywhere || (where == Where::node ? call.one_node : call.nodes != nullptr));
  }
};

/// The first one that covers a call, and whose algorithm can do it, counts.
constexpr Rule kRules[] = {
    {Collective::barrier, kAnyBytes, kAnyRanks, "leaders", Where::nodes},
    {Collective::barrier, kAnyBytes, kAnyRanks, "dissemination"},

    {Collective::bcast, 16 << 10, kAnyRanks, "leaders", Where::nodes},
    {Collective::bcast, kAnyBytes, 2, "linear"},
    {Collective::bcast, 16 << 10, kAnyRanks, "binomial"},
    {Collective::bcast, kAnyBytes, 8, "chain", Where::node},
    {Collective::bcast, 256 << 10, 4, "binomial"},
    {Collective::bcast, kAnyBytes, 8, "chain"},
    {Collective::bcast, 512 << 10, kAnyRanks, "leaders", Where::nodes},
    {Collective::bcast, 512 << 10, kAnyRanks, "binary"},
    {Collective::bcast, kAnyBytes, kAnyRanks, "scatter_allgather"},

    {Collective::reduce, 16 << 10, kAnyRanks, "leaders", Where::nodes},
    {Collective::reduce, kAnyBytes, 2, "linear"},
    {Collective::reduce, 32 << 10, 4, "linear"},
    {Collective::reduce, 16 << 10, kAnyRanks, "binomial"},
    {Collective::reduce, kAnyBytes, 4, "chain", Where::node},
    {Collective::reduce, 256 << 10, 4, "binomial"},
    {Collective::reduce, kAnyBytes, 4, "chain"},
    {Collective::reduce, kAnyBytes, kAnyRanks, "rabenseifner"},
    {Collective::reduce, kAnyBytes, kAnyRanks, "chain"},

    {Collective::allreduce, 1 << 10, kAnyRanks, "leaders", Where::nodes},
    {Collective::allreduce, kAnyBytes, kAnyRanks, "sliced", Where::nodes},
    {Collective::allreduce, kAnyBytes, 2, "recursive_doubling"},
    {Collective::allreduce, 32 << 10, 4, "recursive_doubling"},
    {Collective::allreduce, 16 << 10, kAnyRanks, "recursive_doubling"},
    {Collective::allreduce, 512 << 10, kAnyRanks, "rabenseifner"},
    {Collective::allreduce, kAnyBytes, 64, "ring"},
    {Collective::allreduce, kAnyBytes, kAnyRanks, "rabenseifner"},

    {Collective::gather, 4 << 10, kAnyRanks, "leaders", Where::nodes},
    {Collective::gather, kAnyBytes, 4, "linear"},
    {Collective::gather, 4 << 10, kAnyRanks, "binomial"},
    {Collective::gather, kAnyBytes, kAnyRanks, "linear"},

    {Collective::scatter, 4 << 10, kAnyRanks, "leaders", Where::nodes},
    {Collective::scatter, kAnyBytes, 4, "linear"},
    {Collective::scatter, 4 << 10, kAnyRanks, "binomial"},
    {Collective::scatter, kAnyBytes, kAnyRanks, "linear"},

    {Collective::allgather, 4 << 10, kAnyRanks, "leaders", Where::nodes},
    {Collective::allgather, kAnyBytes, 2, "linear"},
    {Collective::allgather, kAnyBytes, 4, "neighbor_exchange"},
    {Collective::allgather, 4 << 10, kAnyRanks, "recursive_doubling"},
    {Collective::allgather, 4 << 10, kAnyRanks, "bruck"},
    {Collective::allgather, 64 << 10, kAnyRanks, "neighbor_exchange"},
    {Collective::allgather, kAnyBytes, kAnyRanks, "ring"},

    {Collective::allgatherv, 64 << 10, kAnyRanks, "leaders", Where::nodes},
    {Collective::allgatherv, kAnyBytes, 2, "linear"},
    {Collective::allgatherv, 64 << 10, kAnyRanks, "recursive_doubling"},
    {Collective::allgatherv, 64 << 10, kAnyRanks, "bruck"},
    {Collective::allgatherv, kAnyBytes, kAnyRanks, "ring"},

    {Collective::alltoall, 1 << 10, kAnyRanks, "node_first", Where::nodes},
    {Collective::alltoall, kAnyBytes, 4, "linear"},
    {Collective::alltoall, 256, 8, "linear"},
    {Collective::alltoall, 256, kAnyRanks, "bruck"},
    {Collective::alltoall, 32 << 10, kAnyRanks, "linear"},
    {Collective::alltoall, kAnyBytes, kAnyRanks, "pairwise"},

    {Collective::alltoallv, kAnyBytes, kAnyRanks, "linear"},

    {Collective::reduce_scatter, 64 << 10, kAnyRanks, "leaders", Where::nodes},
    {Collective::reduce_scatter, kAnyBytes, 2, "recursive_halving"},
    {Collective::reduce_scatter, 64 << 10, kAnyRanks, "recursive_halving"},
    {Collective::reduce_scatter, 16 << 10, kAnyRanks, "reduce_then_scatter"},
    {Collective::reduce_scatter, kAnyBytes, 16, "pairwise"},
    {Collective::reduce_scatter, kAnyBytes, kAnyRanks, "ring"},
    {Collective::reduce_scatter, kAnyBytes, kAnyRanks, "pairwise"},

    {Collective::scan, 16 << 10, kAnyRanks, "leaders", Where::nodes},
    {Collective::scan, kAnyBytes, 4, "linear"},
    {Collective::scan, 16 << 10, kAnyRanks, "recursive_doubling"},
    {Collective::scan, kAnyBytes, 16, "linear"},
    {Collective::scan, kAnyBytes, kAnyRanks, "leaders", Where::nodes},
    {Collective::scan, 512 << 10, kAnyRanks, "recursive_doubling"},
    {Collective::scan, kAnyBytes, kAnyRanks, "linear"},

    {Collective::exscan, 16 << 10, kAnyRanks, "leaders", Where::nodes},
    {Collective::exscan, kAnyBytes, 4, "linear"},
    {Collective::exscan, 16 << 10, kAnyRanks, "recursive_doubling"},
    {Collective::exscan, kAnyBytes, 16, "linear"},
    {Collective::exscan, kAnyBytes, kAnyRanks, "leaders", Where::nodes},
    {Collective::exscan, 512 << 10, kAnyRanks, "recursive_doubling"},
    {Collective::exscan, kAnyBytes, kAnyRanks, "linear"},
};

[[noreturn]] void refuse(Collective collective, const std::string& name) {
  throw Error(Errc::configuration, fmt::format("{}: there is no algorithm \"{}\"; valid are auto, {}",
                                               algorithm_variable(collective), name, algorithm_names(collective)));
}

/// Null for "auto".
const Algorithm* chosen(Collective collective, const Config& config) {
  const std::string& name = config.algorithms[static_cast<std::size_t>(collective)];
  if (name.empty()) return nullptr;
  const Algorithm* algorithm = find_algorithm(collective, name);
  if (algorithm == nullptr) refuse(collective, name);
  return algorithm;
}

}  // namespace

void check_choices(const Config& config) {
  for (std::size_t i = 0; i < kCollectives; ++i) static_cast<void>(chosen(static_cast<Collective>(i), config));
}

const Algorithm& select(const CollectiveCall& call, const Config& config) {
  const Algorithm* wanted = chosen(call.collective, config);
  return wanted != nullptr && wanted->restriction.allows(call) ? *wanted : select_by_rules(call);
}

const Algorithm& select_by_rules(const CollectiveCall& call) {
  for (const Rule& rule : kRules) {
    if (!rule.covers(call)) continue;
    const Algorithm* algorithm = find_algorithm(rule.collective, rule.algorithm);
    if (algorithm != nullptr && algorithm->restriction.allows(call)) return *algorithm;
  }
  return algorithms(call.collective).front();
}

CommitOptions commit_options(const Algorithm& algorithm, const CollectiveCall& call, const Config& config) {
  if (!algorithm.segmentable) return {};
  return {.segment_bytes = call.one_node ? std::min(config.segment_bytes, kNodeSegmentBytes) : config.segment_bytes};
}

}  // namespace fab::collectives
