// Persistent exchanges: made once and started many times (MPI-4.1, 6.13, persistent collectives; here in native form).
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fab/api.h"
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

/// One exchange with its buffers and shape. All ranks of the communicator make theirs in the same order, and making one
/// along a topology may wait until others do: between nodes that hold several ranks, which agree about what goes
/// between them (FAB_ALGO_NEIGHBOR). Afterwards they start in any order, also while others and ordinary calls are
/// active. From the first start on, no call looks anything up or allocates. The buffers belong to the exchange while it
/// is active. Layouts need not outlive the construction.
///
/// Move-only. A default-constructed or moved-from object only has active(). The destructor waits for an active exchange
/// and discards its failure. One thread at a time uses an object.
class FAB_API PersistentExchange : public detail::TimedWaits<PersistentExchange> {
 public:
  PersistentExchange() noexcept;                            ///< no exchange
  PersistentExchange(PersistentExchange&& other) noexcept;  ///< an active exchange goes on in the new object
  /// Waits first for this exchange, if it is active, and discards its failure.
  PersistentExchange& operator=(PersistentExchange&& other) noexcept;
  ~PersistentExchange();

  /// Starts the exchange. Returns at once. Throws Error(invalid_argument) if it is active or the object holds no
  /// exchange, Error(cancelled) if the context is closed.
  void start();
  /// start without exceptions.
  [[nodiscard]] Status try_start();
  /// Whether the exchange was started, and no wait and no test has found it complete since.
  [[nodiscard]] bool active() const noexcept;
  /// Returns when the exchange is complete; at once if it is not active. Throws the errors of Request::wait. After a
  /// failure it may be started again once the cause is removed.
  void wait();
  /// wait without exceptions.
  [[nodiscard]] Status wait_status();
  /// Waits until the clock shows `time` at most. Returns whether the exchange is complete; if not, it stays active.
  /// Throws like wait, except for timed_out: the caller's limit replaces FAB_WAIT_TIMEOUT. wait_for and try_wait_for
  /// take a duration.
  [[nodiscard]] bool wait_until(std::chrono::steady_clock::time_point time);
  /// wait_until without exceptions.
  [[nodiscard]] Result<bool> try_wait_until(std::chrono::steady_clock::time_point time);
  /// Makes some progress. True if the exchange is complete or not active. Throws like wait.
  [[nodiscard]] bool test();
  /// test without exceptions.
  [[nodiscard]] Result<bool> try_test();

  /// Returns when the block from source i of the neighborhood has arrived, even if others have not; at once if the
  /// exchange is not active. The block may then be read. Neither it nor the sent blocks may be written until the
  /// exchange is complete; a call of wait is still needed. Throws Error(invalid_argument) if there is no such source (a
  /// shift has none), and like wait if the exchange has failed.
  void wait_source(std::size_t source);
  /// Waits for any of the listed sources, at least one. Returns the position in the list of a source whose block has
  /// arrived.
  [[nodiscard]] std::size_t wait_any_source(std::span<const std::size_t> sources);
  /// Makes some progress. Returns whether the block has arrived. Throws like wait_source.
  [[nodiscard]] bool test_source(std::size_t source);
  /// wait_source until the clock shows `time` at most. Returns whether the block has arrived; true if the exchange is
  /// not active. Throws like wait_source, except for timed_out.
  [[nodiscard]] bool wait_source_until(std::size_t source, std::chrono::steady_clock::time_point time);
  /// wait_any_source until the clock shows `time` at most. Returns no position if none of these blocks has arrived by
  /// then. Throws like wait_source_until.
  [[nodiscard]] std::optional<std::size_t> wait_any_source_until(std::span<const std::size_t> sources,
                                                                 std::chrono::steady_clock::time_point time);

