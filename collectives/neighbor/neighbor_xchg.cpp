#include "collectives/neighbor/neighbor_xchg.h"

#include <fmt/core.h>

#include <utility>
#include <vector>

#include "collectives/calls/brief.h"
#include "collectives/calls/buffers.h"
#include "collectives/calls/call_kinds.h"
#include "collectives/neighbor/edges.h"
#include "core/context.h"
#include "fab/error.h"

namespace fab::collectives {

namespace {

constexpr const char* kName = "neighbor_xchg";

void check_block_count(std::size_t blocks, std::size_t edges, const char* side) {
  if (blocks != edges)
    throw Error(Errc::invalid_argument,
                fmt::format("{}: {} {} blocks; the topology gives this rank {}", kName, blocks, side, edges));
}

std::vector<Block> blocks_of(const BlockList& list, BufferId buffer) {
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < list.size(); ++i) blocks.push_back(list[i].in(buffer));
  return blocks;
}

void check_topology(const core::Communicator& communicator) {
  if (communicator.topology() == nullptr)
    throw Error(Errc::invalid_topology, fmt::format("{}: the communicator has no topology", kName));
}

EdgeBlocks edge_blocks(const Neighborhood& neighborhood, int ranks, const NeighborXchg& call) {
  const auto& [destinations, sources] = neighborhood;
  check_block_count(call.in_place ? call.recv.size() : call.send.size(), destinations.size(), "send");
  check_block_count(call.recv.size(), sources.size(), "receive");
  EdgeBlocks blocks{.builder = {kName, ranks}};
  blocks.incoming = blocks_of(call.recv, BufferId::recv);
  blocks.outgoing = call.in_place ? copy_aside(blocks.builder, blocks.incoming) : blocks_of(call.send, BufferId::send);
  return blocks;
}

Schedule build(const core::Communicator& communicator, const NeighborXchg& call) {
  return build_neighbor_xchg(communicator.neighborhood(), communicator.rank(), communicator.size(), call,
                             communicator.commit_options());
}

}  // namespace

Schedule build_neighbor_xchg(const Neighborhood& neighborhood, Rank self, int ranks, const NeighborXchg& call,
                             const CommitOptions& options) {
  auto [builder, outgoing, incoming] = edge_blocks(neighborhood, ranks, call);
  exchange_along(neighborhood, self, builder, outgoing, incoming, kName);
  return builder.commit(options);
}

core::Persistent make_neighbor_xchg(std::shared_ptr<core::Communicator> communicator, const void* send, void* recv,
                                    const NeighborXchg& call, const PersistentUse& use) {
  check_topology(*communicator);
  EdgeBlocks blocks = edge_blocks(communicator->neighborhood(), communicator->size(), call);
  return make_persistent(communicator, buffers(send, recv), communicator->neighborhood(), std::move(blocks), kName,
                         use);
}

core::Run& start_neighbor_xchg(core::Communicator& communicator, const void* send, void* recv,
                               const NeighborXchg& call) {
  check_topology(communicator);
  const auto id = static_cast<std::uint64_t>(call.in_place ? Call::neighbor_xchg_in_place : Call::neighbor_xchg);
  const BlockList none;
  const BlockList& sent = call.in_place ? none : call.send;
  const auto describe = [&](core::CallShape& shape) {
    if (!call.in_place) sent.describe(shape);
    call.recv.describe(shape);
  };
  const auto bases = buffers(send, recv);
  return start_by_brief(communicator, brief_of(id << 24, sent, call.recv), sent, call.recv, bases, {},
                        [&]() FAB_REQUIRES(core::engine_lock) -> core::Run& {
                          return communicator.start(id, describe, bases, [&] { return build(communicator, call); });
                        });
}

}  // namespace fab::collectives
