#include "collectives/neighbor/node_routes.h"

#include <fmt/core.h>

#include <algorithm>

#include "collectives/calls/buffers.h"
#include "collectives/neighbor/node_cost.h"
#include "core/context.h"
#include "core/run/wait.h"
#include "fab/error.h"

namespace fab::collectives {

namespace {

using Words = std::vector<std::uint64_t>;

/// Messages one behind the other.
class Message {
 public:
  explicit Message(std::ptrdiff_t words) : offset_(words) {}
  [[nodiscard]] Block in(BufferId buffer, const Words& words) {
    constexpr auto kBytes = static_cast<std::ptrdiff_t>(sizeof(std::uint64_t));
    const Block block{buffer, offset_ * kBytes, Layout::contiguous(words.size() * sizeof(std::uint64_t))};
    offset_ += static_cast<std::ptrdiff_t>(words.size());
    return block;
  }

 private:
  std::ptrdiff_t offset_;
};

/// Step by step other slots; slot 0 is taken by the messages that connect, and by those about memory.
std::uint32_t slot_of(int step, const WordMessage& message) {
  return 1 + 2 * static_cast<std::uint32_t>(step) + message.slot;
}

Schedule schedule_of(const WordExchange& exchange, int step, const core::Communicator& communicator, const char* call) {
  ScheduleBuilder builder(fmt::format("{}, agreement of nodes", call), communicator.size());
  Message received(0);
  for (const WordMessage& message : exchange.receives)
    builder.recv(message.peer, slot_of(step, message), received.in(BufferId::recv, message.words));
  Message sent(0);
  for (const WordMessage& message : exchange.sends)
    builder.send(message.peer, slot_of(step, message), sent.in(BufferId::send, message.words));
  return builder.commit();
}

Words all_words(const std::vector<WordMessage>& messages) {
  Words words;
  for (const WordMessage& message : messages) words.insert(words.end(), message.words.begin(), message.words.end());
  return words;
}

/// The received messages are in `exchange` when it returns.
void perform(core::Communicator& communicator, WordExchange& exchange, int step, const char* call,
             core::IdleHook idle) {
  if (exchange.sends.empty() && exchange.receives.empty()) return;
  const Words sent = all_words(exchange.sends);
  Words received = all_words(exchange.receives);
  core::Run* run = nullptr;
  {
    const core::Lock lock(communicator.engine());
    run = &communicator.prepare_persistent(schedule_of(exchange, step, communicator, call),
                                           buffers(sent.data(), received.data()));
  }
  const Status status = core::complete(*run, idle);
  if (!status.ok()) throw Error(status.errc(), status.message);
  auto word = received.begin();
  for (WordMessage& message : exchange.receives)
    for (std::uint64_t& its : message.words) its = *word++;
}

bool pays(const NodePair& pair, NodeNetwork network, const core::NodeMap& map, const Log& log) {
  const PairTraffic traffic = traffic_of(pair);
  const PairCost cost = cost_of(traffic, figures_of(network));
  log.write(LogLevel::debug,
            "from the node of rank {} to that of rank {}: {} messages of {} bytes, or by nodes one of {}: {:.1f} or "
            "{:.1f} us",
            map.lowest(pair.from), map.lowest(pair.to), traffic.messages, traffic.bytes, traffic.value_bytes,
            cost.direct_us, cost.by_node_us);
  return cost.by_node_pays();
}

}  // namespace

const core::NodeMap* nodes_of_routes(const core::Communicator& communicator, bool only_forced) {
  const NeighborPaths paths = communicator.context().config().neighbor_paths;
  if (paths == NeighborPaths::direct || (only_forced && paths != NeighborPaths::by_node)) return nullptr;
  return communicator.is_on_one_node() ? nullptr : communicator.nodes();
}

NodeRoutes agree_on_routes(core::Communicator& communicator, const NodeEdges& edges, const char* call,
                           core::IdleHook idle) {
  const core::Context& context = communicator.context();
  const core::NodeMap& map = *communicator.nodes();
  const bool forced = context.config().neighbor_paths == NeighborPaths::by_node;
  const NodeNetwork own = context.has_card() ? NodeNetwork::card : NodeNetwork::kernel;
  NodeAgreement agreement(map, communicator.rank(), edges, static_cast<std::uint64_t>(own),
                          [&](const NodePair& pair, std::uint64_t network) {
                            return pays(pair, static_cast<NodeNetwork>(network), map, context.log()) || forced;
                          });
  for (int step = 0; step < NodeAgreement::kSteps; ++step) {
    WordExchange exchange = agreement.messages(step);
    perform(communicator, exchange, step, call, idle);
    agreement.take(step, exchange.receives);
  }
  return agreement.routes();
}

}  // namespace fab::collectives
