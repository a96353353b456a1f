#include "core/bootstrap/carried_values.h"

#include <fmt/core.h>
#include <sched.h>

#include <algorithm>

#include "core/bootstrap/fetch.h"
#include "fab/error.h"

namespace fab {

/// The one thread that may use the carrier. Calls of MPI's may come back here, so it is no mutex.
class CarriedValues::Turn {
 public:
  explicit Turn(CarriedValues& values) : values_(values), is_mine_(!values.taken_.exchange(true)) {}
  ~Turn() {
    if (is_mine_) values_.taken_.store(false);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  [[nodiscard]] bool is_mine() const noexcept { return is_mine_; }

 private:
  CarriedValues& values_;
  const bool is_mine_;
};

CarriedValues::CarriedValues(Rank self, int size, std::unique_ptr<Carrier> carrier)
    : self_(self), size_(size), carrier_(std::move(carrier)) {}

void CarriedValues::publish(const std::string& key, std::string_view value) {
  std::vector<Ended> ended;
  {
    const core::MutexLock lock(mutex_);
    own_[key] = value;
    for (const Name& ask : waiting_)
      if (ask.second == key) answer(ask);
    std::erase_if(waiting_, [&](const Name& ask) { return ask.second == key; });
    learn({self_, key}, std::string(value), "", ended);
  }
  for (const Ended& each : ended) each.done(each.value, each.reason);
}

void CarriedValues::fetch(Rank rank, const std::string& key, Fetched done) {
  check_fetched_rank(rank, size_);
  std::optional<std::string> value;
  std::string reason;
  {
    const core::MutexLock lock(mutex_);
    const Name name(rank, key);
    const auto told = told_.find(name);
    if (!ended_.empty()) {
      reason = ended_;
    } else if (told != told_.end()) {
      value = told->second;
    } else {
      if (rank != self_ && !open_.contains(name)) {
        ++unanswered_;
        outgoing_.push_back({rank, write_message({CarriedMessage::Kind::ask, key, own_})});
      }
      open_.emplace(name, std::move(done));
      look_whether_urgent();
      return;
    }
  }
  done(std::move(value), reason);
}

void CarriedValues::drive() noexcept {
  const Turn turn(*this);
  if (!turn.is_mine()) return;
  std::vector<Ended> ended;
  try {
    carry(ended);
  } catch (const std::exception& error) {
    fail(error.what());
  }
  for (Ended& each : ended) each.done(std::move(each.value), each.reason);
}

void CarriedValues::carry(std::vector<Ended>& ended) {
  {
    const core::MutexLock lock(mutex_);
    if (failed_) return;
  }
  while (const std::optional<Carrier::Arrived> arrived = carrier_->receive()) handle(*arrived, ended);
  for (Outgoing& each : take_outgoing()) carrier_->send(each.to, std::move(each.message));
}

void CarriedValues::handle(const Carrier::Arrived& arrived, std::vector<Ended>& ended) {
  const std::optional<CarriedMessage> message = read_message(arrived.message);
  if (!message)
    throw Error(Errc::bootstrap, fmt::format("rank {} sent {} bytes that are no message of fab's: do all ranks run the "
                                             "same version?",
                                             arrived.from, arrived.message.size()));
  const core::MutexLock lock(mutex_);
  for (const auto& [key, value] : message->values) learn({arrived.from, key}, value, "", ended);
  const Name name(arrived.from, message->key);
  if (message->kind == CarriedMessage::Kind::answer) {
    --unanswered_;
    if (message->values.empty())
      learn(name, std::nullopt, fmt::format("rank {} has ended without having opened fab", arrived.from), ended);
  } else if (parting_ || own_.contains(message->key)) {
    answer(name);
  } else {
    waiting_.push_back(name);
  }
  look_whether_urgent();
}

void CarriedValues::learn(const Name& name, const std::optional<std::string>& value, const std::string& reason,
                          std::vector<Ended>& ended) {
  if (value) told_.emplace(name, *value);
  const auto [first, last] = open_.equal_range(name);
  for (auto fetch = first; fetch != last; ++fetch) ended.push_back({std::move(fetch->second), value, reason});
  open_.erase(first, last);
}

void CarriedValues::answer(const Name& ask) {
  CarriedMessage message{CarriedMessage::Kind::answer, ask.second};
  if (const auto own = own_.find(ask.second); own != own_.end()) message.values.insert(*own);
  outgoing_.push_back({ask.first, write_message(message)});
  look_whether_urgent();
}

std::vector<CarriedValues::Outgoing> CarriedValues::take_outgoing() {
  const core::MutexLock lock(mutex_);
  std::vector<Outgoing> taken = std::exchange(outgoing_, {});
  look_whether_urgent();
  return taken;
}

void CarriedValues::look_whether_urgent() {
  urgent_.store(!failed_ && (!outgoing_.empty() || !open_.empty()), std::memory_order_relaxed);
}

void CarriedValues::end_all(const std::string& reason, std::vector<Ended>& ended) {
  ended_ = reason;
  for (auto& [name, done] : open_) ended.push_back({std::move(done), std::nullopt, reason});
  open_.clear();
  look_whether_urgent();
}

void CarriedValues::fail(const std::string& reason) noexcept {
  std::vector<Ended> ended;
  {
    const core::MutexLock lock(mutex_);
    failed_ = true;
    end_all(reason, ended);
  }
  for (const Ended& each : ended) each.done(each.value, each.reason);
}

// The end of a turn is the end of all that it calls.
void CarriedValues::stop_fetching() noexcept {
  std::vector<Ended> ended;
  {
    const core::MutexLock lock(mutex_);
    end_all(kStoreClosed, ended);
  }
  for (const Ended& each : ended) each.done(each.value, each.reason);
  while (taken_.load()) ::sched_yield();
}

void CarriedValues::begin_parting() {
  const core::MutexLock lock(mutex_);
  if (std::exchange(parting_, true)) return;
  for (const Name& ask : waiting_) answer(ask);
  waiting_.clear();
}

bool CarriedValues::is_answered() {
  const core::MutexLock lock(mutex_);
  return failed_ || (unanswered_ == 0 && outgoing_.empty());
}

bool CarriedValues::meet() {
  const Turn turn(*this);
  return turn.is_mine() && carrier_->meet();
}

// A rank comes to the meeting when all that it has asked for has been answered. So a rank that has met the others has
// answered all that it was asked for.
bool CarriedValues::part(bool at_once) noexcept {
  try {
    begin_parting();
    drive();
    return (at_once || is_answered()) && meet();
  } catch (const std::exception& error) {
    fail(error.what());
    return true;
  }
}

void CarriedValues::end() noexcept {
  fail(kStoreClosed);
  while (taken_.exchange(true)) ::sched_yield();
  carrier_.reset();
  taken_.store(false);  // a store may live on, and no turn uses the carrier from here on
}

namespace {

class CarriedStore : public Store {
 public:
  CarriedStore(std::shared_ptr<CarriedValues> values, JobInfo job, std::function<std::vector<int>()> nodes)
      : values_(std::move(values)), job_(std::move(job)), nodes_(std::move(nodes)) {}
  ~CarriedStore() override { leave(); }
  CarriedStore(const CarriedStore&) = delete;
  CarriedStore& operator=(const CarriedStore&) = delete;

  [[nodiscard]] const JobInfo& job() const noexcept override { return job_; }
  [[nodiscard]] std::vector<int> nodes() const override { return nodes_(); }
  void publish(const std::string& key, std::string_view value) override { values_->publish(key, value); }
  void fetch(Rank rank, const std::string& key, Fetched done) override { values_->fetch(rank, key, std::move(done)); }
  [[nodiscard]] bool fence(double, const std::function<void()>&) override {
    throw Error(Errc::bootstrap, "without PMIx only MPI brings all ranks together");
  }
  void leave() noexcept override { values_->stop_fetching(); }

 private:
  const std::shared_ptr<CarriedValues> values_;
  const JobInfo job_;
  const std::function<std::vector<int>()> nodes_;
};

}  // namespace

std::unique_ptr<Store> open_carried_store(std::shared_ptr<CarriedValues> values, JobInfo job,
                                          std::function<std::vector<int>()> nodes) {
  return std::make_unique<CarriedStore>(std::move(values), std::move(job), std::move(nodes));
}

}  // namespace fab
