// Rules that choose algorithms: a value, built in or read from a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/calls/call.h"
#include "core/base/local_lengths.h"

namespace fab::collectives {

inline constexpr std::size_t kAnyBytes = std::numeric_limits<std::size_t>::max();
inline constexpr int kAnyRanks = std::numeric_limits<int>::max();

enum class Where : std::uint8_t {
  anywhere,
  node,       ///< all ranks share memory
  nodes,      ///< some ranks do
  scattered,  ///< and those of a node do not follow each other, so neighbours in a ring are on different nodes
  crowded,    ///< all ranks share memory, and the job has more ranks there than processors: the least work is fastest
  tcp,        ///< some ranks share memory, and no card carries what goes between nodes: the kernel does
};

/// As rules files have it: "node".
[[nodiscard]] std::string_view name_of(Where where) noexcept;

/// An algorithm for calls of up to so many bytes on up to so many ranks.
struct Rule {
  Collective collective = Collective::barrier;
  std::size_t most_bytes = kAnyBytes;
  int most_ranks = kAnyRanks;
  int least_per_node = 1;  ///< ranks of the smallest node, at least
  Where where = Where::anywhere;
  std::string algorithm{};

  [[nodiscard]] bool covers(const CollectiveCall& call) const;
  bool operator==(const Rule&) const = default;
};

/// Of messages within a node that has such processors.
struct ProcessorLengths {
  std::string processor{};  ///< core::processor_kind
  LocalLengths lengths{};

  bool operator==(const ProcessorLengths&) const = default;
};

/// The first rule that covers a call, and whose algorithm can do it, counts.
struct Rules {
  std::string name;  ///< of the file, or "built-in"
  std::vector<Rule> rows;
  std::vector<ProcessorLengths> lengths{};  ///< each kind of processor once
};

/// Reads a rules file, a JSON object. Fields that a rule leaves out do not restrict it:
///
///     { "version": 1, "made_by": "fab_tune measure",
///       "rules": [ { "collective": "allreduce", "most_bytes": 16384, "most_ranks": 65536, "least_per_node": 4,
///                    "where": "nodes", "algorithm": "recursive_doubling" },
///                  { "collective": "allreduce", "algorithm": "ring" } ],
///       "lengths": [ { "processor": "GenuineIntel, family 6, model 207",
///                      "program": { "unknown": 16448, "changing": 65600, "constant": 7168 },
///                      "fab": { "unknown": 16448, "changing": 32832, "constant": 2047 } } ] }
///
/// The lengths (core/base/local_lengths.h) may be left out, and so may kinds of processors.
/// Throws Error(configuration) that names FAB_RULES, file, rule (counted from 1), field, value, and what is valid.
[[nodiscard]] Rules read_rules(const std::string& file);
/// read_rules from text; `name` stands for the file in messages.
[[nodiscard]] Rules parse_rules(std::string_view text, const std::string& name);
/// What they read.
[[nodiscard]] std::string to_json(const Rules& rules, std::string_view made_by);

/// Empty: the rules have none for such processors.
[[nodiscard]] std::optional<LocalLengths> lengths_of(const Rules& rules, std::string_view processor);

/// Differs where rows differ, for ranks that compare their rules.
[[nodiscard]] std::uint64_t digest_of(const Rules& rules);

}  // namespace fab::collectives
