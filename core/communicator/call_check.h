// With FAB_CHECK: before they do a call, the ranks of a communicator compare what each of them calls.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/engine_lock.h"
#include "core/run/called_as.h"
#include "core/run/run_pool.h"

namespace fab::core {

/// Two comparisons. Before a call: a dissemination in which each message holds what its sender has seen, a call and one
/// that differs from it if there is one. So every rank learns of a difference, for all calls and whichever
/// ranks they connect. After a call, when each rank has done its part: a dissemination of whether one of them has found
/// that the ends of an edge disagree, which its receiver alone can see. A rank that has found it does not wait for the
/// others. Guarded by the engine's lock.
class CallCheck final : public Comparison {
 public:
  /// Of a communicator of two ranks or more.
  explicit CallCheck(Membership& communicator);

  /// A run that compares this call, for the holder to start and to let go. Throws what making a run throws.
  [[nodiscard]] Run& prepare(const CalledAs& call) FAB_REQUIRES(engine_lock);
  [[nodiscard]] std::optional<std::string> difference(const Run& check) const override FAB_REQUIRES(engine_lock);

  /// A run that tells how the call with this comparison has ended, for the holder to start and to let go. Throws what
  /// making a run throws.
  [[nodiscard]] Run& prepare_closing(std::uint64_t sequence_tag) FAB_REQUIRES(engine_lock);
  void tell(Run& closing, std::string_view name, const Status& failure) const override FAB_REQUIRES(engine_lock);
  [[nodiscard]] Status found(const Run& closing, std::string_view name) const override FAB_REQUIRES(engine_lock);

 private:
  RunPool checks_;
  RunPool closings_;
};

}  // namespace fab::core
