// The statistics of a rank, and how rank 0 gets those of all ranks: by the launcher's store, so that no rank waits for
// another one but rank 0, and that not for long.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "core/job/runtime.h"
#include "core/statistics/engine_sums.h"
#include "core/statistics/job_file.h"
#include "core/statistics/page.h"
#include "core/statistics/statistics_json.h"

namespace fab::core {

namespace {

std::uint64_t ns_of(Runtime::Clock::duration time) {
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(time).count());
}

/// How long the others are waited for where a rank is lost.
constexpr double kAfterLossS = 1;

/// Between two looks at what has come.
constexpr std::chrono::milliseconds kWaitStep{1};

/// What the launcher's threads bring. It outlives the gathering where some ranks are silent.
class Answers {
 public:
  explicit Answers(int ranks) : texts_(static_cast<std::size_t>(ranks)), missing_(ranks) {}

  void come(Rank rank, std::optional<std::string> text) {
    const std::lock_guard lock(mutex_);
    texts_[static_cast<std::size_t>(rank)] = std::move(text);
    --missing_;
  }
  [[nodiscard]] bool complete() {
    const std::lock_guard lock(mutex_);
    return missing_ == 0;
  }
  [[nodiscard]] std::vector<std::optional<std::string>> take() {
    const std::lock_guard lock(mutex_);
    return texts_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::optional<std::string>> texts_;
  int missing_;
};

JobStatistics read_all(const std::vector<std::optional<std::string>>& texts) {
  JobStatistics job;
  Rank rank = 0;
  for (const auto& text : texts) {
    if (text)
      job.told.push_back(read_statistics(*text));
    else
      job.silent.push_back(rank);
    ++rank;
  }
  return job;
}

void print_page(const JobStatistics& job, const std::string& transport) {
  const std::string page =
      fmt::format("fab: statistics of {} of {} ranks, over {} at rank 0 (FAB_STATS=0: no page)\n{}", job.told.size(),
                  job.told.size() + job.silent.size(), transport, statistics_page(job.told));
  std::fputs(page.c_str(), stderr);
}

}  // namespace

StatisticsByWay Runtime::statistics() {
  StatisticsByWay statistics;
  statistics.rank = job().rank;
  statistics.ranks = job().size;
  {
    const Lock lock(engine_);
    collect_operations(statistics);
    collect_peers(statistics);
    collect_counters(statistics);
  }
  int engine = 0;
  for (const std::shared_ptr<Runtime>& each : further_) add_of_engine(statistics, ++engine, each->statistics());
  return statistics;
}

void Runtime::collect_operations(StatisticsByWay& statistics) {
  for (OperationSums& sums : ledger_.read()) {
    if (sums.calls == 0 && sums.plans == 0) continue;
    std::vector<WayStatistics>& ways = statistics.operation_ways.emplace_back();
    sums.ways.visit([&](std::string_view way, std::uint64_t messages, std::uint64_t bytes) {
      ways.push_back({std::string(way), {messages, bytes}});
    });
    statistics.operations.push_back(std::move(sums));
  }
}

void Runtime::collect_peers(Statistics& statistics) {
  std::map<Rank, MessageAmounts> received = ledger_.received();
  peers_.visit([&](const Peer& peer) {
    engine_lock.assert_held();
    PeerStatistics its{.rank = peer.world_rank,
                       .provider = peer.provider == nullptr ? "" : peer.provider->name(),
                       .received = received[peer.world_rank],
                       .came_last = peer.came_last,
                       .waited_ns = peer.waited_ns};
    its.received.add(peer.received);
    if (peer.state == Peer::State::ready && peer.provider != nullptr)
      peer.provider->visit_ways(peer.handle, [&](std::string_view way, std::uint64_t messages, std::uint64_t bytes) {
        if (messages > 0) its.ways.push_back({std::string(way), {messages, bytes}});
      });
    statistics.peers.push_back(std::move(its));
  });
  std::ranges::sort(statistics.peers, {}, &PeerStatistics::rank);
}

void Runtime::collect_counters(Statistics& statistics) {
  const auto add = [&](const char* name, std::uint64_t value) { statistics.counters.push_back({name, value}); };
  add("open_for_ns", ns_of(Clock::now() - begun_));
  add("opening_launcher_ns", ns_of(launcher_time_));
  add("opening_providers_ns", ns_of(transports_time_));
  add("polls", engine_.polls());
  add("refused_posts", engine_.refused_posts());
  counters_.set(Counter::strangers, strangers());
  for (const CounterRow& row : counter_rows()) add(row.name, counters_[row.counter]);
}

void Runtime::tell_statistics(const std::string& key) {
  if (engine_.halted() || std::ranges::find(told_keys_, key) != told_keys_.end()) return;
  told_keys_.push_back(key);
  try {
    store_->publish(key, statistics().json());
  } catch (const std::exception& error) {
    log_.write(LogLevel::warn, "the statistics of this rank are lost: {}", error.what());
  }
}

JobStatistics Runtime::gather_statistics(const std::string& key, double timeout_s, IdleHook idle) {
  const auto answers = std::make_shared<Answers>(job().size);
  for (Rank rank = 0; rank < job().size; ++rank)
    store_->fetch(rank, key, [answers, rank](std::optional<std::string> text, const std::string&) {
      answers->come(rank, std::move(text));
    });
  const auto begun = Clock::now();
  const auto is_over = [&] {
    const double passed_s = std::chrono::duration<double>(Clock::now() - begun).count();
    return passed_s >= timeout_s || (passed_s >= kAfterLossS && lost_any());
  };
  while (!answers->complete() && !is_over()) {
    poll_all();
    if (idle != nullptr) idle();
    if (!answers->complete()) std::this_thread::sleep_for(kWaitStep);
  }
  return read_all(answers->take());
}

void Runtime::report_statistics(double timeout_s, IdleHook idle) noexcept {
  if (engine_.halted() || job().rank != 0 || std::exchange(statistics_reported_, true)) return;
  try {
    const JobStatistics job = gather_statistics(kStatisticsKey, timeout_s, idle);
    if (!job.silent.empty())
      log_.write(LogLevel::warn, "FAB_STATS: rank{} {} did not answer: no call of fab's there, or it has failed",
                 job.silent.size() == 1 ? "" : "s", fmt::join(job.silent, ", "));
    if (config_.stats_file.empty())
      print_page(job, transport_);
    else
      write_job_file(config_.stats_file, job.told, job.silent, file_parts_);
  } catch (const std::exception& error) {
    log_.write(LogLevel::error, "FAB_STATS: {}", error.what());
  }
}

}  // namespace fab::core
