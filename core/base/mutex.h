// A mutex that Clang's thread-safety analysis understands; with other compilers the annotations vanish.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#if defined(__clang__)
#define FAB_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define FAB_THREAD_ANNOTATION(x)
#endif

#define FAB_CAPABILITY(name) FAB_THREAD_ANNOTATION(capability(name))
#define FAB_SCOPED_CAPABILITY FAB_THREAD_ANNOTATION(scoped_lockable)
#define FAB_GUARDED_BY(mutex) FAB_THREAD_ANNOTATION(guarded_by(mutex))
#define FAB_PT_GUARDED_BY(mutex) FAB_THREAD_ANNOTATION(pt_guarded_by(mutex))
#define FAB_REQUIRES(...) FAB_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define FAB_EXCLUDES(...) FAB_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))
#define FAB_ACQUIRE(...) FAB_THREAD_ANNOTATION(acquire_capability(__VA_ARGS__))
#define FAB_RELEASE(...) FAB_THREAD_ANNOTATION(release_capability(__VA_ARGS__))
#define FAB_TRY_ACQUIRE(...) FAB_THREAD_ANNOTATION(try_acquire_capability(__VA_ARGS__))
#define FAB_ASSERT_CAPABILITY(x) FAB_THREAD_ANNOTATION(assert_capability(x))
#define FAB_NO_ANALYSIS FAB_THREAD_ANNOTATION(no_thread_safety_analysis)

namespace fab::core {

class FAB_CAPABILITY("mutex") Mutex {
 public:
  void lock() FAB_ACQUIRE() { mutex_.lock(); }
  void unlock() FAB_RELEASE() { mutex_.unlock(); }
  bool try_lock() FAB_TRY_ACQUIRE(true) { return mutex_.try_lock(); }
  /// Until a notice of `changed` or the deadline, and now and then for no reason; others may hold the mutex meanwhile.
  /// False: the deadline has come.
  bool wait_until(std::condition_variable& changed, std::chrono::steady_clock::time_point deadline) FAB_REQUIRES(this) {
    std::unique_lock<std::mutex> lock(mutex_, std::adopt_lock);
    const bool told = changed.wait_until(lock, deadline) == std::cv_status::no_timeout;
    lock.release();
    return told;
  }

 private:
  std::mutex mutex_;
};

class FAB_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) FAB_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~MutexLock() FAB_RELEASE() { mutex_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace fab::core