  /// @{
  /// A call for sources with a duration from now instead of a point in time, or without exceptions: try_ forms return
  /// the failure that the call throws.
  template <class Number, class Period>
  [[nodiscard]] bool wait_source_for(std::size_t source, std::chrono::duration<Number, Period> time) {
    return wait_source_until(source, detail::time_after(time));
  }
  template <class Number, class Period>
  [[nodiscard]] std::optional<std::size_t> wait_any_source_for(std::span<const std::size_t> sources,
                                                               std::chrono::duration<Number, Period> time) {
    return wait_any_source_until(sources, detail::time_after(time));
  }
  [[nodiscard]] Status try_wait_source(std::size_t source) {
    return attempt([&] { wait_source(source); });
  }
  [[nodiscard]] Result<bool> try_wait_source_until(std::size_t source, std::chrono::steady_clock::time_point time) {
    return attempt([&] { return wait_source_until(source, time); });
  }
  template <class Number, class Period>
  [[nodiscard]] Result<bool> try_wait_source_for(std::size_t source, std::chrono::duration<Number, Period> time) {
    return try_wait_source_until(source, detail::time_after(time));
  }
  [[nodiscard]] Result<std::size_t> try_wait_any_source(std::span<const std::size_t> sources) {
    return attempt([&] { return wait_any_source(sources); });
  }
  [[nodiscard]] Result<std::optional<std::size_t>> try_wait_any_source_until(
      std::span<const std::size_t> sources, std::chrono::steady_clock::time_point time) {
    return attempt([&] { return wait_any_source_until(sources, time); });
  }
  template <class Number, class Period>
  [[nodiscard]] Result<std::optional<std::size_t>> try_wait_any_source_for(std::span<const std::size_t> sources,
                                                                           std::chrono::duration<Number, Period> time) {
    return try_wait_any_source_until(sources, detail::time_after(time));
  }
  [[nodiscard]] Result<bool> try_test_source(std::size_t source) {
    return attempt([&] { return test_source(source); });
  }
  /// @}

  /// Starts all exchanges or none: throws like start, and names the first that cannot be started. Only if exchanges
  /// belong to several contexts, and one of these is closed, those before it in the list have been started.
  static void start_all(std::span<PersistentExchange> exchanges);
  /// Waits until all are complete, and then throws the first failure.
  static void wait_all(std::span<PersistentExchange> exchanges);
  /// wait_all until the clock shows `time` at most. Returns whether all are complete; if not, those that were active
  /// stay so. Throws like wait_all, except for timed_out.
  [[nodiscard]] static bool wait_all_until(std::span<PersistentExchange> exchanges,
                                           std::chrono::steady_clock::time_point time);
  /// wait_all_until with a duration from now.
  template <class Number, class Period>
  [[nodiscard]] static bool wait_all_for(std::span<PersistentExchange> exchanges,
                                         std::chrono::duration<Number, Period> time) {
    return wait_all_until(exchanges, detail::time_after(time));
  }
  /// @{
  /// A call for several exchanges without exceptions. It returns the failure that the call throws.
  [[nodiscard]] static Status try_start_all(std::span<PersistentExchange> exchanges) {
    return attempt([&] { start_all(exchanges); });
  }
  [[nodiscard]] static Status try_wait_all(std::span<PersistentExchange> exchanges) {
    return attempt([&] { wait_all(exchanges); });
  }
  [[nodiscard]] static Result<bool> try_wait_all_until(std::span<PersistentExchange> exchanges,
                                                       std::chrono::steady_clock::time_point time) {
    return attempt([&] { return wait_all_until(exchanges, time); });
  }
  template <class Number, class Period>
  [[nodiscard]] static Result<bool> try_wait_all_for(std::span<PersistentExchange> exchanges,
                                                     std::chrono::duration<Number, Period> time) {
    return try_wait_all_until(exchanges, detail::time_after(time));
  }
  /// @}

 private:
  friend struct Access;
  friend class PartitionedExchange;
  friend class Waitable;
  PersistentExchange(core::Persistent exchange, std::span<const Edge> sources);
  static void start_these(std::span<PersistentExchange> exchanges);
  [[nodiscard]] Status end();
  [[nodiscard]] Result<bool> ended();
  [[nodiscard]] std::optional<std::size_t> arrived_until(std::span<const std::size_t> sources,
                                                         std::chrono::steady_clock::time_point time);
  void check_sources(std::span<const std::size_t> sources, const char* call) const;

  std::unique_ptr<core::Persistent> exchange_;
  std::vector<core::Arrival> arrivals_;  ///< one per source
};

}  // namespace fab
