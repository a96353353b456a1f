// fab_perf start: what fab itself takes for an exchange between two neighbours, less what moves the bytes: over a
// provider that does nothing. Each rank measures for itself.
#include <fmt/core.h>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <vector>

#include "bindings/native/base/access.h"
#include "core/communicator/communicator.h"
#include "core/context.h"
#include "fab/communicator.h"
#include "fab/neighbor.h"
#include "perf/command.h"
#include "support/batches.h"
#include "support/exchange_options.h"
#include "support/null_provider.h"
#include "support/table.h"

namespace perf {
namespace {

constexpr std::size_t kBytes = 64;   ///< per neighbour
constexpr std::size_t kStarts = 16;  ///< in flight at once: few enough for the tags
constexpr int kRounds = 2000;        ///< of a batch, by default

struct StartOptions {
  bench::BatchPlan plan{};
  bench::RowFiles files{};
};

/// Rank 0 of three, with the two others as its neighbours.
class Ring {
 public:
  Ring() {
    // Traces can be measured, too; all else is as it is without variables.
    fab::Config config = fab::read_config([](const std::string& name) {
      return name.starts_with("FAB_TRACE") ? fab::process_environment(name) : std::nullopt;
    });
    config.progress = fab::ProgressMode::caller;
    for (auto& store : fab::open_memory_stores(3))
      contexts_.push_back(fab::core::Context::open(
          config, std::move(store), [](const fab::Config&, const fab::JobInfo&, const fab::Log&) -> fab::Transports {
            return {.node = nullptr, .network = std::make_unique<fab::bench::NullProvider>()};
          }));
    auto core = fab::core::Communicator::world(contexts_.front());
    core->set_topology(fab::Cartesian({3}, {true}));
    communicator_ = std::make_unique<fab::Communicator>(fab::Access::communicator(core));
    exchange().wait();
  }

  fab::Request exchange() { return fab::neighbor_xchg.start(*communicator_, send_.data(), recv_.data(), block_); }
  fab::PersistentExchange persistent() {
    return fab::neighbor_xchg.persistent(*communicator_, send_.data(), recv_.data(), block_);
  }
  void exchange_at_once() { fab::neighbor_xchg(*communicator_, send_.data(), recv_.data(), block_); }

 private:
  std::vector<std::shared_ptr<fab::core::Context>> contexts_;
  std::unique_ptr<fab::Communicator> communicator_;
  std::array<std::byte, 2 * kBytes> send_{};
  std::array<std::byte, 2 * kBytes> recv_{};
  fab::Layout block_ = fab::Layout::contiguous(kBytes);
};

double seconds_of(auto&& action) {
  const auto begin = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Returns the seconds of the starts alone, `kStarts` of them.
struct Subject {
  const char* name;
  std::function<double()> round;
};

class Starts {
 public:
  Starts() {
    for (std::size_t i = 0; i < kStarts; ++i) exchanges_.push_back(ring_.persistent());
  }

  [[nodiscard]] std::vector<Subject> subjects() {
    return {{"cached start", [this] { return cached(); }},
            {"persistent start", [this] { return persistent(false); }},
            {"one of 16 persistent starts at once", [this] { return persistent(true); }},
            {"blocking exchange", [this] { return blocking(); }}};
  }

 private:
  double cached() {
    const double seconds = seconds_of([&] {
      for (fab::Request& request : requests_) request = ring_.exchange();
    });
    fab::Request::wait_all(requests_);
    return seconds;
  }
  double persistent(bool at_once) {
    const double seconds = seconds_of([&] {
      if (at_once) return fab::PersistentExchange::start_all(exchanges_);
      for (fab::PersistentExchange& exchange : exchanges_) exchange.start();
    });
    fab::PersistentExchange::wait_all(exchanges_);
    return seconds;
  }
  double blocking() {
    return seconds_of([&] {
      for (std::size_t i = 0; i < kStarts; ++i) ring_.exchange_at_once();
    });
  }

  Ring ring_;
  std::array<fab::Request, kStarts> requests_;
  std::vector<fab::PersistentExchange> exchanges_;
};

/// Nanoseconds of a start, by subject and batch; means over the ranks.
std::vector<std::vector<double>> measure(const std::vector<Subject>& subjects, const bench::BatchPlan& plan) {
  std::vector<std::vector<double>> times_ns(subjects.size());
  for (int batch = -1; batch < plan.batches; ++batch)  // the first is not counted
    for (std::size_t i = 0; i < subjects.size(); ++i) {
      double seconds = 0;
      for (int round = 0; round < plan.calls; ++round) seconds += subjects[i].round();
      if (batch >= 0) times_ns[i].push_back(1e9 * seconds / (plan.calls * static_cast<double>(kStarts)));
    }
  for (std::vector<double>& times : times_ns) bench::average_over_ranks(times);
  return times_ns;
}

void run(const StartOptions& options, const Job& job) {
  bench::Rows rows(options.files, job.rank == 0);
  Starts starts;
  const std::vector<Subject> subjects = starts.subjects();
  const auto times_ns = measure(subjects, options.plan);
  if (job.rank != 0) return;
  fmt::print(
      "\n# {} start: two neighbours, {} bytes each, a provider that does nothing\n# ns of a start, or of a blocking "
      "exchange: mean over ranks, median of {} batches in turns, and quartiles\n",
      program_name(), kBytes, options.plan.batches);
  const bench::Table table({"                                what", "ns", "from", "to"});
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    const bench::Spread spread = bench::spread_of(times_ns[i]);
    table.print(
        {subjects[i].name, bench::number(spread.median), bench::number(spread.lower), bench::number(spread.upper)});
    bench::Row row = {{"bench", "start"}, {"what", subjects[i].name}, {"ranks", job.ranks}, {"bytes", kBytes}};
    bench::add_times(row, "ns", times_ns[i]);
    rows.add(std::move(row));
  }
  rows.write();
}

}  // namespace

Action add_start(CLI::App& app) {
  const auto options = std::make_shared<StartOptions>();
  options->plan.calls = kRounds;
  app.add_option("-n,--iterations", options->plan.calls, "Rounds of a batch, of 16 starts each")
      ->check(bench::in_range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--batches", options->plan.batches, "Batches of each kind of start, in turns")
      ->check(bench::in_range(1, 1'000'000))
      ->capture_default_str();
  bench::add_file_options(app, options->files);
  return {.run = [options](const Job& job) { run(*options, job); }};
}

}  // namespace perf
