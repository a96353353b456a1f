// Counts what became of the calls, for the table that FAB_STATS prints and writes.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "bindings/dropin/functions.h"
#include "bindings/mpi/requests/observers.h"
#include "collectives/calls/block_list.h"

namespace fab::dropin {

/// What became of a call.
enum class Fate : unsigned char {
  carried,       ///< by fab; of a persistent call each start
  off,           ///< FAB_DROPIN does not name it
  communicator,  ///< between groups, or with processes of other launches
  topology,      ///< the communicator has none, or one that fab cannot use
  operation,     ///< a datatype or operation that fab has no numbers for, or that may be freed while fab uses it
  requests,      ///< persistent, and completion calls do not all reach fab (FAB_REQUESTS); or no blocking call, and
                 ///< ranks found each other over MPI
  refused,       ///< arguments that fab refuses, and MPI has the words for
  early,         ///< auto: among the first calls on its communicator
  slower,        ///< auto: MPI is faster at it
};
inline constexpr auto kFateNames = std::to_array<std::string_view>(
    {"carried", "off", "communicator", "topology", "operation", "requests", "refused", "early", "slower"});
inline constexpr std::size_t kFates = kFateNames.size();

struct Count {
  std::array<std::atomic<std::uint64_t>, kFates> calls{};
  std::atomic<std::uint64_t> bytes{0};        ///< of this rank's blocks in carried calls, on the larger side of each
  std::atomic<std::uint64_t> nanoseconds{0};  ///< in carried calls and in starts, not in completion calls
};

/// Of this process. Counts only with FAB_STATS.
[[nodiscard]] Count& count_of(Function function) noexcept;

/// Whether a call that is carried counts when it is made. Persistent calls move nothing then: their starts count.
[[nodiscard]] constexpr bool counts_at_once(Form form) noexcept { return form != Form::persistent; }
void count(Function function, Fate fate) noexcept;
/// One that was to be carried is refused.
void count_refused(Function function, Form form) noexcept;
void count_bytes(Function function, const collectives::BlockList& send, const collectives::BlockList& recv) noexcept;

/// From a carried call's begin to its end.
class Timed {
 public:
  explicit Timed(Function function) noexcept;
  ~Timed();
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  Count* count_;  ///< null: without FAB_STATS
  std::chrono::steady_clock::time_point begin_;
};

/// Counts the starts of one persistent call.
class Starts final : public mpi::StartObserver {
 public:
  explicit Starts(Count& count) noexcept : count_(count) {}
  /// Each start moves these.
  void move(const collectives::BlockList& send, const collectives::BlockList& recv) noexcept;
  void started(std::chrono::nanoseconds took) noexcept override;

 private:
  Count& count_;
  std::size_t bytes_ = 0;
};
/// Null: without FAB_STATS.
[[nodiscard]] std::unique_ptr<Starts> observe_starts(Function function);

/// Adds up the counts of all ranks; rank 0 writes the table to stderr, and with FAB_STATS=FILE into the file, where it
/// is the object "dropin". Collective; in MPI_Finalize, before fab closes. Throws Error(no_resources) if rank 0 has not
/// opened fab, so that it writes the file here, and cannot.
void report_statistics();

}  // namespace fab::dropin
