#include "bindings/tools/patterns.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "collectives/calls/exchange_calls.h"
#include "collectives/calls/gather_calls.h"
#include "collectives/choice/registry.h"
#include "collectives/choice/select.h"
#include "collectives/neighbor/neighbor_xchg.h"
#include "collectives/start.h"
#include "core/base/config.h"
#include "core/base/quoted.h"
#include "fab/error.h"

namespace fab::tools {

namespace {

using collectives::BlockList;
using collectives::CollectiveCall;

Schedule neighbor_xchg(Rank self, const PatternCall& call) {
  const std::vector<int> dims = call.grid.empty() ? std::vector{call.ranks} : call.grid;
  const Neighborhood edges = neighborhood(Cartesian(dims, std::vector<bool>(dims.size(), true)), self);
  const Layout byte = Layout::contiguous(1);
  return collectives::build_neighbor_xchg(edges, self, call.ranks,
                                          {.send = BlockList::regular(byte, call.bytes, edges.destinations.size()),
                                           .recv = BlockList::regular(byte, call.bytes, edges.sources.size())},
                                          {});
}

/// Each rank's block, with a block of all ranks on the other side; `block` must outlive the call.
CollectiveCall gather_like(Collective collective, const Layout& block, const PatternCall& pattern, Rank self) {
  const auto own = BlockList::regular(block, 1, 1);
  const auto all = BlockList::regular(block, 1, static_cast<std::size_t>(pattern.ranks));
  const bool scatters = collective == Collective::scatter || collective == Collective::scatterv;
  return collectives::gather_call({.collective = collective,
                                   .rank = self,
                                   .ranks = pattern.ranks,
                                   .root = pattern.root,
                                   .send = scatters ? all : own,
                                   .recv = scatters ? own : all});
}

CollectiveCall call_without_rank(Collective collective, const Layout& block, const PatternCall& pattern, Rank self) {
  const Operator add = Operator::of<std::uint8_t>(ReduceOp::sum);
  const auto all = BlockList::regular(block, 1, static_cast<std::size_t>(pattern.ranks));
  switch (collective) {
    case Collective::barrier:
      return collectives::barrier_call();
    case Collective::bcast:
      return collectives::bcast_call(block, pattern.root);
    case Collective::reduce:
      return collectives::reduce_call(block, add, pattern.root, false);
    case Collective::allreduce:
      return collectives::allreduce_call(block, add, false);
    case Collective::alltoall:
      return collectives::alltoall_call(block, pattern.ranks, false);
    case Collective::alltoallv:
      return collectives::alltoallv_call(all, all, pattern.ranks);
    case Collective::reduce_scatter:
      return collectives::reduce_scatter_block_call(block, add, pattern.ranks, false);
    case Collective::scan:
      return collectives::scan_call(block, add, false);
    case Collective::exscan:
      return collectives::exscan_call(block, add, false);
    default:
      return gather_like(collective, block, pattern, self);
  }
}

core::NodeMap nodes_of(const PatternCall& pattern) {
  return core::NodeMap::regular(pattern.ranks, std::max(pattern.per_node, 1));
}

/// `block` and `nodes` must outlive the call.
CollectiveCall call_of(Collective collective, const Layout& block, const core::NodeMap& nodes,
                       const PatternCall& pattern, Rank self) {
  CollectiveCall call = call_without_rank(collective, block, pattern, self);
  call.rank = self;
  call.ranks = pattern.ranks;
  call.one_node = pattern.ranks <= pattern.per_node;
  if (!call.one_node && pattern.per_node > 1) call.nodes = &nodes;
  return call;
}

Pattern pattern_of(const collectives::Algorithm& algorithm) {
  const auto allows = [&algorithm](const PatternCall& pattern) {
    const Layout block = Layout::contiguous(pattern.bytes);
    const core::NodeMap nodes = nodes_of(pattern);
    return algorithm.restriction.allows(call_of(algorithm.collective, block, nodes, pattern, 0));
  };
  const auto build = [&algorithm](Rank self, const PatternCall& pattern) {
    static const Config config = read_config([](const std::string&) { return std::nullopt; });
    const Layout block = Layout::contiguous(pattern.bytes);
    const core::NodeMap nodes = nodes_of(pattern);
    const CollectiveCall call = call_of(algorithm.collective, block, nodes, pattern, self);
    return collectives::build(algorithm, call, collectives::commit_options(algorithm, call, config));
  };
  return {std::string(to_string(algorithm.collective)),
          algorithm.name,
          algorithm.description,
          algorithm.restriction.text,
          allows,
          build};
}

}  // namespace

std::vector<Pattern> patterns() {
  std::vector<Pattern> all;
  for (const collectives::Algorithm& algorithm : collectives::algorithms()) all.push_back(pattern_of(algorithm));
  all.push_back({"neighbor_xchg", "direct", "a block to and from each neighbour of a periodic grid", "",
                 [](const PatternCall&) { return true; }, neighbor_xchg});
  return all;
}

std::vector<Pattern> find_patterns(const std::string& collective, const std::string& algorithm) {
  std::vector<Pattern> found;
  std::string known;
  for (Pattern& each : patterns()) {
    known += fmt::format("{}{} {}", known.empty() ? "" : ", ", each.collective, each.algorithm);
    if (collective == each.collective && (algorithm.empty() || algorithm == each.algorithm)) found.push_back(each);
  }
  if (found.empty())
    throw Error(Errc::invalid_argument,
                fmt::format("no collective {}{}; there are: {}", in_quotes(collective),
                            algorithm.empty() ? "" : " with an algorithm " + in_quotes(algorithm), known));
  return found;
}

}  // namespace fab::tools
