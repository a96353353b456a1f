// A process that belongs to no job: where the test may, of another user; it has libfabric, knows how fab's messages
// look, and finds out where a rank listens.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>

namespace fab::test {

/// An endpoint of the stranger's, connected to a rank's.
class Stranger {
 public:
  /// `place` is an address and a port, as messages of fab's name them: "127.0.0.1:4711". Throws std::runtime_error.
  Stranger(const std::string& provider, const std::string& place);
  ~Stranger();
  Stranger(const Stranger&) = delete;
  Stranger& operator=(const Stranger&) = delete;

  /// How long a message may take that the victim does not read.
  void set_time_limit(std::chrono::milliseconds limit) { time_limit_ = limit; }
  /// Returns when the message has left, or the provider or this stranger has given it up; whether it has left.
  bool send(std::uint64_t tag, std::span<const std::byte> bytes);
  /// The same with data for the receiver's completion queue.
  bool send(std::uint64_t tag, std::span<const std::byte> bytes, std::uint64_t data);
  /// A write with data for the target's completion queue. Returns as above.
  bool write(std::uint64_t address, std::uint64_t key, std::span<const std::byte> bytes, std::uint64_t data);
  /// One that names no memory.
  bool tell(std::uint64_t data);

 private:
  struct Objects;
  template <class Post>
  bool complete(Post post);

  std::unique_ptr<Objects> objects_;
  std::chrono::milliseconds time_limit_;
};

/// A place that leads to another one, and lets so many bytes through on the way there: then the connection stands.
class HalfWay {
 public:
  HalfWay(const std::string& place, std::size_t bytes);
  ~HalfWay();
  HalfWay(const HalfWay&) = delete;
  HalfWay& operator=(const HalfWay&) = delete;

  [[nodiscard]] std::string place() const;
  /// All of them have passed.
  [[nodiscard]] const std::atomic<bool>& stands() const noexcept { return stands_; }

 private:
  void carry();

  const std::string to_;
  std::size_t left_;
  int listener_ = -1;
  std::atomic<bool> stands_{false};
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

/// Forks a process that is no rank; if the test is root's, it belongs to an unprivileged user. Runs its body and tells
/// how it ended.
class StrangeProcess {
 public:
  /// Ends well when it returns true. Make it before the test process has threads.
  explicit StrangeProcess(const std::function<bool()>& body);
  /// Kills what still runs.
  ~StrangeProcess();
  StrangeProcess(const StrangeProcess&) = delete;
  StrangeProcess& operator=(const StrangeProcess&) = delete;

  /// Waits for its end; whether its body returned true.
  [[nodiscard]] bool ended_well();

 private:
  pid_t pid_;
};

}  // namespace fab::test
