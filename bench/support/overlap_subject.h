// The subjects of fab_perf overlap, which a computation hides: neighbour exchanges or a collective.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "support/collective_case.h"
#include "support/fab_collectives.h"
#include "support/fab_path.h"
#include "support/nonblocking_call.h"
#include "support/rows.h"

namespace bench {

class OverlapSubject {
 public:
  OverlapSubject() = default;
  virtual ~OverlapSubject() = default;
  OverlapSubject(const OverlapSubject&) = delete;
  OverlapSubject& operator=(const OverlapSubject&) = delete;

  /// What sizes are counted in: "bytes per neighbour".
  [[nodiscard]] virtual std::string unit() const = 0;
  /// None in a build without fab.
  [[nodiscard]] virtual std::optional<FabPath> path() const = 0;
  /// Of the rows: what the subject is.
  [[nodiscard]] virtual Row fields() const = 0;
  /// Of each library one, which has moved checked data once. They go before the next calls() and the subject.
  /// Collective.
  [[nodiscard]] virtual std::vector<NonblockingCall> calls(std::size_t bytes) = 0;
  /// The ways that messages of fab's took on any rank in one more call of the latest size; of neighbour exchanges: in a
  /// native one (FabForms::ways_of_native). Empty in a build without fab. Collective.
  [[nodiscard]] virtual std::set<std::string> ways_taken() = 0;
};

/// Throws std::runtime_error for blocks of different shapes.
[[nodiscard]] std::unique_ptr<OverlapSubject> neighbor_subject(const PatternOptions& pattern, MemoryKind memory);
/// `fab` stays with the caller.
[[nodiscard]] std::unique_ptr<OverlapSubject> collective_subject(Collective collective, MemoryKind memory,
                                                                 FabCollectives& fab);

}  // namespace bench
