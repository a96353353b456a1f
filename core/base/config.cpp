#include "core/base/config.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "core/base/quoted.h"
#include "fab/error.h"

namespace fab {
namespace {

constexpr std::string_view kPrefix = "FAB_";
constexpr std::size_t kLongestName = 80;  ///< that a message quotes

/// Clocks count nanoseconds in 64 bits, which hold nine times as much.
constexpr double kLongestTimeoutS = 1e9;
/// What else is counted leaves room for sums.
constexpr std::size_t kMostBytes = std::size_t{1} << 62;
constexpr std::size_t kMostPlans = 1'000'000'000;
constexpr int kMostProcessors = 1 << 20;
constexpr int kLongestPollUs = 1'000'000;
constexpr std::size_t kLeastTraceEvents = 16;
constexpr std::size_t kMostTraceEvents = std::size_t{1} << 28;

template <class Value>
using Names = std::span<const std::pair<std::string_view, Value>>;

constexpr std::array<std::pair<std::string_view, ProgressMode>, 3> kProgressModes = {
    {{"auto", ProgressMode::automatic}, {"thread", ProgressMode::thread}, {"caller", ProgressMode::caller}}};

constexpr std::array<std::pair<std::string_view, LocalLong>, 4> kLocalLong = {
    {{"auto", LocalLong::automatic}, {"map", LocalLong::map}, {"read", LocalLong::read}, {"ring", LocalLong::ring}}};

constexpr std::array<std::pair<std::string_view, OneSidedMode>, 3> kOneSidedModes = {
    {{"auto", OneSidedMode::automatic}, {"on", OneSidedMode::on}, {"off", OneSidedMode::off}}};

constexpr std::array<std::pair<std::string_view, NeighborPaths>, 3> kNeighborPaths = {
    {{"auto", NeighborPaths::automatic}, {"direct", NeighborPaths::direct}, {"by_node", NeighborPaths::by_node}}};

constexpr std::array<std::pair<std::string_view, DiscoverAlgorithm>, 4> kDiscoverAlgorithms = {
    {{"auto", DiscoverAlgorithm::automatic},
     {"nbx", DiscoverAlgorithm::nbx},
     {"census", DiscoverAlgorithm::census},
     {"exchange", DiscoverAlgorithm::exchange}}};

constexpr std::array<std::pair<std::string_view, Requests>, 3> kRequests = {
    {{"auto", Requests::automatic}, {"fab", Requests::fab}, {"mpi", Requests::mpi}}};

constexpr std::array<std::pair<std::string_view, bool>, 4> kSwitches = {
    {{"0", false}, {"1", true}, {"off", false}, {"on", true}}};

template <class Value>
bool parse_name(std::string_view text, Names<Value> names, Value& value) {
  const auto found = std::ranges::find(names, text, &std::pair<std::string_view, Value>::first);
  if (found == names.end()) return false;
  value = found->second;
  return true;
}

template <class Value>
std::string_view find_name(Names<Value> names, Value value) noexcept {
  const auto found = std::ranges::find(names, value, &std::pair<std::string_view, Value>::second);
  return found == names.end() ? "?" : found->first;
}

/// The whole text must be one number within [least, most]; no blanks, no '+'.
template <class Number>
bool parse_number(std::string_view text, Number least, Number most, Number& value) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return false;
  if (!(number >= least && number <= most)) return false;
  value = number;
  return true;
}

/// Bytes, with an optional suffix k (2^10) or m (2^20).
bool parse_bytes(std::string_view text, std::size_t& value) {
  std::size_t unit = 1;
  if (text.ends_with('k')) unit = std::size_t{1} << 10;
  if (text.ends_with('m')) unit = std::size_t{1} << 20;
  if (unit > 1) text.remove_suffix(1);
  std::size_t number = 0;
  if (!parse_number<std::size_t>(text, 0, kMostBytes / unit, number)) return false;
  value = number * unit;
  return true;
}

bool parse_text(std::string_view text, std::string& value) {
  value = text;
  return true;
}

/// A file's name travels with the settings that ranks compare.
bool parse_stats(std::string_view text, Config& config) {
  config.stats_file.clear();
  if (parse_name<bool>(text, kSwitches, config.stats)) return true;
  if (!text.ends_with(".json") || text.find_first_of("|\n") != std::string_view::npos) return false;
  config.stats = true;
  return parse_text(text, config.stats_file);
}

template <Collective kCollective>
struct AlgorithmVariable {
  static constexpr std::string_view kStart = "FAB_ALGO_";
  static constexpr auto kName = [] {
    std::array<char, kStart.size() + to_string(kCollective).size() + 1> name{};
    std::copy(kStart.begin(), kStart.end(), name.begin());
    std::transform(to_string(kCollective).begin(), to_string(kCollective).end(), name.begin() + kStart.size(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    return name;
  }();
  static std::string& value(Config& config) { return config.algorithms[static_cast<std::size_t>(kCollective)]; }
  static constexpr ConfigRow kRow{
      kName.data(),
      "auto",
      "Algorithm of this collective, used for the calls that it supports: a name that fab_info --algorithms lists; "
      "auto: chosen by rules (FAB_RULES); the same on all ranks.",
      [](std::string_view text, Config& config) {
        value(config) = text == "auto" ? "" : text;
        return !text.empty();
      },
      [](const Config& config) {
        const std::string& name = config.algorithms[static_cast<std::size_t>(kCollective)];
        return name.empty() ? "auto" : name;
      },
      true};
};

template <std::size_t kRows, std::size_t... kIndex>
constexpr auto with_algorithms(const std::array<ConfigRow, kRows>& rows, std::index_sequence<kIndex...>) {
  std::array<ConfigRow, kRows + sizeof...(kIndex)> all{};
  std::copy(rows.begin(), rows.end(), all.begin());
  ((all[kRows + kIndex] = AlgorithmVariable<static_cast<Collective>(kIndex)>::kRow), ...);
  return all;
}

constexpr std::array<ConfigRow, 28> kOtherRows = {{
    {"FAB_PROVIDER", "",
     "Provider that carries messages between nodes: verbs, psm2, opx, cxi, efa, tcp, sockets, shm or another name of "
     "libfabric's, as fab_info lists them; empty or auto: fab chooses the best one.",
     [](std::string_view text, Config& config) { return parse_text(text, config.provider); },
     [](const Config& config) { return config.provider; }},
    {"FAB_IFACE", "",
     "Network interface or libfabric domain, by name; empty: fab chooses one that reaches the other nodes.",
     [](std::string_view text, Config& config) { return parse_text(text, config.interface); },
     [](const Config& config) { return config.interface; }},
    {"FAB_TCP_CONGESTION", "auto",
     "Congestion control of fab's TCP connections: auto (the kernel's default unless that is bbr, which paces; then "
     "cubic "
     "or reno), kernel (its default) or a name that net.ipv4.tcp_available_congestion_control lists.",
     [](std::string_view text, Config& config) { return parse_text(text, config.tcp_congestion) && !text.empty(); },
     [](const Config& config) { return config.tcp_congestion; }},
    {"FAB_LOCAL", "on",
     "Shared memory between ranks of one node: on or 1: they use it; off or 0: they use the network; the same on all "
     "ranks.",
     [](std::string_view text, Config& config) { return parse_name<bool>(text, kSwitches, config.local); },
     [](const Config& config) { return std::string(config.local ? "on" : "off"); }, true},
    {"FAB_LOCAL_LONG", "auto",
     "Path of long messages within a node: auto (from 16 KiB on, the receiver copies from the sender's memory if it "
     "can; from 256 KiB on where the program changes what it sends again and again, from 7 KiB on where it never "
     "does), map (as auto for memory of fab's, from 512 bytes on), read (from any memory, by the kernel, above 104 "
     "bytes) or ring (sender and receiver both copy).",
     [](std::string_view text, Config& config) { return parse_name<LocalLong>(text, kLocalLong, config.local_long); },
     [](const Config& config) { return std::string(find_name<LocalLong>(kLocalLong, config.local_long)); }},
    {"FAB_ONE_SIDED", "auto",
     "Persistent exchanges between nodes write into the peer's memory: auto (if a network card does it), on (if the "
     "provider can) or off (they send messages); the same on all ranks.",
     [](std::string_view text, Config& config) {
       return parse_name<OneSidedMode>(text, kOneSidedModes, config.one_sided);
     },
     [](const Config& config) { return std::string(find_name<OneSidedMode>(kOneSidedModes, config.one_sided)); }},
    {"FAB_REQUESTS", "auto",
     "Library that completes requests of the MPI binding: auto (fab, if all completion calls of the process reach "
     "it), fab (fab, without that check) or mpi (MPI, which is slower; persistent exchanges are refused).",
     [](std::string_view text, Config& config) { return parse_name<Requests>(text, kRequests, config.requests); },
     [](const Config& config) { return std::string(find_name<Requests>(kRequests, config.requests)); }},
    {"FAB_DROPIN", "auto",
     "Calls of MPI's own collectives that fab carries out for programs under libfab_dropin: auto (those along a "
     "topology, and on up to 8 ranks the others but for those at which MPI was measured to be faster), all (all that "
     "it can), off, or a list of functions without MPI_, such as allreduce,neighbor_alltoallv; the same on all ranks.",
     [](std::string_view text, Config& config) { return parse_text(text, config.dropin) && !text.empty(); },
     [](const Config& config) { return config.dropin; }, true},
    {"FAB_DROPIN_HEAP", "off",
     "Memory of a program under fab_run: on or 1: blocks of 64 KiB and more from malloc, new and ALLOCATE lie in fab's "
     "memory, so that ranks of a node copy them once, and fork() copies them; off or 0: they do not.",
     [](std::string_view text, Config& config) { return parse_name<bool>(text, kSwitches, config.dropin_heap); },
     [](const Config& config) { return std::string(config.dropin_heap ? "on" : "off"); }},
    {"FAB_STATS", "0",
     "Statistics of all ranks at the end of the job: 0 or off; 1 or on: a page on stderr; a file whose name ends with "
     ".json: all of them in that file. Under libfab_dropin a table of the calls that fab carried out comes to stderr, "
     "and into the file; the same on all ranks.",
     parse_stats,
     [](const Config& config) {
       return config.stats_file.empty() ? std::string(find_name<bool>(kSwitches, config.stats)) : config.stats_file;
     },
     true},
    {"FAB_TRACE", "",
     "A file for what each rank does and when, for fab_trace: each rank writes its own one at its end, with its number "
     "behind the name (FILE.3); empty: none.",
     [](std::string_view text, Config& config) { return parse_text(text, config.trace_file); },
     [](const Config& config) { return config.trace_file; }},
    {"FAB_TRACE_EVENTS", "262144",
     "Records of 32 bytes that FAB_TRACE keeps on each rank, the newest ones: 16 to 268435456, rounded up to a power "
     "of two.",
     [](std::string_view text, Config& config) {
       return parse_number(text, kLeastTraceEvents, kMostTraceEvents, config.trace_events);
     },
     [](const Config& config) { return std::to_string(config.trace_events); }},
    {"FAB_PROGRESS", "auto",
     "Progress of transfers that no caller waits for: auto (a progress thread that sleeps between events), thread (one "
     "that polls if the provider has no descriptor to sleep on) or caller (only calls into fab).",
     [](std::string_view text, Config& config) {
       return parse_name<ProgressMode>(text, kProgressModes, config.progress);
     },
     [](const Config& config) { return std::string(name_of(config.progress)); }},
    {"FAB_ENGINES", "1",
     "Engines of a rank, 1 to 64. Each carries communicators of its own, with its own lock, progress thread and "
     "connections, so that threads need not wait for each other; the same on all ranks.",
     [](std::string_view text, Config& config) { return parse_number(text, 1, kMostEngines, config.engines); },
     [](const Config& config) { return std::to_string(config.engines); }, true},
    {"FAB_PROGRESS_CPU", "-1", "Processor to which the progress thread is pinned: 0 or more; -1: not pinned.",
     [](std::string_view text, Config& config) { return parse_number(text, -1, kMostProcessors, config.progress_cpu); },
     [](const Config& config) { return std::to_string(config.progress_cpu); }},
    {"FAB_POLL_US", "10000",
     "Microseconds for which a wait polls before it sleeps: a whole number from 0 to 1000000. Where ranks share "
     "processors, 500 at least, and 500 if another rank computes there.",
     [](std::string_view text, Config& config) { return parse_number(text, 0, kLongestPollUs, config.poll_us); },
     [](const Config& config) { return std::to_string(config.poll_us); }},
    {"FAB_LOG", "warn",
     "Level of the log on stderr: off, error, warn, info or debug; each level includes those before it.",
     [](std::string_view text, Config& config) { return parse_name<LogLevel>(text, kLogLevels, config.log); },
     [](const Config& config) { return std::string(name_of(config.log)); }},
    {"FAB_WAIT_TIMEOUT", "0",
     "Seconds without progress after which a wait fails: a number from 0 to 1000000000; 0: never.",
     [](std::string_view text, Config& config) {
       return parse_number(text, 0.0, kLongestTimeoutS, config.wait_timeout_s);
     },
     [](const Config& config) { return fmt::format("{}", config.wait_timeout_s); }},
    {"FAB_PEER_TIMEOUT", "30",
     "Seconds without an answer after which a machine counts as failed, while operations with it are pending: a whole "
     "number, 2 to 30000; 0: never.",
     [](std::string_view text, Config& config) {
       int seconds = 0;
       if (!parse_number(text, 0, 30'000, seconds) || seconds == 1) return false;
       config.peer_timeout_s = seconds;
       return true;
     },
     [](const Config& config) { return fmt::format("{}", config.peer_timeout_s); }},
    {"FAB_EXIT_TIMEOUT", "1",
     "Seconds within which ranks that wait for a process learn that it has ended: 0.5 to 1000; messages that it sent "
     "before may be late by a third of that.",
     [](std::string_view text, Config& config) {
       double seconds = 0;
       if (!parse_number(text, 0.5, 1000.0, seconds)) return false;
       config.exit_timeout_s = seconds;
       return true;
     },
     [](const Config& config) { return fmt::format("{}", config.exit_timeout_s); }},
    {"FAB_COMBINE_BYTES", "32768",
     "Total bytes up to which blocks to one rank of another node are combined into one message: 0 or more, suffixes k "
     "and m; 0: never; the same on all ranks.",
     [](std::string_view text, Config& config) { return parse_bytes(text, config.combine_bytes); },
     [](const Config& config) { return std::to_string(config.combine_bytes); }, true},
    {"FAB_SEGMENT_BYTES", "65536",
     "Bytes of the segments into which pipelined collectives cut their vectors, within a node at most 16k: 0 or more, "
     "suffixes k and m; 0: never; the same on all ranks.",
     [](std::string_view text, Config& config) { return parse_bytes(text, config.segment_bytes); },
     [](const Config& config) { return std::to_string(config.segment_bytes); }, true},
    {"FAB_RULES", "",
     "File of rules that choose the algorithms of collectives, and of lengths from which on messages within a node "
     "take another way, read when a context is opened: a path without | and ends of lines; empty: the built-in ones; "
     "the same on all ranks.",
     [](std::string_view text, Config& config) {
       return text.find_first_of("|\n") == std::string_view::npos && parse_text(text, config.rules);
     },
     [](const Config& config) { return config.rules; }, true},
    {"FAB_ALGO_NEIGHBOR", "auto",
     "How the blocks of persistent neighbour exchanges go between nodes that hold several ranks: auto: by nodes where "
     "that costs less; direct: each between its two ranks; by_node: gathered in the node, sent once, spread in the "
     "other one; the same on all ranks.",
     [](std::string_view text, Config& config) {
       return parse_name<NeighborPaths>(text, kNeighborPaths, config.neighbor_paths);
     },
     [](const Config& config) { return std::string(find_name<NeighborPaths>(kNeighborPaths, config.neighbor_paths)); },
     true},
    {"FAB_ALGO_DISCOVER", "auto",
     "How ranks find out who will send to them: auto: by the number of ranks and the bytes; nbx: synchronous messages, "
     "then a non-blocking barrier; census: a sum tells each rank how many messages to expect; exchange: an alltoall; "
     "the same on all ranks.",
     [](std::string_view text, Config& config) {
       return parse_name<DiscoverAlgorithm>(text, kDiscoverAlgorithms, config.discover);
     },
     [](const Config& config) {
       return std::string(find_name<DiscoverAlgorithm>(kDiscoverAlgorithms, config.discover));
     },
     true},
    {"FAB_PLAN_CACHE", "64", "Plans that each communicator keeps for calls of the same shape: 0 to 1000000000.",
     [](std::string_view text, Config& config) {
       return parse_number<std::size_t>(text, 0, kMostPlans, config.plan_cache);
     },
     [](const Config& config) { return std::to_string(config.plan_cache); }},
    {"FAB_CHECK", "0",
     "Ranks compare their calls before they carry them out, and report differences: 0 or off, 1 or on; the same on "
     "all ranks.",
     [](std::string_view text, Config& config) { return parse_name<bool>(text, kSwitches, config.check); },
     [](const Config& config) { return std::string(find_name<bool>(kSwitches, config.check)); }, true},
    {"FAB_SEQUENCE_START", "0", "First sequence number of every communicator, for tests of its overflow: 0 or more.",
     [](std::string_view text, Config& config) {
       return parse_number<std::uint64_t>(text, 0, std::numeric_limits<std::uint64_t>::max(), config.sequence_start);
     },
     [](const Config& config) { return std::to_string(config.sequence_start); }},
}};

constexpr auto kRows = with_algorithms(kOtherRows, std::make_index_sequence<kCollectives>());

/// Insertions, deletions, substitutions and swaps of neighbours that turn one text into the other (Levenshtein's
/// distance with transpositions).
std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::vector<std::size_t>> edits(from.size() + 1, std::vector<std::size_t>(to.size() + 1));
  for (std::size_t i = 0; i <= from.size(); ++i) edits[i][0] = i;
  std::iota(edits[0].begin(), edits[0].end(), std::size_t{0});
  for (std::size_t i = 1; i <= from.size(); ++i) {
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t substituted = edits[i - 1][j - 1] + (from[i - 1] == to[j - 1] ? 0 : 1);
      edits[i][j] = std::min({substituted, edits[i - 1][j] + 1, edits[i][j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped) edits[i][j] = std::min(edits[i][j], edits[i - 2][j - 2] + 1);
    }
  }
  return edits[from.size()][to.size()];
}

void warn_of_unknown_variable(const Log& log, std::string_view name) {
  name = name.substr(0, kLongestName);
  const std::string nearest = nearest_variable(name);
  const std::string hint = nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest);
  log.write(LogLevel::warn, "environment variable {} is not one of fab's{}", name, hint);
}

}  // namespace

std::string_view name_of(ProgressMode mode) noexcept { return find_name<ProgressMode>(kProgressModes, mode); }

std::span<const ConfigRow> config_rows() { return kRows; }

const char* algorithm_variable(Collective collective) noexcept {
  return kRows[kOtherRows.size() + static_cast<std::size_t>(collective)].name;
}

Config read_config(const Environment& environment) {
  Config config;
  for (const ConfigRow& row : kRows) {
    const std::string text = environment(row.name).value_or(row.default_value);
    if (!row.parse(text, config)) {
      throw Error(Errc::configuration,
                  fmt::format("{}: the value {} is not valid. {}", row.name, in_quotes(text), row.help));
    }
  }
  return config;
}

std::optional<std::string> process_environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

Config read_config() {
  Config config = read_config(process_environment);
  const Log log(config.log, -1);
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    if (!name.starts_with(kPrefix)) continue;
    if (std::ranges::find(kRows, name, &ConfigRow::name) == kRows.end()) warn_of_unknown_variable(log, name);
  }
  return config;
}

std::string nearest_variable(std::string_view name) {
  std::string_view nearest;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const ConfigRow& row : kRows) {
    const std::string_view candidate = row.name;
    const std::size_t distance = edit_distance(name, candidate);
    // Near: less than half of what follows the prefix would have to change.
    const std::size_t near = (std::max(name.size(), candidate.size()) - kPrefix.size()) / 2;
    if (distance > near || distance >= least) continue;
    least = distance;
    nearest = candidate;
  }
  return std::string(nearest);
}

}  // namespace fab
