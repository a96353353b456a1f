// Counts what became of the calls, for the table that FAB_STATS prints.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "bindings/dropin/functions.h"
#include "collectives/block_list.h"

namespace fab::dropin {

/// What became of a call.
enum class Fate : unsigned char {
  carried,       ///< by fab
  off,           ///< FAB_DROPIN does not name it
  communicator,  ///< between groups, or with processes of other launches
  topology,      ///< the communicator has none, or one that fab cannot use
  operation,     ///< a datatype or operation that fab has no numbers for, or that may be freed while fab uses it
  requests,      ///< persistent, and the process's completion calls do not all reach fab (FAB_REQUESTS)
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
  std::atomic<std::uint64_t> nanoseconds{0};  ///< in carried calls; of non-blocking ones in their starts
};

/// Of this process. Counts only with FAB_STATS.
[[nodiscard]] Count& count_of(Function function) noexcept;

void count(Function function, Fate fate) noexcept;
/// One that was counted as carried is refused.
void recount_as_refused(Function function) noexcept;
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

/// Adds up the counts of all ranks; rank 0 writes the table to stderr. Collective; in MPI_Finalize.
void print_statistics();

}  // namespace fab::dropin
