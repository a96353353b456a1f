// The in-process twin of the launcher's store, and the job of one.
#include <condition_variable>
#include <list>
#include <map>
#include <utility>
#include <vector>

#include "core/base/mutex.h"
#include "core/bootstrap/fetch.h"
#include "core/bootstrap/pending_fence.h"
#include "core/bootstrap/store.h"

namespace fab {
namespace {

/// A fetch whose value is not there yet.
struct Waiting {
  Rank asker = 0;
  Rank publisher = 0;
  std::string key;
  Store::Fetched done;
};

/// What the ranks share. Answers are given without the lock, counted per asker so that its store can outlive them.
struct MemoryJob {
  MemoryJob(int ranks, std::vector<int> their_nodes)
      : size(ranks), nodes(std::move(their_nodes)), answering(static_cast<std::size_t>(ranks)) {
    nodes.resize(static_cast<std::size_t>(ranks));
  }

  const int size;
  std::vector<int> nodes;  ///< by rank
  core::Mutex mutex;
  std::map<std::pair<Rank, std::string>, std::string> values FAB_GUARDED_BY(mutex);
  std::list<Waiting> waiting FAB_GUARDED_BY(mutex);
  std::vector<int> answering FAB_GUARDED_BY(mutex);
  std::condition_variable_any answered;
  int arrived FAB_GUARDED_BY(mutex) = 0;
  std::shared_ptr<PendingFence> fence FAB_GUARDED_BY(mutex) = std::make_shared<PendingFence>();
};

class MemoryStore : public Store {
 public:
  MemoryStore(std::shared_ptr<MemoryJob> shared, JobInfo info) : shared_(std::move(shared)), info_(std::move(info)) {}
  ~MemoryStore() override;
  MemoryStore(const MemoryStore&) = delete;
  MemoryStore& operator=(const MemoryStore&) = delete;

  [[nodiscard]] const JobInfo& job() const noexcept override { return info_; }
  [[nodiscard]] std::vector<int> nodes() const override { return shared_->nodes; }
  void publish(const std::string& key, std::string_view value) override;
  void fetch(Rank rank, const std::string& key, Fetched done) override;
  [[nodiscard]] bool fence(double timeout_s, const std::function<void()>& idle) override;

 private:
  /// Takes the waiting fetches that `pick` wants, and counts them as being answered.
  template <class Pick>
  std::list<Waiting> take(Pick pick) FAB_REQUIRES(shared_->mutex);
  void answer(const std::list<Waiting>& fetches, const std::optional<std::string>& value, const std::string& reason);

  const std::shared_ptr<MemoryJob> shared_;
  const JobInfo info_;
  std::shared_ptr<PendingFence> entered_;  ///< the fence that this rank waits in
};

template <class Pick>
std::list<Waiting> MemoryStore::take(Pick pick) {
  std::list<Waiting> taken;
  for (auto next = shared_->waiting.begin(); next != shared_->waiting.end();) {
    const auto fetch = next++;
    if (!pick(*fetch)) continue;
    ++shared_->answering[static_cast<std::size_t>(fetch->asker)];
    taken.splice(taken.end(), shared_->waiting, fetch);
  }
  return taken;
}

void MemoryStore::answer(const std::list<Waiting>& fetches, const std::optional<std::string>& value,
                         const std::string& reason) {
  for (const Waiting& fetch : fetches) {
    fetch.done(value, reason);
    const core::MutexLock lock(shared_->mutex);
    --shared_->answering[static_cast<std::size_t>(fetch.asker)];
    shared_->answered.notify_all();
  }
}

MemoryStore::~MemoryStore() {
  std::list<Waiting> open;
  {
    const core::MutexLock lock(shared_->mutex);
    open = take([this](const Waiting& fetch) { return fetch.asker == info_.rank; });
  }
  answer(open, std::nullopt, kStoreClosed);
  const core::MutexLock lock(shared_->mutex);
  while (shared_->answering[static_cast<std::size_t>(info_.rank)] > 0) shared_->answered.wait(shared_->mutex);
}

void MemoryStore::publish(const std::string& key, std::string_view value) {
  std::list<Waiting> waited;
  {
    const core::MutexLock lock(shared_->mutex);
    shared_->values[{info_.rank, key}] = value;
    waited = take([&](const Waiting& fetch) { return fetch.publisher == info_.rank && fetch.key == key; });
  }
  answer(waited, std::string(value), "");
}

void MemoryStore::fetch(Rank rank, const std::string& key, Fetched done) {
  check_fetched_rank(rank, info_.size);
  std::string value;
  {
    const core::MutexLock lock(shared_->mutex);
    const auto found = shared_->values.find({rank, key});
    if (found == shared_->values.end()) {
      shared_->waiting.push_back({info_.rank, rank, key, std::move(done)});
      return;
    }
    value = found->second;
  }
  done(std::move(value), "");
}

bool MemoryStore::fence(double timeout_s, const std::function<void()>& idle) {
  if (!entered_) {
    const core::MutexLock lock(shared_->mutex);
    entered_ = shared_->fence;
    if (++shared_->arrived == shared_->size) {
      shared_->arrived = 0;
      shared_->fence->complete("");
      shared_->fence = std::make_shared<PendingFence>();
    }
  }
  if (!entered_->wait(timeout_s, idle)) return false;
  entered_.reset();
  return true;
}

using NodeRanks = std::map<int, std::vector<Rank>>;  ///< by node

std::unique_ptr<Store> make_store(const std::shared_ptr<MemoryJob>& shared, Rank rank, const NodeRanks& nodes,
                                  const std::string& origin) {
  JobInfo info;
  info.rank = rank;
  info.size = shared->size;
  info.node_ranks = nodes.at(shared->nodes[static_cast<std::size_t>(rank)]);
  info.local_size = static_cast<int>(info.node_ranks.size());
  info.node_count = static_cast<int>(nodes.size());
  info.origin = origin;
  return std::make_unique<MemoryStore>(shared, std::move(info));
}

std::vector<std::unique_ptr<Store>> open_stores(int size, std::vector<int> node_of_rank, const std::string& origin) {
  const auto shared = std::make_shared<MemoryJob>(size, std::move(node_of_rank));
  NodeRanks nodes;
  for (Rank rank = 0; rank < size; ++rank) nodes[shared->nodes[static_cast<std::size_t>(rank)]].push_back(rank);
  std::vector<std::unique_ptr<Store>> stores;
  stores.reserve(static_cast<std::size_t>(size));
  for (Rank rank = 0; rank < size; ++rank) stores.push_back(make_store(shared, rank, nodes, origin));
  return stores;
}

}  // namespace

std::unique_ptr<Store> open_singleton_store() { return std::move(open_stores(1, {}, "singleton").front()); }

std::vector<std::unique_ptr<Store>> open_memory_stores(int size, std::vector<int> nodes) {
  return open_stores(size, std::move(nodes), "in-process");
}

}  // namespace fab
