#include "bindings/tools/progress_line.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>

namespace fab::tools {

namespace {

constexpr std::chrono::milliseconds kFirst{500};
constexpr std::chrono::milliseconds kNext{200};
constexpr std::chrono::seconds kElsewhere{10};

}  // namespace

ProgressLine::ProgressLine() : terminal_(::isatty(STDERR_FILENO) == 1) { begin({}); }

void ProgressLine::begin(std::string task) {
  clear();
  task_ = std::move(task);
  next_ = Clock::now() + (terminal_ ? std::chrono::milliseconds(kFirst) : kElsewhere);
}

void ProgressLine::show(const char* what, std::uint64_t done, std::uint64_t all) {
  if (Clock::now() < next_) return;
  const double percent = all == 0 ? 100 : 100 * static_cast<double>(done) / static_cast<double>(all);
  const std::string text = fmt::format("{}: {} of {} {} ({:.0f} %)", task_, done, all, what, percent);
  if (terminal_)
    fmt::print(stderr, "\r{}\033[K", text);
  else
    fmt::print(stderr, "{}\n", text);
  shown_ = terminal_;
  next_ = Clock::now() + (terminal_ ? kNext : std::chrono::milliseconds(kElsewhere));
}

void ProgressLine::clear() {
  if (shown_) fmt::print(stderr, "\r\033[K");
  shown_ = false;
}

}  // namespace fab::tools
