#include "support/fab_transport.h"

#include <fmt/core.h>

#include <algorithm>

#include "collectives/choice/select.h"
#include "providers/local/thresholds.h"

namespace bench {

FabTransport::FabTransport()
    : config_(fab::collectives::with_rules(fab::read_config(fab::process_environment))),
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
  const fab::local::Change change = message.is_constant ? fab::local::Change::constant : fab::local::Change::changing;
  const bool is_mapped_if_announced = wanted != fab::LocalLong::read && wanted != fab::LocalLong::ring &&
                                      (message.memory == MemoryKind::fab || !message.is_contiguous);
  const fab::LocalLengths& lengths = config_.local_lengths.value_or(fab::local::kBuiltInLengths);
  const fab::LongestCopied longest = is_mapped_if_announced ? fab::local::longest_copied_of_mapped(wanted, lengths)
                                                            : fab::local::longest_copied(wanted, lengths);
  if (message.bytes <= fab::local::longest(longest, change))
    return message.bytes <= fab::local::Cell::kInlineBytes ? "cell" : "ring";
  if (!is_mapped_if_announced) return wanted == fab::LocalLong::ring ? "ring" : "kernel";
  return message.memory == MemoryKind::fab ? "mapped" : "mapped or kernel";
}

}  // namespace bench
