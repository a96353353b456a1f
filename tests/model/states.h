// Visits every state that a protocol can reach.
#pragma once

#include <cstring>
#include <deque>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_set>
#include <vector>

namespace fab::model {

struct Visited {
  std::size_t states = 0;
  std::string failure;  ///< of the first state that is wrong; empty: there is none
};

/// `State`: numbers without padding, in an agreed size. `protocol.step(state, visit)` calls `visit` with each state
/// that may follow; `protocol.wrong(state)` says what is wrong with it, or nothing; where nothing follows
/// `protocol.is_end(state)` must be true.
template <class State, class Protocol>
Visited visit_all(const State& first, const Protocol& protocol) {
  static_assert(std::has_unique_object_representations_v<State>);
  const auto key = [](const State& state) { return std::string(reinterpret_cast<const char*>(&state), sizeof(state)); };
  Visited visited;
  std::unordered_set<std::string> known{key(first)};
  std::deque<State> open{first};
  for (; !open.empty() && visited.failure.empty(); open.pop_front()) {
    visited.failure = protocol.wrong(open.front());
    bool follows = false;
    protocol.step(open.front(), [&](const State& next) {
      follows = true;
      if (known.insert(key(next)).second) open.push_back(next);
    });
    if (!follows && visited.failure.empty() && !protocol.is_end(open.front())) visited.failure = "nothing goes on";
  }
  visited.states = known.size();
  return visited;
}

}  // namespace fab::model
