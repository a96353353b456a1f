// Fetches from a store as futures.
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/bootstrap/store.h"
#include "support/time_limit.h"

namespace fab::test {

struct Answer {
  std::optional<std::string> value;
  std::string reason;
};

inline std::future<Answer> fetch(Store& store, Rank rank, const std::string& key) {
  auto promise = std::make_shared<std::promise<Answer>>();
  store.fetch(rank, key, [promise](std::optional<std::string> value, const std::string& reason) {
    promise->set_value({std::move(value), reason});
  });
  return promise->get_future();
}

[[nodiscard]] inline bool is_answered(const std::future<Answer>& answer) {
  return answer.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

/// The value, or the reason why there is none.
[[nodiscard]] inline std::string wait_for(std::future<Answer>& answer) {
  const std::chrono::duration<double> limit(time_limit_s(20));
  if (answer.wait_for(limit) != std::future_status::ready) return "no answer";
  const Answer got = answer.get();
  return got.value.value_or("failed: " + got.reason);
}

[[nodiscard]] inline std::string fetched(Store& store, Rank rank, const std::string& key) {
  std::future<Answer> answer = fetch(store, rank, key);
  return wait_for(answer);
}

}  // namespace fab::test
