// This process's connection to its PMIx server.
#pragma once

#include <pmix.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "core/base/mutex.h"
#include "core/bootstrap/pmix_fetcher.h"

namespace fab {

/// One for the process, as PMIx has only one: opened by the first store, closed when the process exits and no store is
/// left, for some are closed by destructors of static objects. Closing it with
/// the last store instead and connecting once more does not work: with PMIx 4.2.2 under Open MPI 4.1.4 every fifth
/// fence across nodes does not end in a process that has connected again. PMIx counts its users; MPI is another one,
/// and must be the last: PMIx tells its server only then that the process ends in order, and calls MPI back no more.
class PmixSession {
 public:
  /// Throws Error(bootstrap) when the server does not answer; the next call tries again.
  static std::shared_ptr<PmixSession> of_process();
  /// MPI is about to leave PMIx: the connection closes now, or with the last store. It stays until the process exits if
  /// a closed store still waits for answers.
  static void leave_to_mpi() noexcept;

  PmixSession(const PmixSession&) = delete;
  PmixSession& operator=(const PmixSession&) = delete;
  ~PmixSession();

  [[nodiscard]] const pmix_proc_t& self() const noexcept { return self_; }

  /// Numbers the stores of this process, from 0.
  [[nodiscard]] int count_store();

  /// Keeps a closed fetcher until PMIx has answered all its requests, or has ended.
  void keep_until_answered(std::shared_ptr<PmixFetcher> fetcher);

 private:
  PmixSession();
  [[nodiscard]] static std::shared_ptr<PmixSession>& kept();
  [[nodiscard]] bool waits_for_answers() noexcept;

  pmix_proc_t self_{};
  const pid_t process_ = getpid();
  core::Mutex mutex_;
  std::vector<std::shared_ptr<PmixFetcher>> closed_ FAB_GUARDED_BY(mutex_);
};

}  // namespace fab
