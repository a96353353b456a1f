// Exchanges that are made once and started many times (persistent collectives: MPI-4.1, 6.13; here in the native form).
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <vector>

#include "fab/error.h"
#include "fab/request.h"
#include "fab/result.h"
#include "fab/timed_waits.h"
#include "fab/topology.h"

namespace fab {

namespace core {
class Persistent;
struct Arrival;
}  // namespace core

/// One exchange with its buffers and shape. All ranks of the communicator make theirs in the same order; afterwards
/// each may be started in any order, also at once with others and with ordinary calls. From the first start on nothing
/// is looked up or allocated. The buffers belong to the exchange while it is active; layouts may go at once.
///
/// Move-only; a default-constructed or moved-from one only has active(). The destructor waits for what is active, its
/// failure is lost. One is used by one thread at a time.
class PersistentExchange : public detail::TimedWaits<PersistentExchange> {
 public:
  PersistentExchange() noexcept;
  PersistentExchange(PersistentExchange&& other) noexcept;
  PersistentExchange& operator=(PersistentExchange&& other) noexcept;
  ~PersistentExchange();

  /// Returns at once. Throws Error(invalid_argument) when it is active already or holds no exchange, Error(cancelled)
  /// when the context is closed.
  void start();
  /// The same without exceptions.
  [[nodiscard]] Status try_start();
  /// Started and not yet waited for, or tested with the result true.
  [[nodiscard]] bool active() const noexcept;
  /// Returns when it is complete; at once if it is not active. Throws what Request::wait throws; after a failure it may
  /// be started again once the cause is removed.
  void wait();
  /// The same without exceptions.
  [[nodiscard]] Status wait_status();
  /// Waits until the clock shows that time at most: whether it is complete. If it is not, it stays active. Throws like
  /// wait, but for timed_out: the caller's limit stands for FAB_WAIT_TIMEOUT. wait_for and try_wait_for take a
  /// duration.
  [[nodiscard]] bool wait_until(std::chrono::steady_clock::time_point time);
  /// The same without exceptions.
  [[nodiscard]] Result<bool> try_wait_until(std::chrono::steady_clock::time_point time);
  /// Makes some progress; true when it is complete or not active. Throws like wait.
  [[nodiscard]] bool test();
  /// The same without exceptions.
  [[nodiscard]] Result<bool> try_test();

  /// Returns when the block from source i of the neighborhood is in its place, whatever else is still on its way; at
  /// once if the exchange is not active. Afterwards that block may be read, but neither it nor what is sent may be
  /// written before the exchange is complete, which wait is still to be called for. Throws Error(invalid_argument) when
  /// there is no such source (a shift has none), and like wait when the exchange has failed.
  void wait_source(std::size_t source);
  /// The same for any of the listed sources, at least one: returns the position in the list of one whose block came.
  [[nodiscard]] std::size_t wait_any_source(std::span<const std::size_t> sources);
  /// Makes some progress; whether the block is in its place. Throws like wait_source.
  [[nodiscard]] bool test_source(std::size_t source);

  /// Starts all, or none: throws like start, and names the first that cannot be started. Only where they are of several
  /// contexts, and one of these is closed, those before it have been started.
  static void start_all(std::span<PersistentExchange> exchanges);
  /// Throws the first failure, after all are complete.
  static void wait_all(std::span<PersistentExchange> exchanges);

 private:
  friend struct Access;
  PersistentExchange(core::Persistent exchange, std::span<const Edge> sources);
  static void start_these(std::span<PersistentExchange> exchanges);
  [[nodiscard]] Status end();
  [[nodiscard]] Result<bool> ended();
  void check_sources(std::span<const std::size_t> sources, const char* call) const;

  std::unique_ptr<core::Persistent> exchange_;
  std::vector<core::Arrival> arrivals_;  ///< of the sources
};

}  // namespace fab
