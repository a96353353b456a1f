// The report of fab_info --choose: the algorithm of a call, and why.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/base/collective.h"
#include "core/base/config.h"

namespace fab::tools {

struct ChooseQuestion {
  std::string collective;
  std::vector<std::string> ranks{"2"};  ///< quantities, as they are typed
  std::vector<std::string> bytes{"8"};
  int per_node = 1;                 ///< consecutive ranks, unless they are dealt
  std::optional<int> processors{};  ///< of each node; not given: as many as ranks
  bool dealt = false;               ///< to the nodes in turn: ranks 0, nodes, 2 nodes, ... share node 0
  bool tcp = false;                 ///< carries what goes between nodes; otherwise a card does
  bool ordered = false;             ///< reductions by an operation that does not commute
  int edges = 4;                    ///< neighbour exchanges: of each rank, to ranks of another node
};

/// By the rules and variables of the configuration. An array with a row for each number of ranks and each size. Throws
/// Error(invalid_argument) that names option, value and what is valid; Error(configuration).
[[nodiscard]] nlohmann::ordered_json choose_rows(const ChooseQuestion& question, const Config& config);
/// The rows as a table for people.
[[nodiscard]] std::string choose_text(const nlohmann::ordered_json& rows);

}  // namespace fab::tools
