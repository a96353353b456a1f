#include "core/bootstrap/pmix_store.h"

#include <pmix.h>

#include <string_view>
#include <utility>

#include "core/base/mutex.h"
#include "core/bootstrap/fetch.h"
#include "core/bootstrap/pending_fence.h"
#include "core/bootstrap/pmix_call.h"
#include "core/bootstrap/pmix_fetcher.h"
#include "core/bootstrap/pmix_job.h"
#include "core/bootstrap/pmix_session.h"

namespace fab {
namespace {

/// The callback owns a share of the fence, for it may come after the store is gone.
void on_fence(pmix_status_t status, void* data) {
  const std::unique_ptr<std::shared_ptr<PendingFence>> fence(static_cast<std::shared_ptr<PendingFence>*>(data));
  (*fence)->complete(status == PMIX_SUCCESS ? "" : describe_pmix("PMIx_Fence_nb", status));
}

class PmixStore : public Store {
 public:
  PmixStore() : job_(read_pmix_job(session_->self())), key_prefix_(fmt::format("fab.{}.", session_->count_store())) {}

  ~PmixStore() override { leave(); }
  PmixStore(const PmixStore&) = delete;
  PmixStore& operator=(const PmixStore&) = delete;

  [[nodiscard]] const JobInfo& job() const noexcept override { return job_; }

  [[nodiscard]] std::vector<int> nodes() const override { return read_pmix_nodes(self(), job_.size); }

  void publish(const std::string& key, std::string_view value) override {
    pmix_value_t entry{};
    entry.type = PMIX_BYTE_OBJECT;
    entry.data.bo.bytes = const_cast<char*>(value.data());  // PMIx_Put copies
    entry.data.bo.size = value.size();
    check_pmix(PMIx_Put(PMIX_GLOBAL, (key_prefix_ + key).c_str(), &entry), fmt::format("PMIx_Put of {}", key));
    check_pmix(PMIx_Commit(), fmt::format("PMIx_Commit of {}", key));
  }

  void fetch(Rank rank, const std::string& key, Fetched done) override {
    check_fetched_rank(rank, job_.size);
    if (session() == nullptr) return done(std::nullopt, kLeft);
    pmix_proc_t process = self();
    process.rank = static_cast<pmix_rank_t>(rank);
    fetcher_->fetch(process, key_prefix_ + key, std::move(done));
  }

  [[nodiscard]] bool fence(double timeout_s, const std::function<void()>& idle) override {
    if (!entered_) enter_fence();
    if (!entered_->wait(timeout_s, idle)) return false;
    const std::string failure = std::exchange(entered_, nullptr)->failure();
    if (!failure.empty()) throw Error(Errc::bootstrap, failure);
    return true;
  }

  void leave() noexcept override {
    const std::shared_ptr<PmixSession> session = [this] {
      const core::MutexLock lock(mutex_);
      return std::exchange(session_, nullptr);
    }();
    if (session == nullptr) return;
    fetcher_->close();
    session->keep_until_answered(fetcher_);
  }

 private:
  static constexpr const char* kLeft = "this rank has closed fab";

  [[nodiscard]] std::shared_ptr<PmixSession> session() const {
    const core::MutexLock lock(mutex_);
    return session_;
  }
  [[nodiscard]] pmix_proc_t self() const {
    const std::shared_ptr<PmixSession> session = this->session();
    if (session == nullptr) throw Error(Errc::bootstrap, kLeft);
    return session->self();
  }

  /// No rank needs the others' values at once. But Slurm's servers hold ranks of different nodes together only where
  /// values travel, unless mpi.conf has PMIxFenceBarrier.
  void enter_fence() {
    pmix_proc_t whole_job = self();
    whole_job.rank = PMIX_RANK_WILDCARD;
    const bool values_travel = std::string_view(whole_job.nspace).starts_with("slurm.pmix.");
    pmix_info_t collect;
    PMIX_INFO_LOAD(&collect, PMIX_COLLECT_DATA, &values_travel, PMIX_BOOL);
    auto fence = std::make_shared<PendingFence>();
    auto share = std::make_unique<std::shared_ptr<PendingFence>>(fence);
    check_pmix(PMIx_Fence_nb(&whole_job, 1, &collect, 1, on_fence, share.get()), "PMIx_Fence_nb");
    static_cast<void>(share.release());  // now on_fence's
    entered_ = std::move(fence);
  }

  mutable core::Mutex mutex_;
  /// Null once left.
  std::shared_ptr<PmixSession> session_ FAB_GUARDED_BY(mutex_) = PmixSession::of_process();
  const JobInfo job_;
  const std::string key_prefix_;  ///< keeps this store's keys apart from those of MPI and of other stores
  const std::shared_ptr<PmixFetcher> fetcher_ = std::make_shared<PmixFetcher>();
  std::shared_ptr<PendingFence> entered_;  ///< the fence that this rank waits in
};

}  // namespace

std::unique_ptr<Store> open_pmix_store() { return std::make_unique<PmixStore>(); }

}  // namespace fab
