#include "support/at_once.h"

#include <utility>

namespace bench {

std::vector<Contestant> at_once(ThreadTeam& team, std::vector<std::vector<Contestant>> of_threads) {
  std::vector<Contestant> all = of_threads.front();
  if (team.size() == 1) return all;
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::vector<Calls> calls;
    for (std::vector<Contestant>& of_thread : of_threads) calls.push_back(std::move(of_thread[i].calls));
    all[i].calls = [&team, calls = std::move(calls)](int count) {
      team.run([&](int thread) { calls[static_cast<std::size_t>(thread)](count); });
    };
  }
  return all;
}

}  // namespace bench
