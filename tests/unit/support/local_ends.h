// Two ends of shared memory in this process, and the ways in which long messages travel between them.
#pragma once

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <functional>
#include <memory_resource>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "core/base/shared_heap.h"
#include "providers/local/local_provider.h"
#include "support/fill.h"
#include "support/outcome.h"
#include "unit/support/forbidden_calls.h"

namespace fab::test {

/// Made and compared in long stretches: sanitizers make each byte dear.
inline std::vector<std::byte> periodic_bytes(std::size_t bytes, unsigned seed) {
  std::vector<std::byte> result(bytes);
  constexpr std::size_t kPeriod = 4099;
  for (std::size_t i = 0; i < std::min(bytes, kPeriod); ++i) result[i] = static_cast<std::byte>(i * 31 + seed);
  for (std::size_t known = kPeriod; known < bytes; known *= 2)
    std::memcpy(result.data() + known, result.data(), std::min(known, bytes - known));
  return result;
}

/// fab's own memory, which peers map.
class MappedResource final : public std::pmr::memory_resource {
  void* do_allocate(std::size_t bytes, std::size_t) override { return core::SharedHeap::of_process().allocate(bytes); }
  void do_deallocate(void* memory, std::size_t, std::size_t) override { core::SharedHeap::of_process().free(memory); }
  [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

/// How long messages travel.
struct Way {
  const char* name;
  LocalLong wanted;
  bool forbidden = false;  ///< the kernel forbids to read other processes' memory
  bool mapped = false;     ///< they lie in memory of fab's
};

inline constexpr Way kWays[] = {{"automatic", LocalLong::automatic},
                                {"read", LocalLong::read},
                                {"ring", LocalLong::ring},
                                {"forbidden", LocalLong::read, true},
                                {"mapped", LocalLong::map, true, true}};

inline std::string name_of(const testing::TestParamInfo<Way>& info) { return info.param.name; }

/// What the kernel forbids it forbids to a thread, so that the other tests are spared.
inline void as_the_way_says(const Way& way, const std::function<void()>& body) {
  if (!way.forbidden) return body();
  std::thread([&] {
    ASSERT_TRUE(forbid(SYS_process_vm_readv));
    char from = 0;
    char to = 0;
    const iovec there{&from, 1};
    const iovec here{&to, 1};
    ASSERT_EQ(::process_vm_readv(::getpid(), &here, 1, &there, 1, 0), -1);
    body();
  }).join();
}

/// Two ends of shared memory in this process; the left one sends.
class LocalEnds : public testing::TestWithParam<Way> {
 protected:
  static inline MappedResource kMapped;
  struct Message {
    explicit Message(const std::vector<std::byte>& bytes)
        : resource(GetParam().mapped ? &kMapped : std::pmr::new_delete_resource()),
          memory(static_cast<std::byte*>(resource->allocate(bytes.size())), bytes.size()) {
      if (!bytes.empty()) std::memcpy(memory.data(), bytes.data(), bytes.size());
    }
    ~Message() { resource->deallocate(memory.data(), memory.size()); }
    Message(const Message&) = delete;
    Message& operator=(const Message&) = delete;

    std::pmr::memory_resource* resource;
    std::span<std::byte> memory;
    Outcome outcome;
  };

  static JobInfo job(Rank rank) {
    JobInfo info;
    info.rank = rank;
    info.size = info.local_size = 2;
    info.node_ranks = {0, 1};
    return info;
  }
  void send(Message& message, std::uint64_t tag) {
    const iovec piece{message.memory.data(), message.memory.size()};
    PostResult result = PostResult::again;
    while ((result = left_.post_send(to_right_, {&piece, 1}, tag, message.outcome)) == PostResult::again) poll();
    if (result == PostResult::done) message.outcome.ended = true;
  }
  void receive(Message& message, std::uint64_t tag) {
    const iovec piece{message.memory.data(), message.memory.size()};
    ASSERT_EQ(right_.post_recv(from_left_, {&piece, 1}, tag, 0, message.outcome), PostResult::pending);
  }
  void poll() {
    left_.poll();
    right_.poll();
  }
  void poll_until_all_ended(std::deque<Message>& messages) {
    for (int turn = 0; turn < 100'000; ++turn) {
      if (std::ranges::all_of(messages, [](const Message& each) { return each.outcome.ended; })) return;
      poll();
    }
    FAIL() << "nothing comes";
  }

  Log log_{LogLevel::warn, 0};
  local::LocalProvider left_{GetParam().wanted, job(0), log_};
  local::LocalProvider right_{GetParam().wanted, job(1), log_};
  PeerHandle to_right_ = left_.connect(right_.address());
  PeerHandle from_left_ = right_.connect(left_.address());
};

}  // namespace fab::test
