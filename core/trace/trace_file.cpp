// Writes the head of a trace file, as JSON, and the records behind it.
//
// The head's members: rank, ranks, host (its name), process; clock: a word that ranks have in common whose clocks are
// the same one; ticks_per_second of record times; begin and end: the clocks when the context was opened, and when the
// file was written; lost: records that newer ones have replaced; ways; operations.
#include "core/trace/trace_file.h"

#include <fmt/core.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>

#include "fab/error.h"

namespace fab::core {

namespace {

using nlohmann::ordered_json;

std::uint64_t read_clock(clockid_t clock) noexcept {
  timespec time{};
  ::clock_gettime(clock, &time);  // fails for clocks that the system lacks, and it has these
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

/// Each start of a kernel has an id, and each of its namespaces of time another clock.
std::string clock_name() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  std::array<char, 64> name{};
  const ssize_t length = ::readlink("/proc/self/ns/time", name.data(), name.size());
  return boot + "/" + std::string(name.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
}

ordered_json to_json(const ClockPair& clocks) {
  return {{"monotonic_ns", clocks.monotonic_ns}, {"realtime_ns", clocks.realtime_ns}};
}

ordered_json to_json(const TracedOperation& operation) {
  return {{"operation", operation.operation},
          {"algorithm", operation.algorithm},
          {"communicator", operation.communicator},
          {"ranks", operation.ranks}};
}

std::string head_text(const TraceHead& head, const Recorder& recorder, std::uint64_t lost) {
  ordered_json operations = ordered_json::array();
  for (const TracedOperation& operation : head.operations) operations.push_back(to_json(operation));
  return ordered_json{{"rank", head.rank},
                      {"ranks", head.ranks},
                      {"host", host_name()},
                      {"process", ::getpid()},
                      {"transport", head.transport},
                      {"clock", clock_name()},
                      {"ticks_per_second", 1'000'000'000},
                      {"begin", to_json(head.begin)},
                      {"end", to_json(head.end)},
                      {"lost", lost},
                      {"ways", recorder.ways()},
                      {"operations", operations}}
      .dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

template <class Value>
void put(std::ofstream& file, const Value& value) {
  file.write(reinterpret_cast<const char*>(&value), sizeof(value));
}

}  // namespace

ClockPair read_clocks() noexcept { return {read_clock(CLOCK_MONOTONIC), read_clock(CLOCK_REALTIME)}; }

std::string trace_file_of(const std::string& name, Rank rank) { return fmt::format("{}.{}", name, rank); }

void write_trace(const std::string& file, const TraceHead& head, const Recorder& recorder) {
  const Recorder::Kept kept = recorder.read();
  const std::string text = head_text(head, recorder, kept.lost);
  std::ofstream out(file, std::ios::binary);
  out << kTraceMagic;
  put(out, kTraceVersion);
  put(out, static_cast<std::uint32_t>(sizeof(TraceRecord)));
  put(out, std::uint64_t{text.size()});
  put(out, std::uint64_t{kept.records.size()});
  out << text;
  out.write(reinterpret_cast<const char*>(kept.records.data()),
            static_cast<std::streamsize>(kept.records.size() * sizeof(TraceRecord)));
  out.close();
  if (!out) throw Error(Errc::no_resources, fmt::format("the file {} cannot be written", file));
}

}  // namespace fab::core
