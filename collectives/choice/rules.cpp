#include "collectives/choice/rules.h"

#include <algorithm>

namespace fab::collectives {

namespace {

/// Of the smallest node. Where nodes are not known, each rank may be on one of its own.
int ranks_per_node(const CollectiveCall& call) {
  if (call.one_node) return call.ranks;
  return call.nodes == nullptr ? 1 : call.nodes->smallest();
}

bool is_there(Where where, const CollectiveCall& call) {
  switch (where) {
    case Where::node:
      return call.one_node;
    case Where::nodes:
      return call.nodes != nullptr;
    case Where::scattered:
      return call.nodes != nullptr && !call.nodes->consecutive();
    case Where::crowded:
      return call.one_node && call.crowded;
    case Where::tcp:
      return call.nodes != nullptr && call.over_tcp;
    case Where::anywhere:
      break;
  }
  return true;
}

}  // namespace

std::string_view name_of(Where where) noexcept {
  switch (where) {
    case Where::node:
      return "node";
    case Where::nodes:
      return "nodes";
    case Where::scattered:
      return "scattered";
    case Where::crowded:
      return "crowded";
    case Where::tcp:
      return "tcp";
    case Where::anywhere:
      break;
  }
  return "anywhere";
}

bool Rule::covers(const CollectiveCall& call) const {
  if (collective != call.collective || call.bytes > most_bytes || call.ranks > most_ranks) return false;
  return is_there(where, call) && (least_per_node <= 1 || ranks_per_node(call) >= least_per_node);
}

std::optional<LocalLengths> lengths_of(const Rules& rules, std::string_view processor) {
  const auto found = std::ranges::find(rules.lengths, processor, &ProcessorLengths::processor);
  return found == rules.lengths.end() ? std::nullopt : std::optional(found->lengths);
}

std::uint64_t digest_of(const Rules& rules) {
  std::uint64_t digest = 0xcbf29ce484222325;  // FNV-1a, which every machine computes alike
  const auto add = [&digest](std::uint64_t value) {
    for (int i = 0; i < 8; ++i) digest = (digest ^ (value >> (8 * i) & 0xff)) * 0x100000001b3;
  };
  for (const Rule& row : rules.rows) {
    add(static_cast<std::uint64_t>(row.collective));
    add(row.most_bytes);
    add(static_cast<std::uint64_t>(row.most_ranks));
    add(static_cast<std::uint64_t>(row.least_per_node));
    add(static_cast<std::uint64_t>(row.where));
    for (const char c : row.algorithm) add(static_cast<unsigned char>(c));
  }
  return digest;
}

}  // namespace fab::collectives
