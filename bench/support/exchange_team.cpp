#include "support/exchange_team.h"

#include <utility>

namespace bench {

ExchangeTeam::ExchangeTeam(const Neighbors& first, const PatternOptions& pattern, int threads)
    : of_threads_{&first}, team_(threads) {
  for (int thread = 1; thread < threads; ++thread) of_threads_.push_back(&others_.emplace_back(pattern));
}

std::deque<Exchange> ExchangeTeam::exchanges(std::size_t bytes_per_neighbor, MemoryKind memory) const {
  std::deque<Exchange> all;
  for (int thread = 0; thread < team_.size(); ++thread)
    all.emplace_back(*of_threads_[static_cast<std::size_t>(thread)], bytes_per_neighbor, memory, thread);
  return all;
}

std::vector<Contestant> ExchangeTeam::contestants(std::deque<Exchange>& exchanges,
                                                  const std::function<std::vector<Contestant>(Exchange&)>& make) {
  std::vector<std::vector<Contestant>> of_threads;
  for (Exchange& exchange : exchanges) of_threads.push_back(make(exchange));
  return at_once(team_, std::move(of_threads));
}

}  // namespace bench
