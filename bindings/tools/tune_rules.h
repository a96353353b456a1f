// Turns the costs of algorithms into rules that choose between them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collectives/choice/rules.h"

namespace fab::tools {

/// Whose calls have a size that all ranks know, of the vector or of one block.
[[nodiscard]] bool is_tuned(Collective collective) noexcept;
/// Those that are named, no names: all. Throws Error(invalid_argument) for one that is not tuned.
[[nodiscard]] std::vector<Collective> tuned_collectives(const std::vector<std::string>& names);

/// What a call costs by one of its algorithms, on each of some networks.
struct Candidate {
  std::string algorithm;
  std::vector<double> costs;
  /// The costs are known; otherwise they are those of fewer ranks, which are no higher.
  bool known = true;
};

/// Calls of one collective, on one kind of nodes, by numbers of ranks and then by sizes, both ascending.
struct TuneGrid {
  Collective collective = Collective::barrier;
  int least_per_node = 1;
  collectives::Where where = collectives::Where::anywhere;
  bool bounded = false;  ///< sizes above the largest are left to other rules
  std::vector<int> ranks{};
  std::vector<std::size_t> bytes{};
  std::vector<std::vector<std::vector<Candidate>>> candidates{};  ///< [ranks][bytes], at least one each
};

/// An algorithm for each call: the one with the least product of its costs' ratios to the best ones'. The algorithm of
/// the next smaller size stays where it is at most `within` times worse, so that noise makes no rules. Where one that
/// is not known could be the best, the choice is that for fewer ranks, or empty if there is none.
[[nodiscard]] std::vector<std::vector<std::string>> choose_algorithms(const TuneGrid& grid, double within);

/// Rules that say so, none where the choice is empty. Sizes and numbers of ranks in between: a size belongs to the
/// nearer one by its ratio, a number of ranks to the next one above; what is larger than all belongs to the largest,
/// unless the grid is bounded.
[[nodiscard]] std::vector<collectives::Rule> rules_of(const TuneGrid& grid,
                                                      const std::vector<std::vector<std::string>>& chosen);

/// The source of a built-in table.
[[nodiscard]] std::string to_source(const std::vector<collectives::Rule>& rules, const std::string& made_by);

}  // namespace fab::tools
