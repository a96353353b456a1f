#include "bindings/tools/trace/trace_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/base/quoted.h"
#include "fab/error.h"

namespace fab::tools {

namespace {

using nlohmann::json;

/// The numbers ahead of the head.
struct Sizes {
  std::uint32_t version = 0;
  std::uint32_t record_bytes = 0;
  std::uint64_t head_bytes = 0;
  std::uint64_t records = 0;
};
static_assert(sizeof(Sizes) == 24);

/// More is no trace: FAB_TRACE_EVENTS ends below.
constexpr std::uint64_t kMostRecords = std::uint64_t{1} << 40;

[[noreturn]] void refuse(const std::string& file, const std::string& fault) {
  throw Error(Errc::mismatch, fmt::format("{}: {}", in_quotes(file), fault));
}

template <class Value>
Value take(std::string_view& bytes) {
  Value value;
  std::memcpy(&value, bytes.data(), sizeof(value));
  bytes.remove_prefix(sizeof(value));
  return value;
}

Sizes take_sizes(const std::string& file, std::string_view& bytes) {
  if (!bytes.starts_with(core::kTraceMagic)) refuse(file, "it is no trace of fab's: its first bytes are not FABTRACE");
  bytes.remove_prefix(core::kTraceMagic.size());
  if (bytes.size() < sizeof(Sizes)) refuse(file, "it ends within its first 32 bytes");
  const auto sizes = take<Sizes>(bytes);
  if (sizes.version == __builtin_bswap32(core::kTraceVersion))
    refuse(file, "it comes from a machine of the other byte order");
  if (sizes.version != core::kTraceVersion)
    refuse(file, fmt::format("it has version {} of the format; this program reads version {}", sizes.version,
                             core::kTraceVersion));
  if (sizes.record_bytes != sizeof(core::TraceRecord))
    refuse(file, fmt::format("its records have {} bytes; {} are valid", sizes.record_bytes, sizeof(core::TraceRecord)));
  const bool sane = sizes.head_bytes < kMostRecords && sizes.records < kMostRecords;
  const std::uint64_t wanted = sane ? sizes.head_bytes + sizes.records * sizeof(core::TraceRecord) : ~std::uint64_t{0};
  if (wanted != bytes.size())
    refuse(file, fmt::format("it has {} bytes behind its sizes, which promise {}: it is cut, or not whole",
                             bytes.size(), sane ? fmt::to_string(wanted) : "far more"));
  return sizes;
}

core::ClockPair read_clocks(const json& from) {
  return {.monotonic_ns = from.at("monotonic_ns").get<std::uint64_t>(),
          .realtime_ns = from.at("realtime_ns").get<std::uint64_t>()};
}

void read_head(const json& from, RankTrace& trace) {
  from.at("rank").get_to(trace.head.rank);
  from.at("ranks").get_to(trace.head.ranks);
  from.at("transport").get_to(trace.head.transport);
  from.at("host").get_to(trace.host);
  from.at("clock").get_to(trace.clock);
  from.at("lost").get_to(trace.lost);
  from.at("ways").get_to(trace.ways);
  trace.head.begin = read_clocks(from.at("begin"));
  trace.head.end = read_clocks(from.at("end"));
  for (const json& operation : from.at("operations"))
    trace.head.operations.push_back({.communicator = operation.at("communicator").get<std::string>(),
                                     .ranks = operation.at("ranks").get<int>(),
                                     .operation = operation.at("operation").get<std::string>(),
                                     .algorithm = operation.at("algorithm").get<std::string>()});
}

/// What records point at must be there.
void check(const RankTrace& trace) {
  using core::TraceEvent;
  if (trace.head.ranks < 1 || trace.head.rank < 0 || trace.head.rank >= trace.head.ranks)
    refuse(trace.file, fmt::format("it is of rank {} of {}", trace.head.rank, trace.head.ranks));
  std::size_t place = 0;
  for (const core::TraceRecord& record : trace.records) {
    const TraceEvent event = record.event();
    const auto limit =
        event == TraceEvent::start ? trace.head.operations.size() : static_cast<std::size_t>(trace.head.ranks);
    const bool has_peer = event == TraceEvent::start || event == TraceEvent::send || event == TraceEvent::send_done ||
                          event == TraceEvent::sent || event == TraceEvent::received;
    const bool spans = event == TraceEvent::wait || event == TraceEvent::sleep;
    if (event < TraceEvent::start || event > core::kLastTraceEvent)
      refuse(trace.file, fmt::format("its record {} is of the unknown kind {}", place, static_cast<int>(event)));
    if (has_peer && (record.peer < 0 || static_cast<std::size_t>(record.peer) >= limit))
      refuse(trace.file, fmt::format("its record {} names {} {} of {}", place,
                                     event == TraceEvent::start ? "operation" : "rank", record.peer, limit));
    if (record.way() != 0 && record.way() >= trace.ways.size())
      refuse(trace.file, fmt::format("its record {} names way {} of {}", place, record.way(), trace.ways.size()));
    if (spans && record.word > record.time_ns)
      refuse(trace.file, fmt::format("its record {} ends before it begins", place));
    ++place;
  }
}

std::string read_file(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file || file.bad())
    throw Error(Errc::invalid_argument, fmt::format("{} cannot be read: {}", in_quotes(name), std::strerror(errno)));
  return std::move(text).str();
}

/// NAME.0, NAME.1...
std::vector<std::string> files_of_ranks(const std::string& name) {
  std::vector<std::string> files;
  for (Rank rank = 0;; ++rank) {
    std::string file = core::trace_file_of(name, rank);
    if (!std::filesystem::is_regular_file(file)) return files;
    files.push_back(std::move(file));
  }
}

}  // namespace

RankTrace parse_trace(const std::string& file, std::string_view bytes) {
  RankTrace trace{.file = file};
  const Sizes sizes = take_sizes(file, bytes);
  try {
    read_head(json::parse(bytes.substr(0, sizes.head_bytes)), trace);
  } catch (const json::exception& error) {
    refuse(file, fmt::format("its head is damaged: {}", escaped(error.what())));
  }
  bytes.remove_prefix(sizes.head_bytes);
  trace.records.resize(sizes.records);
  if (!bytes.empty()) std::memcpy(trace.records.data(), bytes.data(), bytes.size());
  check(trace);
  std::ranges::stable_sort(trace.records, {}, &core::TraceRecord::time_ns);
  return trace;
}

std::vector<RankTrace> read_traces(const std::vector<std::string>& names) {
  std::vector<RankTrace> traces;
  for (const std::string& name : names) {
    std::vector<std::string> files{name};
    if (!std::filesystem::exists(name))
      if (std::vector<std::string> of_ranks = files_of_ranks(name); !of_ranks.empty()) files = std::move(of_ranks);
    for (const std::string& file : files) traces.push_back(parse_trace(file, read_file(file)));
  }
  std::ranges::stable_sort(traces, {}, [](const RankTrace& trace) { return trace.head.rank; });
  for (std::size_t i = 1; i < traces.size(); ++i) {
    const RankTrace& one = traces[i - 1];
    const RankTrace& other = traces[i];
    if (one.head.ranks != other.head.ranks)
      refuse(other.file, fmt::format("it is of a job of {} ranks, and {} of one of {}", other.head.ranks,
                                     in_quotes(one.file), one.head.ranks));
    if (one.head.rank == other.head.rank)
      refuse(other.file, fmt::format("it is of rank {}, and so is {}", one.head.rank, in_quotes(one.file)));
  }
  return traces;
}

}  // namespace fab::tools
