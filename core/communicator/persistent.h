// A persistent exchange: made once and started many times.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/engine_lock.h"
#include "core/communicator/communicator.h"
#include "core/communicator/partition.h"

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

  /// From now on a start sends nothing; parts of its blocks do so one by one, as they are marked ready. Before the
  /// first start, of a plan of one round.
  void divide(std::unique_ptr<Partition> partition);
  // The threads of a rank may call these at once, from the return of start() to the end of the exchange. They throw
  // Error(invalid_argument) where the exchange is not divided, and for a block or part that there is not.
  /// The part may be sent, and is not written until the exchange is complete. Throws Error(invalid_argument) for one
  /// that is marked already. Where the exchange has failed, nothing is sent.
  void ready(std::size_t destination, std::size_t part) FAB_EXCLUDES(engine_lock);
  /// Makes some progress; returns whether the part has arrived, or never will, and *status tells why.
  [[nodiscard]] bool arrived(std::size_t source, std::size_t part, Status& status) FAB_EXCLUDES(engine_lock);
  /// Waits until the part has arrived, or never will, and tells which.
  [[nodiscard]] Status wait_part(std::size_t source, std::size_t part) FAB_EXCLUDES(engine_lock);

  /// No more parts will be marked: if some are missing, the active exchange fails with Errc::cancelled, and those who
  /// wait for them learn of it. Without effect where the exchange is not divided.
  void give_up_missing_parts() FAB_EXCLUDES(engine_lock);

  /// Its outcome was told.
  void end() noexcept { active_ = false; }
  [[nodiscard]] Run& run() const noexcept { return *run_; }
  /// The messages that bring blocks which can be waited for one by one.
  [[nodiscard]] std::span<const Edge> sources() const noexcept { return sources_; }
  void set_sources(std::vector<Edge> sources) noexcept { sources_ = std::move(sources); }
  /// What brings the block of each of these sources, which are all of them where the exchange is divided.
  [[nodiscard]] std::vector<Arrival> arrivals(std::span<const Edge> sources) const {
    return partition_ != nullptr ? partition_->arrivals() : run_->plan().arrivals(sources);
  }
  [[nodiscard]] Engine& engine() const noexcept;

 private:
  [[nodiscard]] Partition& partition() const;
  void abandon_held_back() FAB_REQUIRES(engine_lock);
  [[nodiscard]] bool look_for(const Arrival& group, Status& status) const FAB_EXCLUDES(engine_lock);

  std::shared_ptr<Communicator> communicator_;
  Run* run_;
  std::vector<Edge> sources_;
  std::unique_ptr<Partition> partition_;            ///< null: starts send everything
  Tested tested_ FAB_GUARDED_BY(engine_lock) = {};  ///< by threads that ask for parts
  bool active_ = false;
};

}  // namespace fab::core
