#include "collectives/neighbor/partitioned_edges.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <utility>

#include "collectives/calls/buffers.h"
#include "core/run/wait.h"
#include "fab/error.h"

namespace fab::collectives {

namespace {

using core::PartedBlock;
using Words = std::vector<std::uint64_t>;

constexpr const char* kPartitionedXchg = "partitioned_neighbor_xchg";

/// What this rank says to one peer of the edges between them: of each, by slot, first of those to the peer, its bytes
/// and its number of parts.
struct Description {
  std::vector<std::pair<std::uint32_t, const DividedBlock*>> to{};    ///< by slot
  std::vector<std::pair<std::uint32_t, const DividedBlock*>> from{};  ///< by slot

  void sort() {
    std::ranges::sort(to);
    std::ranges::sort(from);
  }
  [[nodiscard]] std::size_t words() const noexcept { return 2 * (to.size() + from.size()); }
};

std::map<Rank, Description> describe(const Neighborhood& neighborhood, const DividedEdges& edges, Rank self) {
  std::map<Rank, Description> peers;
  const auto& [destinations, sources] = neighborhood;
  for (std::size_t i = 0; i < destinations.size(); ++i)
    peers[destinations[i].peer].to.emplace_back(destinations[i].slot, &edges.outgoing[i]);
  for (std::size_t i = 0; i < sources.size(); ++i)
    peers[sources[i].peer].from.emplace_back(sources[i].slot, &edges.incoming[i]);
  peers.erase(self);
  for (auto& [peer, description] : peers) description.sort();
  return peers;
}

void add_words(Words& words, const Description& description) {
  for (const auto* edges : {&description.to, &description.from})
    for (const auto& [slot, block] : *edges) {
      words.push_back(block->bytes);
      words.push_back(block->group_of.size());
    }
}

void compare(const char* name, Rank peer, bool outgoing, const DividedBlock& block,
             std::span<const std::uint64_t> theirs) {
  if (theirs[0] == block.bytes && theirs[1] == block.group_of.size()) return;
  throw Error(Errc::mismatch,
              fmt::format("{}: {} rank {}: this rank has {} bytes in {} parts, and that rank {} in {}; the two ends of "
                          "an edge must agree about both",
                          name, outgoing ? "block to" : "block from", peer, block.bytes, block.group_of.size(),
                          theirs[0], theirs[1]));
}

/// What the peer has from this rank is what this rank has to it.
void compare(const char* name, Rank peer, const Description& own, std::span<const std::uint64_t> theirs) {
  const std::size_t from = 2 * own.from.size();
  for (std::size_t i = 0; i < own.to.size(); ++i)
    compare(name, peer, true, *own.to[i].second, theirs.subspan(from + 2 * i, 2));
  for (std::size_t i = 0; i < own.from.size(); ++i)
    compare(name, peer, false, *own.from[i].second, theirs.subspan(2 * i, 2));
}

/// The incoming block in which the self edge with this slot ends.
const DividedBlock& self_source(const Neighborhood& neighborhood, const DividedEdges& edges, Edge edge,
                                const char* name) {
  const auto found = std::ranges::find(neighborhood.sources, edge);
  if (found == neighborhood.sources.end())
    throw Error(Errc::invalid_topology,
                fmt::format("{}: rank {} sends to itself more often than it receives from itself", name, edge.peer));
  return edges.incoming[static_cast<std::size_t>(found - neighborhood.sources.begin())];
}

void compare_own_sizes(const Neighborhood& neighborhood, const DividedEdges& edges, Rank self, const char* name) {
  for (std::size_t i = 0; i < neighborhood.destinations.size(); ++i) {
    const Edge& edge = neighborhood.destinations[i];
    if (edge.peer != self) continue;
    const DividedBlock& end = self_source(neighborhood, edges, edge, name);
    compare(name, self, true, edges.outgoing[i], std::array<std::uint64_t, 2>{end.bytes, end.group_of.size()});
  }
}

/// A message to each peer and one from each. Slot 0 is taken by the messages that connect.
void compare_sizes(core::Communicator& communicator, const std::map<Rank, Description>& peers, const char* name,
                   core::IdleHook idle) {
  if (peers.empty()) return;
  constexpr std::uint32_t kSlot = 1;
  ScheduleBuilder builder(fmt::format("{}, comparison of sizes", name), communicator.size());
  Words own;
  for (const auto& [peer, description] : peers) {
    const auto offset = static_cast<std::ptrdiff_t>(own.size() * sizeof(std::uint64_t));
    const Layout words = Layout::contiguous(description.words() * sizeof(std::uint64_t));
    builder.recv(peer, kSlot, {BufferId::recv, offset, words});
    builder.send(peer, kSlot, {BufferId::send, offset, words});
    add_words(own, description);
  }
  Words theirs(own.size());
  core::Run* run = nullptr;
  {
    const core::Lock lock(communicator.engine());
    run = &communicator.prepare_persistent(builder.commit(), buffers(own.data(), theirs.data()));
  }
  const Status status = core::complete(*run, idle);
  if (!status.ok()) throw Error(status.errc(), status.message);
  std::span<const std::uint64_t> rest(theirs);
  for (const auto& [peer, description] : peers) {
    compare(name, peer, description, rest.first(description.words()));
    rest = rest.subspan(description.words());
  }
}

/// The slot of a group's message.
std::uint32_t slot_of(const Edge& edge, std::size_t group, std::size_t most_groups) {
  return static_cast<std::uint32_t>(edge.slot * most_groups + group);
}

Schedule schedule_of(const Neighborhood& neighborhood, const DividedEdges& edges, Rank self, int ranks,
                     const char* name) {
  ScheduleBuilder builder(name, ranks);
  const auto& [destinations, sources] = neighborhood;
  for (std::size_t i = 0; i < sources.size(); ++i)
    for (std::size_t g = 0; g < edges.incoming[i].groups.size() && sources[i].peer != self; ++g)
      builder.recv(sources[i].peer, slot_of(sources[i], g, edges.most_groups), edges.incoming[i].groups[g]);
  for (std::size_t i = 0; i < destinations.size(); ++i) {
    const std::vector<Block>& groups = edges.outgoing[i].groups;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const std::uint32_t slot = slot_of(destinations[i], g, edges.most_groups);
      if (destinations[i].peer != self) {
        builder.send(destinations[i].peer, slot, groups[g]);
        continue;
      }
      builder.copy(slot, groups[g], self_source(neighborhood, edges, destinations[i], name).groups[g]);
    }
  }
  return builder.commit();
}

/// Finds the operations of each group in the plan.
std::vector<PartedBlock> parted(const core::Plan& plan, OperationKind kind, std::span<const Edge> edges,
                                const std::vector<DividedBlock>& blocks, std::size_t most_groups) {
  std::vector<PartedBlock> all;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    PartedBlock block{.group_of = blocks[i].group_of};
    for (std::size_t g = 0; g < blocks[i].groups.size(); ++g)
      block.groups.push_back(plan.find(kind, {edges[i].peer, slot_of(edges[i], g, most_groups)}));
    all.push_back(std::move(block));
  }
  return all;
}

}  // namespace

