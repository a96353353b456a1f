#include "bindings/tools/patterns.h"

#include <fmt/format.h>

#include <algorithm>

#include "collectives/bcast_binary.h"
#include "collectives/neighbor_xchg.h"
#include "fab/error.h"

namespace fab::tools {

namespace {

Schedule bcast_binary(Rank self, const PatternCall& call) {
  return collectives::build_bcast_binary(self, call.ranks, call.root, call.bytes);
}

Schedule neighbor_xchg(Rank self, const PatternCall& call) {
  const std::vector<int> dims = call.grid.empty() ? std::vector{call.ranks} : call.grid;
  const Neighborhood edges = neighborhood(Cartesian(dims, std::vector<bool>(dims.size(), true)), self);
  const Layout byte = Layout::contiguous(1);
  return collectives::build_neighbor_xchg(
      edges, self, call.ranks,
      {.send = collectives::BlockList::regular(byte, call.bytes, edges.destinations.size()),
       .recv = collectives::BlockList::regular(byte, call.bytes, edges.sources.size())},
      {});
}

constexpr Pattern kPatterns[] = {
    {"bcast", "binary", "along a binary tree", bcast_binary},
    {"neighbor_xchg", "direct", "a block to and from each neighbour of a periodic grid", neighbor_xchg},
};

}  // namespace

std::span<const Pattern> patterns() { return kPatterns; }

std::vector<Pattern> find_patterns(const std::string& collective, const std::string& algorithm) {
  std::vector<Pattern> found;
  std::string known;
  for (const Pattern& each : patterns()) {
    known += fmt::format("{}{} {}", known.empty() ? "" : ", ", each.collective, each.algorithm);
    if (collective == each.collective && (algorithm.empty() || algorithm == each.algorithm)) found.push_back(each);
  }
  if (found.empty())
    throw Error(Errc::invalid_argument,
                fmt::format("no collective '{}'{}; there are: {}", collective,
                            algorithm.empty() ? "" : " with an algorithm '" + algorithm + "'", known));
  return found;
}

}  // namespace fab::tools
