// Contestants of several threads: each makes its calls on a communicator and buffers of its own, all at the same time.
#pragma once

#include <vector>

#include "support/contestant.h"
#include "support/thread_team.h"

namespace bench {

/// Contestants whose calls all threads of the team make at once. `of_threads[t]` are those of thread t, the same ones
/// in the same order. The team must live longer.
[[nodiscard]] std::vector<Contestant> at_once(ThreadTeam& team, std::vector<std::vector<Contestant>> of_threads);

}  // namespace bench
