// With FAB_CHECK: before they do a call, the ranks of a communicator compare what each of them calls.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/plan.h"
#include "core/run.h"

namespace fab::core {

/// What a rank calls, in words. Two calls are the same when `words` are, so they hold what all ranks must agree about.
struct CalledAs {
  std::string words;               ///< "bcast(root 0, 8 bytes, binomial)"
  std::string place;               ///< "call 12"; the same on all ranks, so it is not compared
  std::uint64_t sequence_tag = 0;  ///< of the comparison
  bool refused = false;            ///< this rank did not do the call: `words` tell why
};

/// The comparison: a dissemination in which each message holds what its sender has seen, a call and one that differs
/// from it if there is one. So every rank learns of a difference, whatever the calls are and whoever they talk to.
/// Guarded by the engine's lock.
class CallCheck {
 public:
  /// Of a communicator of two ranks or more.
  explicit CallCheck(Communicator& communicator);

  /// A run that compares this call, for the holder to start and to let go. Throws what making a run throws.
  [[nodiscard]] Run& prepare(const CalledAs& call);
  /// What such a run has found, once it has ended well: nothing, or both calls.
  [[nodiscard]] static std::optional<std::string> difference(const Run& check);

 private:
  std::unique_ptr<Plan> plan_;
};

}  // namespace fab::core
