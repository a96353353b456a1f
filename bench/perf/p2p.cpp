// fab_perf p2p: latency and bandwidth of messages that go to and fro between the ranks 2k and 2k + 1, fab's and MPI's
// in turns. Each thread has a message of its own on its way.
#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "perf/command.h"
#include "perf/measurement.h"
#include "perf/messages.h"

namespace perf {
namespace {

using bench::Result;

constexpr int kTag = 0;

class PingPong final : public Measurement<MessageOptions> {
 public:
  PingPong(const MessageOptions& options, const Job& job) : Measurement("p2p", options, job), contest_(options) {}

 private:
  // One way is half of there and back.
  std::vector<Result> time(std::size_t bytes) override {
    const int peer = neighbors_.destination(0, bench::Order::fab);
    std::vector<MessageBuffers> buffers;
    for (int thread = 0; thread < options_.threads.count; ++thread) buffers.emplace_back(1, 1, bytes, options_.memory);
    const auto act = [&](bench::Lane& lane, int thread) {
      MessageBuffers& mine = buffers[static_cast<std::size_t>(thread)];
      if (job_.rank % 2 == 0) lane.send(peer, kTag, mine.sent(0));
      lane.receive(peer, kTag, mine.received(0));
      if (job_.rank % 2 != 0) lane.send(peer, kTag, mine.sent(0));
    };
    const auto prepare = [&] {
      for (int thread = 0; thread < options_.threads.count; ++thread)
        buffers[static_cast<std::size_t>(thread)].fill(job_.rank, thread);
    };
    const auto look = [&](int thread, const std::string& what) {
      buffers[static_cast<std::size_t>(thread)].check(0, peer, thread, 0, what);
    };
    std::vector<Result> results = contest_.run(bench::Form::blocking, act, prepare, look);
    for (Result& result : results) halve(result.times);
    return results;
  }

  static void halve(bench::Times& times) {
    for (double& us : times.us) us /= 2;
    if (times.single_us)
      times.single_us = {times.single_us->p50 / 2, times.single_us->p90 / 2, times.single_us->p99 / 2};
  }

  /// Of a pair, one way at a time.
  [[nodiscard]] double megabytes_per_s(std::size_t bytes, const Result& result) const {
    return static_cast<double>(bytes) * options_.threads.count / median_us(result);
  }

  void show(std::size_t bytes, const std::vector<Result>& results) override {
    if (!table_) start_table(results);
    std::vector<std::string> cells = {std::to_string(bytes)};
    for (const Result& result : results) {
      cells.push_back(bench::number(median_us(result)));
      for (const std::string& cell : bench::percentile_cells(options_.plan, &result)) cells.push_back(cell);
    }
    for (const Result& result : results) cells.push_back(bench::number(megabytes_per_s(bytes, result)));
    if (results.size() > 1) cells.push_back(bench::ratio_text(bench::lead(results[0], results[1])));
    if (options_.explain) cells.push_back(contest_.way(bytes));
    table_->print(cells);
    for (const Result& result : results) rows_.add(row(bytes, result));
  }

  void start_table(const std::vector<Result>& results) {
    print_message_head(command_, options_, job_, contest_.path(),
                       "us one way, half of there and back; MB/s (millions of bytes) of a pair", results);
    std::vector<std::string> titles = {"bytes"};
    for (const Result& result : results) {
      titles.push_back(result.library + " us");
      for (const std::string& title : bench::percentile_titles(options_.plan, result.library)) titles.push_back(title);
    }
    for (const Result& result : results) titles.push_back(result.library + " MB/s");
    if (results.size() > 1) titles.emplace_back("             MPI/fab");
    if (options_.explain) titles.emplace_back("fab's way");
    table_.emplace(titles);
  }

  [[nodiscard]] bench::Row row(std::size_t bytes, const Result& result) const {
    bench::Row row = bench::common_fields(command_, options_, job_.ranks, contest_.path());
    bench::add_threads(row, options_.threads);
    row["bytes"] = bytes;
    row["megabytes_per_s"] = megabytes_per_s(bytes, result);
    if (options_.explain && result.library == "fab") contest_.add_way(row, bytes);
    bench::add_result(row, result);
    return row;
  }

  MessageContest contest_;
};

}  // namespace

Action add_p2p(CLI::App& app) {
  const auto options = std::make_shared<MessageOptions>();
  options->pattern.pattern = bench::Pattern::pair;
  add_message_options(app, *options, "Bytes of a message: a range FIRST:LAST[:FACTOR] or a list");
  return {.run = [options](const Job& job) { PingPong(*options, job).run(); },
          .has_threads = [options] { return options->threads.count > 1; }};
}

}  // namespace perf
