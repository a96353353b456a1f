#include "collectives/neighbor/edges.h"

#include <fmt/core.h>

#include <algorithm>

#include "fab/error.h"

namespace fab::collectives {

namespace {

/// The source block that the self edge with this slot ends in.
std::size_t self_source(const Neighborhood& neighborhood, Rank self, std::uint32_t slot, const char* call) {
  const auto& sources = neighborhood.sources;
  const auto found = std::find(sources.begin(), sources.end(), Edge{self, slot});
  if (found == sources.end())
    throw Error(Errc::invalid_topology,
                fmt::format("{}: rank {} sends to itself more often than it receives from itself", call, self));
  return static_cast<std::size_t>(found - sources.begin());
}

}  // namespace

std::vector<Block> copy_aside(ScheduleBuilder& builder, std::span<const Block> blocks) {
  std::vector<Block> aside;
  for (const Block& block : blocks) {
    const std::size_t bytes = block.layout.size();
    aside.push_back({BufferId::scratch, builder.scratch(bytes), Layout::contiguous(bytes)});
    builder.copy(block, aside.back());
  }
  builder.round();
  return aside;
}

void exchange_along(const Neighborhood& neighborhood, Rank self, ScheduleBuilder& builder,
                    std::span<const Block> outgoing, std::span<const Block> incoming, const char* call) {
  const auto& [destinations, sources] = neighborhood;
  for (std::size_t i = 0; i < sources.size(); ++i)
    if (sources[i].peer != self) builder.recv(sources[i].peer, sources[i].slot, incoming[i]);
  for (std::size_t i = 0; i < destinations.size(); ++i) {
    if (destinations[i].peer != self)
      builder.send(destinations[i].peer, destinations[i].slot, outgoing[i]);
    else
      builder.copy(outgoing[i], incoming[self_source(neighborhood, self, destinations[i].slot, call)]);
  }
}

}  // namespace fab::collectives
