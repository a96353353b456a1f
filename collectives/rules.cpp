#include "collectives/rules.h"

#include "collectives/built_in_rules.h"

namespace fab::collectives {

namespace {

/// Ranks of the smallest node. Of a communicator whose nodes are not known, each rank may be on one of its own.
int ranks_per_node(const CollectiveCall& call) { return call.one_node ? call.ranks : 1; }

}  // namespace

std::string_view name_of(Where where) noexcept {
  switch (where) {
    case Where::node:
      return "node";
    case Where::nodes:
      return "nodes";
    case Where::anywhere:
      break;
  }
  return "anywhere";
}

bool Rule::covers(const CollectiveCall& call) const {
  if (collective != call.collective || call.bytes > most_bytes || call.ranks > most_ranks) return false;
  if (where != Where::anywhere && (where == Where::node) != call.one_node) return false;
  return least_per_node <= 1 || ranks_per_node(call) >= least_per_node;
}

const Rules& built_in_rules() {
  static const Rules rules = [] {
    Rules all{.name = "built-in", .rows = {}};
    for (const BuiltInRule& row : measured_rules())
      all.rows.push_back(
          {row.collective, row.most_bytes, row.most_ranks, row.least_per_node, row.where, row.algorithm});
    return all;
  }();
  return rules;
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
