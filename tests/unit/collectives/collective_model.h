// The expected result of every collective, written down without any algorithm: the oracle of their tests.
#pragma once

#include <iosfwd>
#include <optional>
#include <span>
#include <vector>

#include "collectives/calls/call.h"

namespace fab::test {

/// How elements are combined. The user's operations work on pairs of 32-bit numbers: composition of linear functions,
/// which does not commute, and addition in both, declared to commute.
enum class Combination : std::uint8_t { sum, user_sum, user_composition };

struct CollectiveShape {
  int ranks = 1;
  Rank root = 0;
  std::size_t elements = 1;  ///< of a vector, or of one rank's block
  std::size_t element_bytes = 8;
  Combination combination = Combination::sum;
  bool in_place = false;
  bool scattered = false;  ///< elements lie apart
};
void PrintTo(const CollectiveShape& shape, std::ostream* out);

using Bytes = std::vector<std::byte>;

/// One collective. Buffers are counted in elements.
struct CollectiveModel {
  Collective collective;
  bool moves = true;  ///< data, that is
  bool has_root = false;
  bool combines = false;
  bool has_in_place = false;
  bool to_each = false;  ///< every rank sends a block of `elements` for every rank

  /// What a rank sends, and what its receive buffer holds.
  std::size_t (*sent)(const CollectiveShape&, Rank);
  std::size_t (*received)(const CollectiveShape&, Rank);
  /// Whether this rank makes the call in place, and where in the receive buffer lies what it would send.
  bool (*is_in_place)(const CollectiveShape&, Rank);
  std::size_t (*in_place_at)(const CollectiveShape&, Rank);
  /// What the receive buffer holds afterwards; none: what it held before. `sent` is what all ranks send.
  std::optional<Bytes> (*expected)(const CollectiveShape&, const std::vector<Bytes>& sent, Rank);
  /// The call of one rank. `element` outlives it.
  collectives::CollectiveCall (*call)(const CollectiveShape&, Rank, const Layout& element);
};

/// One row a collective.
[[nodiscard]] const CollectiveModel& model_of(Collective collective);
/// Those of gather_models.cpp.
[[nodiscard]] std::span<const CollectiveModel> gather_models();
/// Those of exchange_models.cpp.
[[nodiscard]] std::span<const CollectiveModel> exchange_models();

[[nodiscard]] Operator operator_of(const CollectiveShape& shape);
/// The vectors of all ranks combined in the order of ranks, from the highest to the lowest.
[[nodiscard]] Bytes combined(const CollectiveShape& shape, const std::vector<Bytes>& sent);

}  // namespace fab::test
