// The report of fab_info --choose neighbor: whether a persistent neighbour exchange goes by nodes, and what the model
// says that it costs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "bindings/tools/choose_report.h"

namespace fab::tools {

/// The name that stands for neighbour exchanges beside those of collectives.
inline constexpr const char* kNeighborChoice = "neighbor";

/// For one node that sends to another one, each of its ranks to `edges` ranks there (at most as many as there are): a
/// row for each size, with blocks of their own for all edges, and with one block of each rank for all of its edges;
/// over TCP, and over a network card. Throws Error(invalid_argument) as choose_rows.
[[nodiscard]] nlohmann::ordered_json neighbor_rows(const ChooseQuestion& question, const Config& config);
/// For people.
[[nodiscard]] std::string neighbor_text(const nlohmann::ordered_json& rows);

}  // namespace fab::tools
