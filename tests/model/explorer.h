// Runs a few threads in every order that their atomic operations can have, with every value that a load may return.
//
// Threads are fibers; the explorer decides before each atomic operation who goes on. A location keeps all its stores. A
// load may return any of them, unless a later one happens before the load, or this thread has seen a later one
// (C++20's release and acquire, by vector clocks). Sequentially consistent operations are ordered as they are executed.
// Ordinary memory is not modelled but watched: two accesses that nothing orders are a failure. Orders that differ only
// in steps that do not concern each other are run once (sleep sets: Godefroid, Partial-Order Methods for the
// Verification of Concurrent Systems, 1996, chapter 5).
//
// Not modelled: loads that return what is stored only afterwards (a release store after an ordinary read that it does
// not order shows as such an unordered access all the same), and fences other than barrier_on_all().
#pragma once

#include <ucontext.h>

#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace fab::model {

inline constexpr std::size_t kMostThreads = 3;

/// Of each thread the number of its operations that happened before.
using Clock = std::array<std::uint32_t, kMostThreads>;

/// What an operation on an atomic is. Release and acquire tell what its memory order amounts to.
struct Operation {
  bool acquire = false;
  bool release = false;
  bool sequential = false;
};

enum class Side { loads, stores };

class Explorer {
 public:
  using Body = std::function<void()>;
  struct Outcome {
    std::uint64_t executions = 0;  ///< to the end; others were found to repeat one
    std::string failure;           ///< of the first execution that failed, which is the last; empty: there was none
  };

  Explorer();
  ~Explorer();
  Explorer(const Explorer&) = delete;
  Explorer& operator=(const Explorer&) = delete;

  /// From now on loads (stores) of atomics in that memory acquire (release) nothing, even if the code says so.
  void weaken(const void* memory, std::size_t bytes, Side side);
  /// Every execution begins with `reset`. At most kMostThreads bodies.
  Outcome explore(const Body& reset, const std::vector<Body>& bodies);

  /// The one that exists.
  static Explorer& the() { return *the_; }

  // For the bodies.
  [[nodiscard]] std::uint64_t load(const void* location, std::uint64_t initial, Operation operation);
  void store(const void* location, std::uint64_t initial, std::uint64_t value, Operation operation);
  /// Stores what `change` makes of the latest value, which is returned.
  std::uint64_t exchange(const void* location, std::uint64_t initial,
                         const std::function<std::uint64_t(std::uint64_t)>& change, Operation operation);
  /// membarrier(2): every thread executes a full fence.
  void barrier_on_all();
  /// Goes on once one of the locations that it has loaded since its last pause has a newer value than it got last, and
  /// sees the latest there then.
  void pause();
  void reads(const void* memory, std::size_t bytes) { access(memory, bytes, false); }
  void writes(const void* memory, std::size_t bytes) { access(memory, bytes, true); }
  void require(bool good, const char* what);

 private:
  struct Store {
    std::uint64_t value = 0;
    std::size_t thread = 0;
    std::uint32_t time = 0;  ///< of the thread
    Clock released{};        ///< what a load that acquires learns
  };
  struct Location {
    std::vector<Store> stores;
    std::array<std::size_t, kMostThreads> seen{};  ///< no thread reads an older one again
    std::size_t sequential = 0;                    ///< the latest sequentially consistent store
  };
  /// A cache line of ordinary memory: when each thread accessed it.
  struct Line {
    Clock written{};
    Clock read{};
  };
  /// What a thread does next.
  struct Step {
    const void* location = nullptr;  ///< none: nothing that concerns others
    bool stores = false;
    bool on_all = false;

    [[nodiscard]] bool concerns(const Step& other) const {
      return on_all || other.on_all || (location == other.location && (stores || other.stores));
    }
  };
  struct Thread {
    ucontext_t context{};
    std::vector<std::byte> stack;
    Clock clock{};
    Step next{};
    bool ended = false;
    bool asleep = false;  ///< going on here was tried, and nothing that concerns it has happened since
    std::map<const void*, std::size_t> looked_at;  ///< since the last pause, and the store that the last load returned
    bool paused = false;
  };
  struct Choice {
    std::size_t taken = 0;
    std::size_t count = 0;
  };
  struct Weakness {
    const std::byte* begin = nullptr;
    const std::byte* end = nullptr;
    Side side = Side::loads;
  };

  static void enter_thread();
  void run_once(const Body& reset, const std::vector<Body>& bodies);
  void start(std::size_t number);
  bool next_execution();
  std::size_t choose(std::size_t count);
  [[nodiscard]] std::vector<Location*> newer_than_seen(const Thread& thread);
  [[nodiscard]] bool can_run(const Thread& thread);
  void let_someone_run();
  [[nodiscard]] std::size_t choose_thread();
  void before(const Step& step);
  [[noreturn]] void fail(const std::string& what);

  Thread& self() { return threads_[current_]; }
  Location& at(const void* location, std::uint64_t initial);
  [[nodiscard]] bool weak(const void* location, Side side) const;
  void append(Location& location, std::uint64_t value, const Clock& inherited, const Operation& operation);
  void access(const void* memory, std::size_t bytes, bool write);

  static inline Explorer* the_ = nullptr;
  const std::vector<Body>* bodies_ = nullptr;
  std::vector<Thread> threads_;
  std::size_t current_ = 0;
  ucontext_t outside_{};
  std::vector<Choice> choices_;
  std::size_t depth_ = 0;
  std::map<const void*, Location> locations_;
  std::map<std::uintptr_t, Line> lines_;
  std::vector<Weakness> weaknesses_;
  std::string failure_;
};

/// In the place of std::atomic, with its orders.
template <std::unsigned_integral Value>
class Atomic {
 public:
  [[nodiscard]] Value load(std::memory_order order = std::memory_order_seq_cst) const noexcept {
    return static_cast<Value>(Explorer::the().load(this, initial_, of(order)));
  }
  void store(Value value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    Explorer::the().store(this, initial_, value, of(order));
  }
  Value exchange(Value value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    return change([value](std::uint64_t) { return value; }, order);
  }
  Value fetch_add(Value value, std::memory_order order = std::memory_order_seq_cst) noexcept {
    return change([value](std::uint64_t old) { return static_cast<Value>(old + value); }, order);
  }
  /// Never fails without cause.
  bool compare_exchange_weak(Value& expected, Value desired,
                             std::memory_order order = std::memory_order_seq_cst) noexcept {
    const Value known = expected;
    expected = change([known, desired](std::uint64_t old) { return old == known ? desired : old; }, order);
    return expected == known;
  }

 private:
  static constexpr Operation of(std::memory_order order) {
    const bool both = order == std::memory_order_acq_rel || order == std::memory_order_seq_cst;
    return {.acquire = both || order == std::memory_order_acquire || order == std::memory_order_consume,
            .release = both || order == std::memory_order_release,
            .sequential = order == std::memory_order_seq_cst};
  }
  Value change(const std::function<std::uint64_t(std::uint64_t)>& how, std::memory_order order) {
    return static_cast<Value>(Explorer::the().exchange(this, initial_, how, of(order)));
  }

  Value initial_;
};

}  // namespace fab::model
