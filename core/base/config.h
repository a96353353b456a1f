// Configuration: every FAB_* variable is one row; the values are read once into a const struct.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/collective.h"
#include "core/base/local_lengths.h"
#include "core/base/log.h"

namespace fab {

namespace collectives {
struct Rules;
}  // namespace collectives

enum class ProgressMode { automatic, thread, caller };

/// As a user writes it in FAB_PROGRESS: "auto".
[[nodiscard]] std::string_view name_of(ProgressMode mode) noexcept;

/// How messages that are too long for the rings travel between ranks of a node.
enum class LocalLong {
  automatic,  ///< the receiver copies them from the sender's memory: fab's own, or any other where the kernel lets it
  map,        ///< the same, from much shorter messages on where they lie in fab's own
  read,       ///< the same, from much shorter messages on
  ring        ///< through the shared memory of the rings
};

/// Whether persistent exchanges write into their peers' memory.
enum class OneSidedMode {
  automatic,  ///< where a network card does it
  on,         ///< wherever the provider can
  off
};

/// How the blocks of persistent neighbour exchanges go from one node to another one.
enum class NeighborPaths {
  automatic,  ///< by nodes where that costs less
  direct,     ///< each between its two ranks
  by_node     ///< gathered within the node, sent once, spread within the other one
};

/// How ranks find out which of them will send to them (fab::discover).
enum class DiscoverAlgorithm {
  automatic,  ///< by the number of ranks and the bytes
  nbx,        ///< synchronous messages, then a non-blocking barrier
  census,     ///< a sum tells each rank how many messages to expect
  exchange    ///< an alltoall
};

/// Who completes the requests of the MPI binding.
enum class Requests {
  automatic,  ///< fab, where all completion calls of the process reach it; otherwise MPI
  fab,        ///< fab, without a look at the process
  mpi         ///< MPI: slower
};

/// The value of every FAB_* variable.
struct Config {
  std::string provider;                              ///< FAB_PROVIDER: libfabric provider by name; empty: choose
  std::string interface;                             ///< FAB_IFACE: network interface or domain by name; empty: choose
  std::string tcp_congestion;                        ///< FAB_TCP_CONGESTION: auto, kernel or a name of the kernel's
  bool local = true;                                 ///< FAB_LOCAL: shared memory between the ranks of a node
  LocalLong local_long = LocalLong::automatic;       ///< FAB_LOCAL_LONG
  OneSidedMode one_sided = OneSidedMode::automatic;  ///< FAB_ONE_SIDED
  NeighborPaths neighbor_paths = NeighborPaths::automatic;    ///< FAB_ALGO_NEIGHBOR
  DiscoverAlgorithm discover = DiscoverAlgorithm::automatic;  ///< FAB_ALGO_DISCOVER
  ProgressMode progress = ProgressMode::automatic;            ///< FAB_PROGRESS
  Requests requests = Requests::automatic;                    ///< FAB_REQUESTS
  bool dropin_heap = false;       ///< FAB_DROPIN_HEAP: large blocks of the program lie in fab's memory, for fab_run
  std::string dropin;             ///< FAB_DROPIN: auto, all, off or functions of MPI's, for libfab_dropin to read
  bool stats = false;             ///< FAB_STATS: statistics are shown or written when fab closes
  std::string stats_file;         ///< FAB_STATS: a file for them; empty: a page on stderr
  std::string trace_file;         ///< FAB_TRACE: a file for each rank, whose number stands behind it; empty: none
  std::size_t trace_events = 0;   ///< FAB_TRACE_EVENTS: records that a rank keeps
  int engines = 1;                ///< FAB_ENGINES: of a context that does not say how many it opens
  int progress_cpu = -1;          ///< FAB_PROGRESS_CPU: processor for the progress thread; -1: not pinned
  int poll_us = 0;                ///< FAB_POLL_US: of a wait, before it sleeps, where each rank has a processor
  LogLevel log = LogLevel::warn;  ///< FAB_LOG
  double wait_timeout_s = 0;      ///< FAB_WAIT_TIMEOUT: seconds; 0: wait for ever
  double peer_timeout_s = 0;      ///< FAB_PEER_TIMEOUT: seconds; 0: never
  double exit_timeout_s = 1;      ///< FAB_EXIT_TIMEOUT: seconds
  std::size_t combine_bytes = 0;  ///< FAB_COMBINE_BYTES: blocks to one peer up to this total travel as one message
  std::size_t segment_bytes = 0;  ///< FAB_SEGMENT_BYTES: pipelines are cut into segments of so many bytes; 0: never
  std::array<std::string, kCollectives> algorithms;  ///< FAB_ALGO_*: names by Collective; empty: choose
  std::string rules;                                 ///< FAB_RULES: a file; empty: the built-in rules
  /// What that file holds, which the floor that chooses reads and understands; null: the built-in rules.
  std::shared_ptr<const collectives::Rules> file_rules;
  std::optional<LocalLengths> local_lengths;  ///< that file's, for the processors of this node
  std::size_t plan_cache = 0;                 ///< FAB_PLAN_CACHE: plans kept per communicator
  bool check = false;                         ///< FAB_CHECK: ranks compare their calls, and the sizes of each message
  std::uint64_t sequence_start = 0;           ///< FAB_SEQUENCE_START: first sequence number (a test knob)
};

/// One variable.
struct ConfigRow {
  const char* name;           ///< with the FAB_ prefix
  const char* default_value;  ///< as text, parsed like a user's value
  const char* help;           ///< one sentence, with the valid values
  /// Parses text into the struct; returns false when the text is not valid.
  bool (*parse)(std::string_view text, Config& config);
  /// The current value as text.
  std::string (*print)(const Config& config);
  bool same_everywhere = false;  ///< all ranks must have the same value; compared when they first meet
};

[[nodiscard]] std::span<const ConfigRow> config_rows();
constexpr int kMostEngines = 64;
/// "FAB_ALGO_BCAST"
[[nodiscard]] const char* algorithm_variable(Collective collective) noexcept;

/// Looks up a variable by name.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
/// The Environment of this process.
[[nodiscard]] std::optional<std::string> process_environment(const std::string& name);

/// Reads every row. Throws Error(configuration) naming variable, value and what is valid.
[[nodiscard]] Config read_config(const Environment& environment);
/// Reads every row from the process's environment; variables that start with FAB_ but are no row get one warning each,
/// with the nearest real name.
[[nodiscard]] Config read_config();
/// The row's name nearest to `name` by edit distance, or empty when nothing is near.
[[nodiscard]] std::string nearest_variable(std::string_view name);

}  // namespace fab
