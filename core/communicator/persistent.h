// A persistent exchange: made once and started many times.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/engine_lock.h"
#include "core/communicator/communicator.h"

namespace fab::core {

/// Shape, buffers and tag are fixed when it is made, by all ranks of the communicator in the same order; it may be
/// started in any order. Has its plan and its one run to itself.
class Persistent {
 public:
  /// Takes the engine's lock. `words` as in Communicator::start. Throws what binding a schedule throws, and
  /// Error(no_resources).
  Persistent(std::shared_ptr<Communicator> communicator, PlanSource source, std::span<std::byte* const> bases,
             const UserReduction& user = {}, std::string_view words = {});
  Persistent(Persistent&& other) noexcept;
  Persistent& operator=(Persistent&&) = delete;
  /// Lets go: what is in flight goes on by itself.
  ~Persistent();

  /// Not all ranks make each start, so starts are not compared (FAB_CHECK).
  void compare_no_starts() noexcept FAB_REQUIRES(engine_lock) { run_->compare_no_starts(); }
  /// Throws Error(invalid_argument) while the last start is not complete, Error(cancelled)
  /// when the context is closed.
  void start() FAB_REQUIRES(engine_lock);
  /// Started, and its outcome was not told yet.
  [[nodiscard]] bool active() const noexcept { return active_; }
  /// Its outcome was told.
  void end() noexcept { active_ = false; }
  [[nodiscard]] Run& run() const noexcept { return *run_; }
  /// The messages that bring blocks which can be waited for one by one.
  [[nodiscard]] std::span<const Edge> sources() const noexcept { return sources_; }
  void set_sources(std::vector<Edge> sources) noexcept { sources_ = std::move(sources); }
  [[nodiscard]] Engine& engine() const noexcept;

 private:
  std::shared_ptr<Communicator> communicator_;
  Run* run_;
  std::vector<Edge> sources_;
  bool active_ = false;
};

}  // namespace fab::core
