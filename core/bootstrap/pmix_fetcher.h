// Fetches other ranks' values from PMIx, however long they take to publish them.
#pragma once

#include <pmix.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <unordered_set>

#include "core/base/mutex.h"
#include "core/bootstrap/store.h"

namespace fab {

/// PMIx_Get_nb alone does not wait for a value. Measured with PMIx 4.2.2 under Open MPI 4.1.4:
///   - Peer on this node: it waits until the key is there, but gives up after 2 s (PMIX_ERR_TIMEOUT).
///   - Peer on another node: it waits only until the peer has committed anything at all, which MPI_Init has done long
///     before us; a key that is missing then is answered at once (PMIX_ERR_NOT_FOUND).
///   - While one fetch from a peer is open, a second one rides on it: when the first key comes alone, the second
///     fetch ends with PMIX_ERR_NOT_FOUND.
///   - Asking again always sees what was published in between, on both kinds of peer, also after other keys of the
///     peer have been fetched. PMIX_GET_REFRESH_CACHE is not needed, and it makes fetches on this node end at once.
/// So a fetch is asked again as long as the answer is "not there (yet)": after 1 ms, then after twice the pause before,
/// up to 500 ms. The pauses are timed because the server wakes no client in the second and third case. PMIx's events
/// and its publish/look-up might, but a launcher need not offer either, so that asking again would have to stay beside
/// them.
///
/// PMIx cannot take a request back. Each one therefore owns a part of this object, which lives until the last answer.
class PmixFetcher : public std::enable_shared_from_this<PmixFetcher> {
 public:
  /// Calls `done` once; after close() at once.
  void fetch(const pmix_proc_t& process, const std::string& key, Store::Fetched done);
  /// Answers all open fetches with kStoreClosed; no `done` is running any more when it returns.
  void close();
  /// After close(): has PMIx answered all requests?
  [[nodiscard]] bool is_answered();
  /// After close() and after PMIx has ended: frees the requests that it will never answer.
  void forget_requests();

 private:
  using Clock = std::chrono::steady_clock;

  /// One fetch. It belongs to PMIx while it is being asked for, to pausing_ otherwise.
  struct Request {
    std::shared_ptr<PmixFetcher> fetcher;
    pmix_proc_t process{};
    std::string key;
    Store::Fetched done;
    Clock::duration pause{};  ///< before it is asked for once more
    int invalid = 0;          ///< answers that the namespace is
  };

  static void on_answer(pmix_status_t status, pmix_value_t* value, void* request);
  void ask(std::unique_ptr<Request> request);
  void settle(std::unique_ptr<Request> request, pmix_status_t status, const pmix_value_t* value);
  void pause(std::unique_ptr<Request> request) FAB_REQUIRES(mutex_);
  void ask_again_when_due();

  core::Mutex mutex_;
  std::condition_variable_any changed_;
  bool is_closed_ FAB_GUARDED_BY(mutex_) = false;
  int answering_ FAB_GUARDED_BY(mutex_) = 0;  ///< calls of `done` that are running
  std::unordered_set<Request*> asked_ FAB_GUARDED_BY(mutex_);
  std::multimap<Clock::time_point, std::unique_ptr<Request>> pausing_ FAB_GUARDED_BY(mutex_);  ///< by when they are due
  std::thread thread_;  ///< asks again; started by the first pause, guarded by mutex_ until close()
};

}  // namespace fab
