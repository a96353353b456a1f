// fab_perf rate: messages per second. Each thread of a rank has a window of messages in flight to each of its
// neighbours, as many from each, and waits for all of them; fab's and MPI's in turns.
#include <fmt/core.h>

#include <memory>

#include "perf/command.h"
#include "perf/measurement.h"
#include "perf/messages.h"

namespace perf {
namespace {

using bench::Order;
using bench::Result;

struct RateOptions : MessageOptions {
  int window = 64;
};

class Rate final : public Measurement<RateOptions> {
 public:
  Rate(const RateOptions& options, const Job& job)
      : Measurement("rate", options, job), contest_(options), window_(static_cast<std::size_t>(options.window)) {}

 private:
  // Message `i` of a window on edge `block` has the number block * window + i; the receiver knows it by the sender's.
  std::vector<Result> time(std::size_t bytes) override {
    const std::size_t messages = window_ * edges();
    std::vector<MessageBuffers> buffers;
    for (int thread = 0; thread < options_.threads.count; ++thread)
      buffers.emplace_back(messages, messages, bytes, options_.memory);
    const auto act = [&](bench::Lane& lane, int thread) { exchange(lane, buffers[static_cast<std::size_t>(thread)]); };
    const auto prepare = [&] {
      for (int thread = 0; thread < options_.threads.count; ++thread)
        buffers[static_cast<std::size_t>(thread)].fill(job_.rank, thread);
    };
    const auto look = [&](int thread, const std::string& what) {
      for (std::size_t i = 0; i < messages; ++i) {
        const auto block = static_cast<int>(i / window_);
        const auto its = static_cast<std::size_t>(neighbors_.opposite(block)) * window_ + i % window_;
        buffers[static_cast<std::size_t>(thread)].check(i, neighbors_.source(block, Order::fab), thread, its, what);
      }
    };
    return contest_.run(bench::Form::nonblocking, act, prepare, look);
  }

  void exchange(bench::Lane& lane, MessageBuffers& buffers) const {
    for (std::size_t i = 0; i < window_ * edges(); ++i) {
      const auto block = static_cast<int>(i / window_);
      lane.start_receive(neighbors_.source(block, Order::fab), neighbors_.opposite(block), buffers.received(i));
    }
    for (std::size_t i = 0; i < window_ * edges(); ++i) {
      const auto block = static_cast<int>(i / window_);
      lane.start_send(neighbors_.destination(block, Order::fab), block, buffers.sent(i));
    }
    lane.complete();
  }

  [[nodiscard]] std::size_t edges() const { return static_cast<std::size_t>(neighbors_.count()); }
  /// That rank 0 sends, all its threads together.
  [[nodiscard]] double messages_per_us(const Result& result) const {
    return static_cast<double>(window_ * edges()) * options_.threads.count / median_us(result);
  }

  void show(std::size_t bytes, const std::vector<Result>& results) override {
    if (!table_) start_table(results);
    std::vector<std::string> cells = {std::to_string(bytes)};
    for (const Result& result : results) cells.push_back(bench::number(messages_per_us(result)));
    for (const Result& result : results)
      cells.push_back(bench::number(messages_per_us(result) * static_cast<double>(bytes)));
    if (results.size() > 1) cells.push_back(bench::ratio_text(bench::lead(results[0], results[1])));
    if (options_.explain) cells.push_back(contest_.way(bytes));
    table_->print(cells);
    for (const Result& result : results) rows_.add(row(bytes, result));
  }

  void start_table(const std::vector<Result>& results) {
    print_message_head(command_, options_, job_, contest_.path(),
                       fmt::format("{}: {} neighbour(s), {} messages in flight to each; M/s: millions of messages that "
                                   "rank 0 sends in a second, MB/s: their bytes",
                                   bench::name_of(options_.pattern.pattern), edges(), window_),
                       results);
    std::vector<std::string> titles = {"bytes"};
    for (const Result& result : results) titles.push_back(result.library + " M/s");
    for (const Result& result : results) titles.push_back(result.library + " MB/s");
    if (results.size() > 1) titles.emplace_back("             MPI/fab");
    if (options_.explain) titles.emplace_back("fab's way");
    table_.emplace(titles);
  }

  [[nodiscard]] bench::Row row(std::size_t bytes, const Result& result) const {
    bench::Row row = bench::common_fields(command_, options_, job_.ranks, contest_.path());
    row["pattern"] = bench::name_of(options_.pattern.pattern);
    row["neighbors"] = neighbors_.count();
    bench::add_threads(row, options_.threads);
    row["window"] = options_.window;
    row["bytes"] = bytes;
    row["messages_per_s"] = 1e6 * messages_per_us(result);
    if (options_.explain && result.library == "fab") contest_.add_way(row, bytes);
    bench::add_result(row, result);
    return row;
  }

  MessageContest contest_;
  std::size_t window_;
};

}  // namespace

Action add_rate(CLI::App& app) {
  using bench::Pattern;
  const auto options = std::make_shared<RateOptions>();
  options->pattern.pattern = Pattern::pair;
  options->sizes = "8:64k:4";
  bench::add_pattern_options(app, options->pattern, {Pattern::pair, Pattern::ring, Pattern::grid, Pattern::random});
  app.add_option("-w,--window", options->window, "Messages in flight to each neighbour")
      ->check(bench::in_range(1, 4096))
      ->capture_default_str();
  add_message_options(app, *options, "Bytes of a message: a range FIRST:LAST[:FACTOR] or a list");
  return {.run = [options](const Job& job) { Rate(*options, job).run(); },
          .has_threads = [options] { return options->threads.count > 1; }};
}

}  // namespace perf
