// fab_info --map: shows how mappings divide a grid of ranks between nodes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fab/mapping.h"

namespace fab::tools {

/// What the user asks for, as text.
struct MapQuestion {
  std::string dims;                  ///< "8x4" or "8,4"; extents 0 are chosen
  std::optional<std::string> nodes;  ///< "4,4,2" ranks of each node, or "3x4" for three of 4; none: this job's
  bool dealt = false;                ///< to the nodes in turn; otherwise each node gets successive ranks
  bool periodic = false;             ///< in all dimensions
};

/// One mapping's result.
struct MapRow {
  std::string name;
  std::optional<Mapping> mapping{};  ///< none where it does not suit the grid
  std::string reason{};              ///< then
  Cut cut{};
  std::optional<int> hypercube_dilation{};  ///< where the ranks form one
};

struct MapReport {
  Cartesian grid;
  std::vector<int> nodes;  ///< of each rank
  std::vector<MapRow> rows;

  /// Ranks as they are, and as cart_create puts them.
  [[nodiscard]] const Mapping& before() const { return *rows.front().mapping; }
  [[nodiscard]] const Mapping& after() const;
};

/// `job_nodes`: of each rank of this job. Throws Error(invalid_argument).
[[nodiscard]] MapReport make_map_report(const MapQuestion& question, const std::vector<int>& job_nodes);

/// A table, and the grid before and after: one character or colour for each node.
[[nodiscard]] std::string to_text(const MapReport& report, bool colours);
[[nodiscard]] nlohmann::ordered_json to_json(const MapReport& report);
/// The grid before and after, as SVG.
[[nodiscard]] std::string to_svg(const MapReport& report);

}  // namespace fab::tools
