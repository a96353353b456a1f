// Whether another thread of this process has gone to sleep, asked of the kernel: a test need not guess how long that
// takes.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <string>
#include <thread>

namespace fab::test {

/// Whether the thread sleeps in the kernel, in poll() or on a lock; false once it has ended.
[[nodiscard]] inline bool is_asleep(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  std::string line;
  std::getline(file, line);
  const auto end_of_name = line.rfind(") ");
  return end_of_name != std::string::npos && line[end_of_name + 2] == 'S';
}

/// A thread whose sleep can be waited for.
class WatchedThread {
 public:
  template <class Body>
  explicit WatchedThread(Body body)
      : thread_([this, body = std::move(body)]() mutable {
          id_.store(::gettid());
          body();
        }) {
    while (id_.load() == 0) std::this_thread::yield();
  }

  /// Returns once it sleeps. Precondition: it goes to sleep, and stays asleep until the caller acts.
  void wait_until_asleep() const {
    while (!is_asleep(id_.load())) std::this_thread::yield();
  }
  [[nodiscard]] std::thread::id id() const { return thread_.get_id(); }
  void join() { thread_.join(); }

 private:
  std::atomic<pid_t> id_{0};
  std::thread thread_;
};

}  // namespace fab::test
