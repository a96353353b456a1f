// Makes traces by hand, for tests of what reads them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "bindings/tools/trace/timeline.h"
#include "bindings/tools/trace/trace_reader.h"

namespace fab::test {

/// The trace of one rank. Its operations are "ring" on the world, and "send" and "recv" from rank to rank.
class TraceBuilder {
 public:
  static constexpr Rank kRing = 0;
  static constexpr Rank kSend = 1;
  static constexpr Rank kRecv = 2;

  TraceBuilder(Rank rank, int ranks, std::string clock = "one") {
    trace_.file = "trace." + std::to_string(rank);
    trace_.head = {.rank = rank,
                   .ranks = ranks,
                   .transport = "test",
                   .begin = {1000, 5'000'000'001'000},
                   .end = {1'000'000, 5'000'001'000'000},
                   .operations = {{"world", ranks, "ring", ""}, {"all", 0, "send", ""}, {"all", 0, "recv", ""}}};
    trace_.host = "host of " + clock;
    trace_.clock = std::move(clock);
    trace_.ways = {"", "cell", "kernel"};
  }

  TraceBuilder& start(std::uint64_t time, std::uint32_t exchange, std::uint64_t step, Rank operation = kRing) {
    return add(time, operation == kRing ? step : 0, core::TraceRecord::pack(core::TraceEvent::start, step), exchange,
               operation);
  }
  TraceBuilder& round(std::uint64_t time, std::uint32_t exchange, std::uint32_t number) {
    return add(time, 0, core::TraceRecord::pack(core::TraceEvent::round, 0, number), exchange);
  }
  TraceBuilder& send(std::uint64_t time, std::uint32_t exchange, Rank to, std::uint64_t key, bool done = true) {
    const auto event = done ? core::TraceEvent::send_done : core::TraceEvent::send;
    return add(time, key, core::TraceRecord::pack(event, 8, 0, 1), exchange, to);
  }
  TraceBuilder& sent(std::uint64_t time, std::uint32_t exchange, Rank to, std::uint64_t key) {
    return add(time, key, core::TraceRecord::pack(core::TraceEvent::sent, 8), exchange, to);
  }
  TraceBuilder& received(std::uint64_t time, std::uint32_t exchange, Rank from, std::uint64_t key) {
    return add(time, key, core::TraceRecord::pack(core::TraceEvent::received, 8), exchange, from);
  }
  TraceBuilder& end(std::uint64_t time, std::uint32_t exchange, bool failed = false) {
    return add(time, 0, core::TraceRecord::pack(core::TraceEvent::end, failed ? 1 : 0), exchange);
  }
  TraceBuilder& wait(std::uint64_t begin, std::uint64_t end, std::uint32_t exchange) {
    return add(end, begin, core::TraceRecord::pack(core::TraceEvent::wait), exchange);
  }
  TraceBuilder& sleep(std::uint64_t begin, std::uint64_t end) {
    return add(end, begin, core::TraceRecord::pack(core::TraceEvent::sleep), 0);
  }
  [[nodiscard]] tools::RankTrace& trace() noexcept { return trace_; }

 private:
  TraceBuilder& add(std::uint64_t time, std::uint64_t word, std::uint64_t details, std::uint32_t exchange,
                    Rank peer = kNoRank) {
    trace_.records.push_back({time, word, details, exchange, peer});
    std::ranges::stable_sort(trace_.records, {}, &core::TraceRecord::time_ns);
    return *this;
  }

  tools::RankTrace trace_;
};

template <class... Builders>
std::vector<tools::RankTrace> traces_of(Builders&... builders) {
  return {builders.trace()...};
}

}  // namespace fab::test
