// With FAB_CHECK: the description of a rank's call, and the hooks of a run into the comparisons before and after it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/engine_lock.h"
#include "fab/error.h"

namespace fab::core {

class Run;

/// What a rank calls, in words. Two calls are the same when `words` are, so they hold what all ranks must agree about.
struct CalledAs {
  std::string words;               ///< "bcast(root 0, 8 bytes, binomial)"
  std::string place;               ///< "call 12"; the same on all ranks, so it is not compared
  std::uint64_t sequence_tag = 0;  ///< of the comparison
  bool refused = false;            ///< this rank did not do the call: `words` tell why
};

/// Reads and writes the runs that compare (core/communicator/call_check.h). Guarded by the engine's lock.
class Comparison {
 public:
  /// What a run that compares a call has found, once it has ended well: nothing, or both calls.
  [[nodiscard]] virtual std::optional<std::string> difference(const Run& check) const FAB_REQUIRES(engine_lock) = 0;
  /// Before `closing` starts: this rank's `failure` in the call of that name.
  virtual void tell(Run& closing, std::string_view name, const Status& failure) const FAB_REQUIRES(engine_lock) = 0;
  /// What `closing` has heard, once it has ended: ok, or what another rank has found.
  [[nodiscard]] virtual Status found(const Run& closing, std::string_view name) const FAB_REQUIRES(engine_lock) = 0;

 protected:
  ~Comparison() = default;
};

}  // namespace fab::core
