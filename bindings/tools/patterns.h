// The collectives and algorithms that fab_sim can predict.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "fab/schedule.h"

namespace fab::tools {

/// One call of a collective, as all its ranks make it.
struct PatternCall {
  int ranks = 1;
  std::size_t bytes = 0;  ///< of the vector, or of a block
  Rank root = 0;
  int per_node = 0;         ///< consecutive ranks that share a node; 0: that is not known
  std::vector<int> grid{};  ///< of neighbourhoods, periodic; empty: a ring
};

struct Pattern {
  std::string collective;
  std::string algorithm;
  std::string description;
  std::string restriction;  ///< empty: does every call
  std::function<bool(const PatternCall&)> allows;
  std::function<Schedule(Rank self, const PatternCall& call)> build;
};

/// The registry's algorithms, at their default settings, and the exchange between neighbours. Those of a collective
/// stand together. Reductions add bytes.
[[nodiscard]] std::vector<Pattern> patterns();

/// Those that are named; no algorithm: all of the collective. Throws Error(invalid_argument) that lists what exists.
[[nodiscard]] std::vector<Pattern> find_patterns(const std::string& collective, const std::string& algorithm);

}  // namespace fab::tools
