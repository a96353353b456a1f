#include "process/forked_job.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <set>
#include <stdexcept>
#include <thread>
#include <utility>

namespace fab::test {

namespace {

constexpr std::size_t kMaxRanks = 4;
constexpr std::size_t kMaxAddress = 1024;
constexpr std::size_t kMaxKeys = 2;
constexpr std::size_t kMaxKey = 32;
constexpr auto kPollInterval = std::chrono::milliseconds(2);

ForkedJob::Shared* current_job = nullptr;
Rank current_rank = -1;

template <class Condition>
bool wait_until(Condition condition, double timeout_s) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(timeout_s);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(kPollInterval);
  }
  return true;
}

}  // namespace

struct ForkedJob::Shared {
  struct Value {
    std::atomic<bool> published;
    char key[kMaxKey];
    std::size_t bytes;
    char text[kMaxAddress];
  };
  struct Slot {
    Value values[kMaxKeys];
    std::atomic<bool> marked;
    std::atomic<std::int64_t> marked_at;  ///< of the steady clock
    std::atomic<pid_t> process;
  };
  Slot slots[kMaxRanks];
  std::atomic<int> in_fence;
  std::atomic<int> at_end;
};

namespace {

void set_mark(ForkedJob::Shared::Slot& slot) {
  slot.marked_at.store(std::chrono::steady_clock::now().time_since_epoch().count());
  slot.marked.store(true);
}

/// A few values per rank in memory that all processes share.
class SharedStore final : public Store {
 public:
  SharedStore(ForkedJob::Shared& shared, Rank rank, const std::vector<int>& nodes) : shared_(shared) {
    info_.rank = rank;
    info_.size = static_cast<int>(nodes.size());
    for (Rank each = 0; each < info_.size; ++each)
      if (nodes[static_cast<std::size_t>(each)] == nodes[static_cast<std::size_t>(rank)])
        info_.node_ranks.push_back(each);
    info_.local_size = static_cast<int>(info_.node_ranks.size());
    info_.node_count = static_cast<int>(std::set<int>(nodes.begin(), nodes.end()).size());
    info_.origin = "forked";
  }
  ~SharedStore() override {
    stop_.store(true);
    for (std::thread& thread : fetches_) thread.join();
  }

  const JobInfo& job() const noexcept override { return info_; }

  void publish(const std::string& key, std::string_view value) override {
    if (value.size() > kMaxAddress || key.size() >= kMaxKey) throw std::length_error("too long for the test's store");
    auto& slot = shared_.slots[static_cast<std::size_t>(info_.rank)];
    auto& entry = *std::ranges::find_if(slot.values, [](const auto& each) { return !each.published.load(); });
    std::memcpy(entry.key, key.c_str(), key.size() + 1);
    std::memcpy(entry.text, value.data(), value.size());
    entry.bytes = value.size();
    entry.published.store(true, std::memory_order_release);
  }

  void fetch(Rank rank, const std::string& key, Fetched done) override {
    fetches_.emplace_back([this, rank, key, done = std::move(done)] {
      const auto& values = shared_.slots[static_cast<std::size_t>(rank)].values;
      const auto is_it = [&key](const auto& each) {
        return each.published.load(std::memory_order_acquire) && each.key == key;
      };
      auto found = std::ranges::find_if(values, is_it);
      for (; !stop_.load() && found == std::end(values); found = std::ranges::find_if(values, is_it))
        std::this_thread::sleep_for(kPollInterval);
      if (found == std::end(values)) return;
      done(std::string(found->text, found->bytes), {});
    });
  }

  bool fence(double timeout_s, const std::function<void()>& idle) override {
    if (!std::exchange(in_fence_, true)) ++shared_.in_fence;
    return wait_until(
        [&] {
          if (idle) idle();
          return shared_.in_fence.load() >= info_.size;
        },
        timeout_s);
  }

