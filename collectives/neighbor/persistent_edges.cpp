#include "collectives/neighbor/persistent_edges.h"

#include <utility>

#include "collectives/neighbor/node_exchange.h"
#include "collectives/neighbor/node_routes.h"
#include "core/context.h"

namespace fab::collectives {

core::Persistent make_persistent(const std::shared_ptr<core::Communicator>& communicator,
                                 std::span<std::byte* const> bases, const Neighborhood& neighborhood, EdgeBlocks blocks,
                                 const char* name, const PersistentUse& use) {
  auto& [builder, outgoing, incoming] = blocks;
  const Rank self = communicator->rank();
  std::vector<Edge> arriving = neighborhood.sources;
  NodeRoutes routes;
  const char* algorithm = "";
  if (const core::NodeMap* const map = nodes_of_routes(*communicator, use.single_blocks)) {
    const NodeEdges edges = edges_between_nodes(*map, self, neighborhood, outgoing, incoming);
    routes = agree_on_routes(*communicator, edges, name, use.idle);
    arriving = arriving_edges(*map, routes, arriving, self);
    algorithm = routes.empty() ? "direct" : "by_node";
  }
  if (routes.empty())
    exchange_along(neighborhood, self, builder, outgoing, incoming, name);
  else
    exchange_by_nodes(*communicator->nodes(), routes, neighborhood, self, builder, outgoing, incoming, name);
  core::Persistent made(communicator, {builder.commit(communicator->commit_options()), algorithm}, bases);
  made.set_sources(std::move(arriving));
  return made;
}

}  // namespace fab::collectives
