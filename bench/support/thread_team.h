// Threads that do the same at once, again and again.
#pragma once

#include <barrier>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace bench {

/// The caller is the first of them; the others wait between runs.
class ThreadTeam {
 public:
  explicit ThreadTeam(int threads);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  [[nodiscard]] int size() const { return static_cast<int>(others_.size()) + 1; }
  /// Calls `work` with the number of each thread, and returns when all have returned. Throws what one of them threw.
  void run(const std::function<void(int thread)>& work);

 private:
  void follow(int thread);
  void take_part(int thread);

  std::barrier<> begin_;
  std::barrier<> end_;
  const std::function<void(int)>* work_ = nullptr;  // none: it is over
  std::mutex mutex_;
  std::exception_ptr failure_;
  std::vector<std::thread> others_;
};

}  // namespace bench
