// Completions: calls a function for each operation that has ended, from the program's own loop of events.
#include "fab/completions.h"

#include <poll.h>

#include <algorithm>
#include <iterator>

namespace fab {

Completions::Completions(const Context& context) : context_(context), fd_(context.event_fd()) {}

void Completions::when_done(Request request, Callback callback) {
  entries_.push_back({std::move(request), std::move(callback)});
}

// One test makes progress for all of an engine. An operation that ends after the descriptor was read makes it readable
// again.
std::size_t Completions::run_ready() {
  context_.clear_events();
  const auto left = std::ranges::find_if_not(entries_, &Request::done, &Entry::request);
  if (left != entries_.end()) left->request.make_progress();
  if (context_.engines() > 1)
    for (Entry& each : entries_)
      if (!each.request.done()) each.request.make_progress();
  const auto first_done =
      std::stable_partition(entries_.begin(), entries_.end(), [](const Entry& each) { return !each.request.done(); });
  // Callbacks may add entries.
  std::vector<Entry> done(std::make_move_iterator(first_done), std::make_move_iterator(entries_.end()));
  entries_.erase(first_done, entries_.end());
  for (Entry& each : done) each.callback(each.request.wait_status());
  return done.size();
}

void Completions::run() { run_until(std::chrono::steady_clock::time_point::max()); }

bool Completions::run_until(std::chrono::steady_clock::time_point time) {
  using std::chrono::steady_clock;
  while (!entries_.empty()) {
    const bool ran = run_ready() > 0;
    const steady_clock::time_point now = steady_clock::now();
    if (now >= time) return entries_.empty();  // also where callbacks add requests for ever
    if (ran) continue;
    constexpr std::chrono::milliseconds kSafetyTimeout{100};  // against lost wake-ups
    const auto most = std::min<steady_clock::duration>(time - now, kSafetyTimeout);
    pollfd event{fd_, POLLIN, 0};
    ::poll(&event, 1, static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(most).count()));
  }
  return true;
}

}  // namespace fab
