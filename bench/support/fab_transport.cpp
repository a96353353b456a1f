#include "support/fab_transport.h"

#include <fmt/core.h>

#include <algorithm>

#include "providers/local/thresholds.h"

namespace bench {

FabTransport::FabTransport()
    : config_(fab::read_config(fab::process_environment)),
      job_(fab::open_store()->job()),
      choice_(fab::choose_transports(config_, job_)),
      survey_(config_, job_) {}

std::string FabTransport::provider() const {
  if (!choice_.network) return "local";
  return choice_.node && job_.local_size > 1 ? "local+" + network().provider : network().provider;
}

std::string FabTransport::name() const {
  if (!choice_.network) return "shared memory";
  return network().domain.empty() ? provider() : fmt::format("{} on {}", provider(), network().domain);
}

FabPath FabTransport::path() const {
  return {.name = name(),
          .provider = provider(),
          .domain = uses_network() ? network().domain : "",
          .nodes = job_.node_count};
}

std::string FabTransport::way(const Message& message) const {
  if (message.peer == job_.rank) return "copy";
  if (choice_.node && std::ranges::binary_search(job_.node_ranks, message.peer)) return way_in_node(message);
  return message.is_persistent && network().writes ? "one-sided" : "tagged";
}

// Blocks in many pieces are packed into memory of fab's, so that they may be mapped in any memory.
std::string FabTransport::way_in_node(const Message& message) const {
  const fab::LocalLong wanted = config_.local_long;
  const bool may_be_mapped = message.memory == MemoryKind::fab || !message.is_contiguous;
  const bool is_mapped = may_be_mapped && message.bytes >= fab::local::least_mapped(wanted);
  const bool is_copied = message.bytes <= fab::local::longest_copied(wanted);
  const fab::local::LongestRewritten rewritten = fab::local::longest_rewritten(wanted);
  if (!is_copied && message.is_rewritten && message.bytes <= (is_mapped ? rewritten.mapped : rewritten.read))
    return "ring";
  if (is_mapped && message.memory == MemoryKind::fab) return "mapped";
  if (is_copied) return message.bytes <= fab::local::Cell::kInlineBytes ? "cell" : "ring";
  if (wanted == fab::LocalLong::ring) return "ring";
  return is_mapped ? "mapped or kernel" : "kernel";
}

}  // namespace bench
