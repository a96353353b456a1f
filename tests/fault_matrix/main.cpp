// fab_fault_matrix [--quick] [--only TEXT]... [--jobs N] [--list]
// Runs the cases of the fault matrix whose names contain one of the texts (without any: all), N at a time. --quick:
// each stop, and each time limit, is short; without --only a selection. Prints a line for each case and a summary. Exit
// status: 0 when all went well, 1 otherwise, 2 for arguments that it does not know.
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "fault_matrix/case.h"

namespace {

using fab::test::Case;
using fab::test::Times;
using fab::test::Verdict;

struct Options {
  bool quick = false;
  bool list = false;
  int jobs = 4;
  std::vector<std::string> only;
};

bool read_options(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string text = argv[i];
    if (text == "--quick")
      options.quick = true;
    else if (text == "--list")
      options.list = true;
    else if (text == "--only" && i + 1 < argc)
      options.only.emplace_back(argv[++i]);
    else if (text == "--jobs" && i + 1 < argc && std::atoi(argv[i + 1]) > 0)
      options.jobs = std::atoi(argv[++i]);
    else
      return false;
  }
  return true;
}

/// Each doing, size, way and fault some times.
constexpr const char* kSelection[] = {
    "exchange.8.net.killed",           "exchange.8.node.killed",        "exchange.4194304.net.killed",
    "nonblocking.8.rxm.killed",        "nonblocking.4194304.net.exits", "persistent.8.net.killed",
    "one_sided.65536.net.killed",      "parts.65536.net.killed",        "parts.4194304.node.exits",
    "parts.8.two_hosts.machine",       "parts.65536.rxm.stopped",       "allreduce.8.net.killed",
    "allreduce.65536.node.killed",     "bcast.65536.rxm.exits",         "messages.8.net.killed",
    "messages.65536.node.exits",       "exchange.8.two_hosts.killed",   "exchange.8.two_hosts.machine",
    "messages.65536.two_hosts.killed", "exchange.65536.net.stopped",    "messages.8.rxm.never_started",
    "allreduce.8.two_hosts.machine"};

bool is_chosen(const Case& each, const Options& options) {
  const std::string name = each.name();
  const auto contains = [&name](const std::string& text) { return name.find(text) != std::string::npos; };
  if (!options.only.empty()) return std::ranges::any_of(options.only, contains);
  return !options.quick || std::ranges::any_of(kSelection, contains);
}

Times times_of(const Options& options) {
  if (!options.quick) return {};
  return {.stop_s = 1.5, .peer_timeout_s = 3, .wait_timeout_s = fab::test::time_limit_s(2)};
}

struct Running {
  Case which;
  pid_t pid = -1;
  int result = -1;
};

/// A process for each case, as its ranks are forked.
Running start(const Case& which, const Times& times) {
  int ends[2];
  if (::pipe(ends) != 0) std::abort();
  const pid_t pid = ::fork();
  if (pid < 0) std::abort();
  if (pid == 0) {
    ::close(ends[0]);
    const Verdict verdict = judge(which, times);
    char head[64];
    std::snprintf(head, sizeof(head), "%s %.2f",
                  verdict.skipped ? "skip"
                  : verdict.good  ? "ok"
                                  : "FAIL",
                  verdict.slowest_s);
    const std::string text = head + (verdict.text.empty() ? "" : " " + verdict.text);
    const bool written = ::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size());
    ::_exit(written ? 0 : 1);
  }
  ::close(ends[1]);
  return {which, pid, ends[0]};
}

std::string finish(const Running& running) {
  std::string text(16384, '\0');
  const ssize_t bytes = ::read(running.result, text.data(), text.size());
  text.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  ::close(running.result);
  ::waitpid(running.pid, nullptr, 0);
  return text.empty() ? "FAIL 0 (no verdict)" : text;
}

/// One that has a result.
std::size_t wait_any(const std::vector<Running>& running) {
  std::vector<pollfd> results;
  for (const Running& each : running) results.push_back({each.result, POLLIN, 0});
  if (::poll(results.data(), results.size(), -1) < 0) std::abort();
  const auto found = std::ranges::find_if(results, [](const pollfd& each) { return each.revents != 0; });
  return static_cast<std::size_t>(found - results.begin());
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!read_options(argc, argv, options)) {
    std::fprintf(stderr, "usage: %s [--quick] [--only TEXT]... [--jobs N] [--list]\n", argv[0]);
    return 2;
  }
  std::vector<Case> cases = fab::test::all_cases();
  std::erase_if(cases, [&](const Case& each) { return !is_chosen(each, options); });
  if (options.list) {
    for (const Case& each : cases) std::puts(each.name().c_str());
    return 0;
  }
  std::size_t done = 0;
  std::size_t failed = 0;
  std::size_t skipped = 0;
  double slowest_s = 0;
  std::vector<Running> running;
  for (std::size_t next = 0; next < cases.size() || !running.empty();) {
    if (next < cases.size() && running.size() < static_cast<std::size_t>(options.jobs)) {
      running.push_back(start(cases[next++], times_of(options)));
      continue;
    }
    const std::size_t ended = wait_any(running);
    const std::string text = finish(running[ended]);
    std::printf("[%zu/%zu] %s: %s\n", ++done, cases.size(), running[ended].which.name().c_str(), text.c_str());
    std::fflush(stdout);
    if (text.starts_with("FAIL")) ++failed;
    if (text.starts_with("skip")) ++skipped;
    if (const Case& which = running[ended].which;
        which.fault == fab::test::Fault::killed || which.fault == fab::test::Fault::exits)
      slowest_s = std::max(slowest_s, std::atof(text.c_str() + text.find(' ')));
    running.erase(running.begin() + static_cast<std::ptrdiff_t>(ended));
  }
  std::printf("%zu cases: %zu good, %zu failed, %zu skipped; a process's end was told after %.2f s at most\n", done,
              done - failed - skipped, failed, skipped, slowest_s);
  return failed == 0 && !cases.empty() ? 0 : 1;
}