 private:
  ForkedJob::Shared& shared_;
  JobInfo info_;
  bool in_fence_ = false;
  std::atomic<bool> stop_{false};
  std::vector<std::thread> fetches_;
};

[[noreturn]] void run_child(const ForkedJob::Body& body, ForkedJob::Shared& shared, Rank rank,
                            const std::vector<int>& nodes, int result_fd) {
  current_job = &shared;
  current_rank = rank;
  shared.slots[static_cast<std::size_t>(rank)].process.store(::getpid());
  std::string text;
  try {
    text = body(std::make_unique<SharedStore>(shared, rank, nodes));
  } catch (const std::exception& error) {
    text = std::string("exception: ") + error.what();
  }
  const bool written = ::write(result_fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::_exit(written ? 0 : 1);
}

}  // namespace

ForkedJob::ForkedJob(const std::vector<Body>& bodies, std::vector<int> nodes) : children_(bodies.size()) {
  nodes.resize(bodies.size());
  void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || bodies.size() > kMaxRanks) throw std::runtime_error("ForkedJob: no shared memory");
  shared_ = new (memory) Shared{};
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("ForkedJob: pipe failed");
    const pid_t pid = ::fork();
    if (pid < 0) throw std::runtime_error("ForkedJob: fork failed");
    if (pid == 0) run_child(bodies[i], *shared_, static_cast<Rank>(i), nodes, ends[1]);
    ::close(ends[1]);
    children_[i] = {pid, ends[0]};
  }
}

ForkedJob::~ForkedJob() {
  for (const Child& child : children_) {
    if (child.pid > 0) {
      ::kill(child.pid, SIGKILL);
      ::waitpid(child.pid, nullptr, 0);
    }
    ::close(child.result_fd);
  }
  ::munmap(shared_, sizeof(Shared));
}

void ForkedJob::kill(Rank rank) { send_signal(rank, SIGKILL); }

void ForkedJob::send_signal(Rank rank, int signal) { ::kill(children_[static_cast<std::size_t>(rank)].pid, signal); }

std::string ForkedJob::result(Rank rank, double timeout_s) {
  Child& child = children_[static_cast<std::size_t>(rank)];
  int status = 0;
  const bool ended = wait_until([&] { return ::waitpid(child.pid, &status, WNOHANG) == child.pid; }, timeout_s);
  if (!ended) return "(still running)";
  child.pid = -1;
  if (WIFSIGNALED(status)) return "(killed)";
  std::string text(4096, '\0');
  const ssize_t bytes = ::read(child.result_fd, text.data(), text.size());
  text.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  return text;
}

bool ForkedJob::wait_for_mark(Rank rank, double timeout_s) {
  return wait_until([&] { return shared_->slots[static_cast<std::size_t>(rank)].marked.load(); }, timeout_s);
}

void ForkedJob::wait_for_end_of(Rank rank) {
  const std::atomic<pid_t>& process = current_job->slots[static_cast<std::size_t>(rank)].process;
  while (process.load() == 0) std::this_thread::sleep_for(kPollInterval);
  pollfd end{static_cast<int>(::syscall(SYS_pidfd_open, process.load(), 0)), POLLIN, 0};
  if (end.fd < 0) return;  // its parent has already collected its status
  ::poll(&end, 1, -1);
  ::close(end.fd);
}

void ForkedJob::mark() { set_mark(current_job->slots[static_cast<std::size_t>(current_rank)]); }

void ForkedJob::mark_again(Rank rank) { set_mark(shared_->slots[static_cast<std::size_t>(rank)]); }

double ForkedJob::seconds_since_mark(Rank rank) {
  using Clock = std::chrono::steady_clock;
  const Clock::duration marked_at(current_job->slots[static_cast<std::size_t>(rank)].marked_at.load());
  return std::chrono::duration<double>(Clock::now().time_since_epoch() - marked_at).count();
}

double ForkedJob::now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void ForkedJob::end_together(int ranks, double timeout_s) {
  ++current_job->at_end;
  static_cast<void>(wait_until([ranks] { return current_job->at_end.load() >= ranks; }, timeout_s));
}

}  // namespace fab::test
