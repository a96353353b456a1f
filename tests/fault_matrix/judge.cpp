// Runs one case and judges the reports of its ranks.
#include <fmt/ranges.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "bindings/native/base/access.h"
#include "bindings/native/context/open_context.h"
#include "core/communicator/communicator.h"
#include "fault_matrix/case.h"
#include "fault_matrix/hosts.h"
#include "fault_matrix/operations.h"
#include "process/forked_job.h"

namespace fab::test {

namespace {

constexpr int kSteps = 16;
constexpr int kFaultStep = 3;
const double kTimeLimitS = time_limit_s(60);
/// What closing may take after a loss: it meets the others for a moment.
constexpr double kClosingS = 1;

/// The fault ends the victim, or its way to the others, for good, and every rank can know it.
bool is_loss(Fault fault) { return fault == Fault::killed || fault == Fault::exits || fault == Fault::machine_gone; }

/// What fab promises: from the fault to the error.
double bound_s(const Case& which, const Times& times) {
  switch (which.fault) {
    case Fault::killed:
    case Fault::exits:
      return times.exit_timeout_s;
    case Fault::machine_gone:
      return times.peer_timeout_s + 1;
    default:
      return 2 * times.wait_timeout_s;  // who waits for one that gave up begins later
  }
}

Config config_of(const Case& which, const Times& times) {
  Config config = read_config([](const std::string&) { return std::nullopt; });
  config.local = which.way == Way::node || which.way == Way::two_hosts;
  if (which.way != Way::node) config.provider = which.way == Way::rxm ? "tcp;ofi_rxm" : "net";
  if (which.way == Way::two_hosts) config.interface = TwoHosts::kInterface;
  if (which.doing == Doing::one_sided) config.one_sided = OneSidedMode::on;
  if (which.doing == Doing::discover) config.discover = DiscoverAlgorithm::nbx;
  config.peer_timeout_s = times.peer_timeout_s;
  config.exit_timeout_s = times.exit_timeout_s;
  if (!is_loss(which.fault) && which.fault != Fault::stopped) config.wait_timeout_s = times.wait_timeout_s;
  if (const char* level = std::getenv("FAULTS_LOG"); level != nullptr && std::string(level) == "info")
    config.log = LogLevel::info;
  return config;
}

[[noreturn]] void never_come_back() {
  for (;;) ::pause();
}

/// What befalls the victim, by itself.
void suffer(Fault fault) {
  ForkedJob::mark();
  switch (fault) {
    case Fault::killed:
      ::kill(::getpid(), SIGKILL);
      break;
    case Fault::stopped:
    case Fault::stopped_for_ever:
    case Fault::machine_gone:  // until the parent has taken the link down
      ::kill(::getpid(), SIGSTOP);
      break;
    case Fault::exits:
      ::_exit(0);
    case Fault::never_started:
      break;
  }
}

/// What a rank says of an error: when it came, when its operation had begun, both from the fault on, and the error.
std::string said(double begin_s, const std::string& error) {
  const double now_s = ForkedJob::now_s();
  const double passed_s = ForkedJob::seconds_since_mark(kVictim);
  return std::to_string(passed_s) + " s, begun at " + std::to_string(passed_s - (now_s - begin_s)) + " s: " + error;
}

class Member {
 public:
  Member(const Case& which, const Times& times, std::unique_ptr<Store> store)
      : which_(which), times_(times), context_(open_context(config_of(which, times), std::move(store))) {
    const auto core = core::Communicator::world(context_);
    const Rank before = (core->rank() + kRanks - 1) % kRanks;
    const Rank after = (core->rank() + 1) % kRanks;
    core->set_topology(DistributedGraph({before, after}, {before, after}));
    ring_ = std::make_unique<Communicator>(Access::communicator(core));
    operation_ = make_operation(which, *ring_);
  }

  std::string run() {
    const bool victim = ring_->rank() == kVictim;
    for (int step = 0; step < kSteps; ++step) {
      const bool strikes = victim && step == kFaultStep;
      const double begin_s = ForkedJob::now_s();
      try {
        const bool right = operation_->run(step, [&] {
          if (strikes) suffer(which_.fault);
        });
        if (!right) return "wrong data";
      } catch (const Error& error) {
        return said(begin_s, error.what());
      }
    }
    return "done";
  }

  /// No rank has learned of the fault by the end of another survivor's process, which comes only now. After a stop all
  /// ranks meet, as what the first of them sent last may still be on its way to the others.
  std::string close(std::string text) {
    ForkedJob::end_together(is_loss(which_.fault) ? kRanks - 1 : 1, kTimeLimitS);
    if (which_.fault == Fault::stopped && !context_->close(kTimeLimitS)) text += " (and not all ranks closed)";
    if (!is_loss(which_.fault)) return text;
    const auto start = std::chrono::steady_clock::now();
    context_->close(10);
    const double taken_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (taken_s > times_.slack * kClosingS) text += " (closing took " + std::to_string(taken_s) + " s: too long)";
    return text;
  }

