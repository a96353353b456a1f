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
/// fence across nodes does not end in a process that has connected again. PMIx counts its users; MPI is another one.
class PmixSession {
 public:
  /// Throws Error(bootstrap) when the server does not answer; the next call tries again.
  static std::shared_ptr<PmixSession> of_process();

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

  pmix_proc_t self_{};
  const pid_t process_ = getpid();
  core::Mutex mutex_;
  int stores_ FAB_GUARDED_BY(mutex_) = 0;
  std::vector<std::shared_ptr<PmixFetcher>> closed_ FAB_GUARDED_BY(mutex_);
};

}  // namespace fab
