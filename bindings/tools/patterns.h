// What fab_sim can predict.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "fab/schedule.h"

namespace fab::tools {

/// One call of a collective, as all its ranks make it.
struct PatternCall {
  int ranks = 1;
  std::size_t bytes = 0;  ///< of the vector, or of a block
  Rank root = 0;
  std::vector<int> grid{};  ///< of neighbourhoods, periodic; empty: a ring
};

struct Pattern {
  const char* collective;
  const char* algorithm;
  const char* description;
  Schedule (*build)(Rank self, const PatternCall& call);
};

/// Those of a collective stand together.
[[nodiscard]] std::span<const Pattern> patterns();

/// Those that are named; no algorithm: all of the collective. Throws Error(invalid_argument) that lists what exists.
[[nodiscard]] std::vector<Pattern> find_patterns(const std::string& collective, const std::string& algorithm);

}  // namespace fab::tools
