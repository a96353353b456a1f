// The exchanges of all threads of a rank, which they make at once.
#pragma once

#include <deque>
#include <functional>
#include <vector>

#include "support/at_once.h"
#include "support/exchange.h"

namespace bench {

/// Each thread has the same neighbours, on a communicator of its own.
class ExchangeTeam {
 public:
  /// `first` are those of thread 0, by the same options. Collective over all ranks.
  ExchangeTeam(const Neighbors& first, const PatternOptions& pattern, int threads);

  /// One for each thread.
  [[nodiscard]] std::deque<Exchange> exchanges(std::size_t bytes_per_neighbor, MemoryKind memory) const;
  /// Contestants that make the calls of all threads. `make` returns those of one exchange, for each of them the same
  /// ones.
  [[nodiscard]] std::vector<Contestant> contestants(std::deque<Exchange>& exchanges,
                                                    const std::function<std::vector<Contestant>(Exchange&)>& make);

 private:
  std::deque<Neighbors> others_;
  std::vector<const Neighbors*> of_threads_;
  ThreadTeam team_;
};

}  // namespace bench