DividedBlock divide(std::span<const std::size_t> part_bytes, std::size_t most_groups,
                    const std::function<Block(std::size_t first, std::size_t count)>& parts) {
  DividedBlock block{.bytes = std::accumulate(part_bytes.begin(), part_bytes.end(), std::size_t{0})};
  const std::size_t least = std::max(kLeastGroupBytes, (block.bytes + most_groups - 1) / most_groups);
  std::size_t first = 0;
  std::size_t bytes = 0;
  std::size_t left = block.bytes;
  for (std::size_t part = 0; part < part_bytes.size(); ++part) {
    bytes += part_bytes[part];
    left -= part_bytes[part];
    block.group_of.push_back(part_bytes[part] == 0 ? PartedBlock::kNoGroup
                                                   : static_cast<std::uint32_t>(block.groups.size()));
    if (bytes == 0 || (bytes < least && left > 0)) continue;
    block.groups.push_back(parts(first, part + 1 - first));
    first = part + 1;
    bytes = 0;
  }
  return block;
}

core::Persistent make_partitioned(const std::shared_ptr<core::Communicator>& communicator,
                                  std::span<std::byte* const> bases, const Neighborhood& neighborhood,
                                  const DividedEdges& edges, const char* name, core::IdleHook idle) {
  const Rank self = communicator->rank();
  compare_own_sizes(neighborhood, edges, self, name);
  Schedule schedule = schedule_of(neighborhood, edges, self, communicator->size(), name);
  compare_sizes(*communicator, describe(neighborhood, edges, self), name, idle);
  core::Persistent made(communicator, {std::move(schedule), ""}, bases);
  made.set_sources(neighborhood.sources);
  const core::Plan& plan = made.run().plan();
  const auto& [destinations, sources] = neighborhood;
  made.divide(std::make_unique<core::Partition>(
      name, parted(plan, OperationKind::send, destinations, edges.outgoing, edges.most_groups),
      parted(plan, OperationKind::recv, sources, edges.incoming, edges.most_groups)));
  return made;
}

core::Persistent make_partitioned_xchg(const std::shared_ptr<core::Communicator>& communicator, const void* send,
                                       void* recv, const PartitionedXchg& call, core::IdleHook idle) {
  if (communicator->topology() == nullptr)
    throw Error(Errc::invalid_topology, fmt::format("{}: the communicator has no topology", kPartitionedXchg));
  if (call.parts == 0)
    throw Error(Errc::invalid_argument, fmt::format("{}: 0 parts; valid are 1 and more", kPartitionedXchg));
  const auto blocks = [&call](std::size_t count, const BlockView& part, BufferId buffer) {
    const std::vector<std::size_t> sizes(call.parts, part.bytes());
    const Layout one = part.in(buffer).layout;
    std::vector<DividedBlock> divided;
    for (std::size_t i = 0; i < count; ++i)
      divided.push_back(divide(sizes, kMostGroups, [&](std::size_t first, std::size_t parts) -> Block {
        const auto before = static_cast<std::ptrdiff_t>(i * call.parts + first);
        return {buffer, part.offset + before * one.extent(), one.repeated(parts)};
      }));
    return divided;
  };
  const Neighborhood& neighborhood = communicator->neighborhood();
  return make_partitioned(communicator, buffers(send, recv), neighborhood,
                          {.outgoing = blocks(neighborhood.destinations.size(), call.send_part, BufferId::send),
                           .incoming = blocks(neighborhood.sources.size(), call.recv_part, BufferId::recv)},
                          kPartitionedXchg, idle);
}

}  // namespace fab::collectives