 private:
  Case which_;
  Times times_;
  std::shared_ptr<core::Context> context_;
  std::unique_ptr<Communicator> ring_;
  std::unique_ptr<Operation> operation_;
};

std::string body(const Case& which, const Times& times, std::unique_ptr<Store> store, const TwoHosts* hosts) {
  const bool victim = store->job().rank == kVictim;
  if (hosts != nullptr) hosts->enter(victim ? 1 : 0);
  if (victim && which.fault == Fault::never_started) {
    ForkedJob::mark();
    never_come_back();
  }
  try {
    Member rank(which, times, std::move(store));
    std::string text = rank.run();
    if (victim && is_loss(which.fault)) never_come_back();
    return rank.close(std::move(text));
  } catch (const std::exception& error) {
    return said(ForkedJob::now_s(), std::string("when it began: ") + error.what());
  }
}

/// When the last survivor began the operation that failed: one that computes keeps those who wait for it waiting.
double begun_s(const std::vector<std::string>& texts) {
  double last_s = 0;
  for (const std::string& text : texts)
    if (const auto at = text.find("begun at "); at != std::string::npos)
      last_s = std::max(last_s, std::atof(text.c_str() + at + std::string("begun at ").size()));
  return last_s;
}

/// What is wrong with a survivor's text; empty: nothing. `since_s`: the fault has struck, and all of them wait.
std::string complaint(const Case& which, const Times& times, const std::string& text, double since_s,
                      double& slowest_s) {
  if (which.fault == Fault::stopped) return text == "done" ? "" : "should have ended well";
  const double passed_s = std::atof(text.c_str()) - since_s;
  slowest_s = std::max(slowest_s, passed_s);
  if (text == "wrong data" || text == "done" || text.starts_with("(")) return "should have ended with an error";
  if (text.find("too long)") != std::string::npos) return "closing took too long";
  if (passed_s > times.slack * bound_s(which, times)) return "took too long";
  if (is_loss(which.fault) && text.find("rank 3") == std::string::npos) return "does not name rank 3";
  return "";
}

void act(ForkedJob& job, const Case& which, const Times& times, const TwoHosts* hosts) {
  if (which.fault == Fault::machine_gone) {
    hosts->cut();
    job.mark_again(kVictim);
    job.send_signal(kVictim, SIGCONT);
  }
  if (which.fault != Fault::stopped) return;
  std::this_thread::sleep_for(std::chrono::duration<double>(times.stop_s));
  job.send_signal(kVictim, SIGCONT);
}

}  // namespace

Verdict judge(const Case& which, const Times& times) {
  std::optional<TwoHosts> hosts;
  if (which.way == Way::two_hosts) hosts.emplace();
  if (hosts && !hosts->refusal().empty()) return {.good = true, .skipped = true, .text = hosts->refusal()};
  const TwoHosts* const their_hosts = hosts ? &*hosts : nullptr;
  const ForkedJob::Body each = [&](std::unique_ptr<Store> store) {
    return body(which, times, std::move(store), their_hosts);
  };
  const std::vector<int> nodes = hosts ? std::vector{0, 0, 0, 1} : std::vector{0, 0, 0, 0};
  ForkedJob job(std::vector<ForkedJob::Body>(kRanks, each), nodes);
  Verdict verdict{.good = true, .text = {}};
  if (!job.wait_for_mark(kVictim, kTimeLimitS)) return {.text = "the fault was never reached"};
  act(job, which, times, their_hosts);
  bool named = false;
  std::vector<std::string> texts(kRanks);
  for (Rank rank = 0; rank < kRanks; ++rank) {
    if (rank == kVictim && which.fault != Fault::stopped) continue;
    texts[static_cast<std::size_t>(rank)] = job.result(rank, kTimeLimitS + times.slack * bound_s(which, times));
  }
  const double since_s = begun_s(texts);
  for (Rank rank = 0; rank < kRanks; ++rank) {
    if (rank == kVictim && which.fault != Fault::stopped) continue;
    const std::string& text = texts[static_cast<std::size_t>(rank)];
    named = named || text.find("rank 3") != std::string::npos;
    const std::string wrong = complaint(which, times, text, since_s, verdict.slowest_s);
    if (!wrong.empty()) {
      verdict.good = false;
      verdict.text += "\n    rank " + std::to_string(rank) + " " + wrong + ": " + text;
    } else if (std::getenv("FAULTS_SHOW") != nullptr) {
      verdict.text += "\n    rank " + std::to_string(rank) + ": " + text;
    }
  }
  if (which.fault != Fault::stopped && !named) {
    verdict.good = false;
    verdict.text += fmt::format("\n    no survivor names rank 3: {}", fmt::join(texts, " | "));
  }
  return verdict;
}

}  // namespace fab::test
