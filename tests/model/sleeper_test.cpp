// While one thread sleeps on the descriptors another one of its rank polls or posts, and a third publishes: the sleeper
// is woken in every order of steps. The flag is the code's own; the engine's part (core/progress/sleep.cpp) is
// modelled.
#include <gtest/gtest.h>

#include <string>

#include "model/explorer.h"
#include "providers/local/sleep_flag.h"

namespace fab::model {
namespace {

constexpr const char* kLostWakeUp = "no thread can go on";

/// What one of the threads does wrong.
enum class Fault {
  none,
  poller_disarms,       ///< it silences the doorbell, as the sleeper does when it wakes, and goes
  finisher_goes,        ///< it has ended what the sleeper waits for, and does not call it
  poller_drains,        ///< the wake descriptor, as if the call were for it
  sleeper_misses_news,  ///< it does not look, under the lock, whether what it waits for has come since its last poll
  poster_goes,          ///< it does not look whether its receive meets what is there already
};

/// The lock of the engine.
class ModelledMutex {
 public:
  explicit ModelledMutex(Explorer& explorer) : explorer_(explorer) {}
  void reset() { locked_ = {}; }
  void lock() {
    for (std::uint32_t free = 0; !locked_.compare_exchange_weak(free, 1); free = 0)
      while (locked_.load() != 0) explorer_.pause();
  }
  void unlock() { locked_.store(0); }

 private:
  Explorer& explorer_;
  Atomic<std::uint32_t> locked_{};
};

/// One rank: its engine and its provider.
class Rank {
 public:
  Rank(Explorer& explorer, Fault fault) : explorer_(explorer), fault_(fault), mutex_(explorer) {}

  void reset(bool posted) {
    mutex_.reset();
    flag_ = {};
    published_ = descriptors_ = done_ = {};
    armed_ = sleeps_ = called_ = false;
    posted_ = posted;
    taken_ = false;
  }

  // Another rank.
  void publish() {
    published_.store(1, std::memory_order_release);
    if (flag_.claim(false)) descriptors_.fetch_add(kSound);
  }

  // The thread that waits for the message. Its last poll has not found it.
  void wait() {
    while (done_.load(std::memory_order_acquire) == 0) {
      if (begin_sleep())
        while (descriptors_.load() == 0) explorer_.pause();
      mutex_.lock();
      sleeps_ = false;
      disarm();
      drain(kCall);
      poll();
      mutex_.unlock();
    }
  }

  // And the other one.
  void poll_once() {
    mutex_.lock();
    if (fault_ == Fault::poller_disarms && armed_) disarm();
    poll();
    if (fault_ == Fault::poller_drains) drain(kCall);
    before_release(fault_ != Fault::poller_disarms);
    mutex_.unlock();
  }
  /// It sends the message itself, within the rank.
  void finish() {
    mutex_.lock();
    take();
    before_release(fault_ != Fault::finisher_goes);
    mutex_.unlock();
  }
  void post() {
    mutex_.lock();
    posted_ = true;
    before_release(fault_ != Fault::poster_goes);
    mutex_.unlock();
  }

 private:
  static constexpr std::uint32_t kSound = 1;  ///< what the descriptors have to tell
  static constexpr std::uint32_t kCall = 1u << 16;

  void poll() {
    if (!posted_) return;
    if (published_.load(std::memory_order_acquire) != 0) take();
  }
  void take() {
    taken_ = true;
    done_.store(1, std::memory_order_release);
  }
  bool may_sleep() {
    if (!armed_) flag_.raise([this] { explorer_.barrier_on_all(); });
    armed_ = true;
    return !posted_ || taken_ || published_.load(std::memory_order_acquire) == 0;
  }
  bool begin_sleep() {
    mutex_.lock();
    const bool has_news = taken_ && fault_ != Fault::sleeper_misses_news;
    sleeps_ = !has_news && may_sleep();
    called_ = false;
    const bool sleeps = sleeps_;
    mutex_.unlock();
    return sleeps;
  }
  void before_release(bool looks) {
    if (!looks || !sleeps_ || called_ || (!taken_ && may_sleep())) return;
    called_ = true;
    descriptors_.fetch_add(kCall);
  }
  void disarm() {
    armed_ = false;
    flag_.lower();
    drain(kSound);
  }
  /// Calls are made under the lock; rings may be added meanwhile.
  void drain(std::uint32_t what) {
    const std::uint32_t told = descriptors_.load();
    const std::uint32_t its = what == kCall ? told / kCall * kCall : told % kCall;
    if (its > 0) descriptors_.fetch_add(0u - its);
  }

  Explorer& explorer_;
  const Fault fault_;
  ModelledMutex mutex_;
  local::BasicSleepFlag<Atomic> flag_{};
  Atomic<std::uint32_t> published_{};
  Atomic<std::uint32_t> descriptors_{};  ///< of the doorbell and to be called, as poll(2) looks at both
  Atomic<std::uint32_t> done_{};
  // Under the lock.
  bool armed_ = false;
  bool sleeps_ = false;
  bool called_ = false;
  bool posted_ = false;
  bool taken_ = false;
};

/// The message comes from elsewhere, and another thread of the rank does that meanwhile.
std::string wait_beside(void (Rank::*other)(), Fault fault) {
  Explorer explorer;
  Rank rank(explorer, fault);
  const bool posted = other != &Rank::post;
  return explorer
      .explore([&] { rank.reset(posted); }, {[&] { rank.publish(); }, [&] { rank.wait(); }, [&] { (rank.*other)(); }})
      .failure;
}

/// The message comes from another thread of the rank; a third one polls.
std::string wait_for_own_message(Fault fault) {
  Explorer explorer;
  Rank rank(explorer, fault);
  return explorer
      .explore([&] { rank.reset(true); }, {[&] { rank.finish(); }, [&] { rank.wait(); }, [&] { rank.poll_once(); }})
      .failure;
}

TEST(SleeperModel, IsWokenBesideAPoller) { EXPECT_EQ(wait_beside(&Rank::poll_once, Fault::none), ""); }

TEST(SleeperModel, IsWokenBesideAPoster) { EXPECT_EQ(wait_beside(&Rank::post, Fault::none), ""); }

TEST(SleeperModel, IsWokenByAThreadOfItsOwn) { EXPECT_EQ(wait_for_own_message(Fault::none), ""); }

TEST(SleeperModel, OversleepsWhereAPollerDisarms) {
  EXPECT_EQ(wait_beside(&Rank::poll_once, Fault::poller_disarms), kLostWakeUp);
}

TEST(SleeperModel, OversleepsWhereItDoesNotLookForNews) {
  EXPECT_EQ(wait_beside(&Rank::poll_once, Fault::sleeper_misses_news), kLostWakeUp);
}

TEST(SleeperModel, OversleepsWhereAPosterDoesNotLook) {
  EXPECT_EQ(wait_beside(&Rank::post, Fault::poster_goes), kLostWakeUp);
}

TEST(SleeperModel, OversleepsWithoutACall) { EXPECT_EQ(wait_for_own_message(Fault::finisher_goes), kLostWakeUp); }

TEST(SleeperModel, OversleepsWhereAPollerDrainsItsCall) {
  EXPECT_EQ(wait_for_own_message(Fault::poller_drains), kLostWakeUp);
}

}  // namespace
}  // namespace fab::model
