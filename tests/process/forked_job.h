// A job of forked processes, so that a test can kill one of its ranks without a launcher that ends them all.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/bootstrap/store.h"

namespace fab::test {

/// Forks one process per rank. A rank's body returns the text that the parent gets to see; an exception's text counts
/// too. Make it before the test process has threads.
class ForkedJob {
 public:
  using Body = std::function<std::string(std::unique_ptr<Store> store)>;

  /// `nodes`: by rank; empty: all ranks share one.
  explicit ForkedJob(const std::vector<Body>& bodies, std::vector<int> nodes = {});
  /// Kills what still runs.
  ~ForkedJob();
  ForkedJob(const ForkedJob&) = delete;
  ForkedJob& operator=(const ForkedJob&) = delete;

  void kill(Rank rank);
  void send_signal(Rank rank, int signal);
  /// Waits, at most so long, for the end of a rank; its text. "(killed)" or "(still running)" otherwise.
  [[nodiscard]] std::string result(Rank rank, double timeout_s);
  /// Blocks until a rank called mark(), at most so long.
  [[nodiscard]] bool wait_for_mark(Rank rank, double timeout_s);
  /// For the bodies: tells the parent that a point was reached.
  static void mark();
  /// For the bodies: returns when the process of another rank has ended, whose status another process collects.
  static void wait_for_end_of(Rank rank);
  /// As if the rank had called it now.
  void mark_again(Rank rank);
  /// For the bodies: how long ago a rank called it.
  [[nodiscard]] static double seconds_since_mark(Rank rank);
  /// Of the clock that marks are set by.
  [[nodiscard]] static double now_s();
  /// For the bodies: this rank has come to its end, and waits until so many have, at most so long.
  static void end_together(int ranks, double timeout_s);

  struct Shared;

 private:
  struct Child {
    pid_t pid = -1;
    int result_fd = -1;
  };

  Shared* shared_;
  std::vector<Child> children_;
};

}  // namespace fab::test
