// With FAB_CHECK: before they do a call, the ranks of a communicator compare what each of them calls.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/plan/plan.h"
#include "core/run/run.h"

namespace fab::core {

/// What a rank calls, in words. Two calls are the same when `words` are, so they hold what all ranks must agree about.
struct CalledAs {
  std::string words;               ///< "bcast(root 0, 8 bytes, binomial)"
  std::string place;               ///< "call 12"; the same on all ranks, so it is not compared
  std::uint64_t sequence_tag = 0;  ///< of the comparison
  bool refused = false;            ///< this rank did not do the call: `words` tell why
};

/// Two comparisons. Before a call: a dissemination in which each message holds what its sender has seen, a call and one
/// that differs from it if there is one. So every rank learns of a difference, whatever the calls are and whichever
/// ranks they connect. After a call, when each rank has done its part: a dissemination of whether one of them has found
/// that the ends of an edge disagree, which its receiver alone can see. A rank that has found it does not wait for the
/// others. Guarded by the engine's lock.
class CallCheck {
 public:
  /// Of a communicator of two ranks or more.
  explicit CallCheck(Communicator& communicator);

  /// A run that compares this call, for the holder to start and to let go. Throws what making a run throws.
  [[nodiscard]] Run& prepare(const CalledAs& call);
  /// What such a run has found, once it has ended well: nothing, or both calls.
  [[nodiscard]] static std::optional<std::string> difference(const Run& check);

  /// A run that tells how the call with this comparison has ended, for the holder to start and to let go. Throws what
  /// making a run throws.
  [[nodiscard]] Run& prepare_closing(std::uint64_t sequence_tag);
  /// Before it starts: this rank's `failure` in the call of that name.
  static void tell(Run& closing, std::string_view name, const Status& failure);
  /// What such a run has heard, once it has ended: ok, or what another rank has found.
  [[nodiscard]] static Status found(const Run& closing, std::string_view name);

 private:
  std::unique_ptr<Plan> plan_;
  std::unique_ptr<Plan> closing_plan_;
};

}  // namespace fab::core
