// Selects the algorithm of a call.
#pragma once

#include <vector>

#include "collectives/choice/registry.h"
#include "collectives/choice/rules.h"
#include "core/base/config.h"

namespace fab::collectives {

/// Throws Error(configuration) when a FAB_ALGO_ variable names no algorithm, with those that exist.
void check_choices(const Config& config);

/// Reads the file that FAB_RULES names, if any, and takes its lengths for this node's processors; Config::rules then
/// has the digest of the rules behind its name, which ranks compare when they meet. Reads no file twice. Throws
/// Error(configuration) as read_rules.
[[nodiscard]] Config with_rules(Config config);

/// An algorithm, and how it came to be chosen.
struct Choice {
  enum class By : std::uint8_t {
    first,     ///< no rule fits: the first algorithm of a collective can do everything
    rule,      ///< `rule` of `rules`
    variable,  ///< FAB_ALGO_<COLLECTIVE>
  };
  /// It would have been chosen, but cannot do the call; a null rule stands for the variable.
  struct PassedOver {
    const Rule* rule = nullptr;
    const Algorithm* algorithm = nullptr;
  };

  const Algorithm* algorithm = nullptr;
  By by = By::first;
  const Rules* rules = nullptr;
  const Rule* rule = nullptr;
  std::vector<PassedOver> passed_over{};
};

/// Throws as check_choices. The choice is valid as long as the configuration is.
[[nodiscard]] Choice choose(const CollectiveCall& call, const Config& config);

/// What FAB_ALGO_<COLLECTIVE> names, if it can do the call; otherwise what fits the call's bytes and ranks, and where
/// they are. All ranks choose the same. Throws as check_choices.
[[nodiscard]] const Algorithm& select(const CollectiveCall& call, const Config& config);

/// select() by the rules of the call alone, for calls that are steps of another one.
[[nodiscard]] const Algorithm& select_by_rules(const CollectiveCall& call);

/// The longest segment within a node: what travels through the memory of a ring, without the kernel.
inline constexpr std::size_t kNodeSegmentBytes = 16 << 10;
/// The longest segment for several ranks of a node with fewer processors than ranks: they read one copy of it, and few
/// segments make few changes from rank to rank (docs/lab/collectives.md).
inline constexpr std::size_t kCrowdedSegmentBytes = 32 << 10;

/// How its pipelines are cut: finer within a node. Messages are not combined: the ends of an edge need not be in the
/// same round.
[[nodiscard]] CommitOptions commit_options(const Algorithm& algorithm, const CollectiveCall& call,
                                           const Config& config);

}  // namespace fab::collectives
