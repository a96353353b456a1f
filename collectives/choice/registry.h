// The registry of algorithms: name, description, restriction and builder of each.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "collectives/calls/call.h"
#include "fab/schedule.h"

namespace fab::collectives {

/// Adds one rank's operations to an empty builder. A pure function; calls have bytes, but for those of barriers.
using BuildAlgorithm = void(ScheduleBuilder&, const CollectiveCall&);

/// Calls that an algorithm can do. All ranks come to the same answer.
struct Restriction {
  const char* text = "";  ///< empty: all
  bool (*allows)(const CollectiveCall&) = nullptr;
};

/// Whether long vectors are cut into segments, which go through an algorithm's pipeline one after another.
enum class Cut : std::uint8_t {
  never,  ///< or it has no pipeline
  always,
  where_crowded,  ///< only on a node with fewer processors than ranks
  unless_crowded  ///< everywhere else
};

struct Algorithm {
  Collective collective{};
  const char* name = "";         ///< as in FAB_ALGO_<COLLECTIVE>
  const char* description = "";  ///< a phrase
  Restriction restriction{};
  Cut cut = Cut::never;
  BuildAlgorithm* build = nullptr;
  bool teaches = false;  ///< lies in collectives/teaching; no rule chooses it
};

/// Those of a collective stand together; the first of them can do everything.
[[nodiscard]] std::span<const Algorithm> algorithms();
[[nodiscard]] std::span<const Algorithm> algorithms(Collective collective);
/// Null when there is none of that name.
[[nodiscard]] const Algorithm* find_algorithm(Collective collective, std::string_view name) noexcept;
/// "linear, binomial, chain"
[[nodiscard]] std::string algorithm_names(Collective collective);

/// The schedule of one rank. Where nothing is moved or combined it has no rounds.
[[nodiscard]] Schedule build(const Algorithm& algorithm, const CollectiveCall& call, const CommitOptions& options);

}  // namespace fab::collectives
