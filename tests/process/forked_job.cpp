#include "process/forked_job.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <thread>

namespace fab::test {

namespace {

constexpr std::size_t kMaxRanks = 4;
constexpr std::size_t kMaxAddress = 512;
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
    std::size_t bytes;
    char address[kMaxAddress];
  };
  struct Slot {
    std::atomic<bool> marked;
    std::atomic<pid_t> process;
    Value values[2];  ///< within the node, and on the network

    Value& of(const std::string& key) { return values[key == "fab.node_address" ? 0 : 1]; }
  };
  Slot slots[kMaxRanks];
};

namespace {

/// The addresses of each rank in memory that all processes share.
class SharedStore final : public Store {
 public:
  SharedStore(ForkedJob::Shared& shared, Rank rank, int size) : shared_(shared) {
    info_.rank = rank;
    info_.size = info_.local_size = size;
    for (Rank each = 0; each < size; ++each) info_.node_ranks.push_back(each);
    info_.origin = "forked";
  }
  ~SharedStore() override {
    stop_.store(true);
    for (std::thread& thread : fetches_) thread.join();
  }

  const JobInfo& job() const noexcept override { return info_; }

  void publish(const std::string& key, std::string_view value) override {
    auto& slot = shared_.slots[static_cast<std::size_t>(info_.rank)].of(key);
    if (value.size() > kMaxAddress) throw std::length_error("address too long for the test's store");
    std::memcpy(slot.address, value.data(), value.size());
    slot.bytes = value.size();
    slot.published.store(true, std::memory_order_release);
  }

  void fetch(Rank rank, const std::string& key, Fetched done) override {
    fetches_.emplace_back([this, rank, key, done = std::move(done)] {
      const auto& slot = shared_.slots[static_cast<std::size_t>(rank)].of(key);
      while (!stop_.load() && !slot.published.load(std::memory_order_acquire))
        std::this_thread::sleep_for(kPollInterval);
      if (stop_.load()) return;
      done(std::string(slot.address, slot.bytes), {});
    });
  }

  bool fence(double, const std::function<void()>&) override { return true; }

 private:
  ForkedJob::Shared& shared_;
  JobInfo info_;
  std::atomic<bool> stop_{false};
  std::vector<std::thread> fetches_;
};

[[noreturn]] void run_child(const ForkedJob::Body& body, ForkedJob::Shared& shared, Rank rank, int size,
                            int result_fd) {
  current_job = &shared;
  current_rank = rank;
  shared.slots[static_cast<std::size_t>(rank)].process.store(::getpid());
  std::string text;
  try {
    text = body(std::make_unique<SharedStore>(shared, rank, size));
  } catch (const std::exception& error) {
    text = std::string("exception: ") + error.what();
  }
  const bool written = ::write(result_fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  ::_exit(written ? 0 : 1);
}

}  // namespace

ForkedJob::ForkedJob(const std::vector<Body>& bodies) : children_(bodies.size()) {
  void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || bodies.size() > kMaxRanks) throw std::runtime_error("ForkedJob: no shared memory");
  shared_ = new (memory) Shared{};
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("ForkedJob: pipe failed");
    const pid_t pid = ::fork();
    if (pid < 0) throw std::runtime_error("ForkedJob: fork failed");
    if (pid == 0) run_child(bodies[i], *shared_, static_cast<Rank>(i), static_cast<int>(bodies.size()), ends[1]);
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

void ForkedJob::kill(Rank rank) { ::kill(children_[static_cast<std::size_t>(rank)].pid, SIGKILL); }

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
  if (end.fd < 0) return;  // and nobody remembers it
  ::poll(&end, 1, -1);
  ::close(end.fd);
}

void ForkedJob::mark() { current_job->slots[static_cast<std::size_t>(current_rank)].marked.store(true); }

}  // namespace fab::test
