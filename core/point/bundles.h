// Bundles: short messages to one rank of another node that leave as one, where many are sent without a look at the
// network in between.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/base/engine_lock.h"
#include "core/point/envelope.h"
#include "core/progress/engine.h"
#include "core/progress/task.h"

namespace fab::core {

struct Correspondent;
struct OutgoingEnvelope;

/// A bundle is open from its first message on. It leaves with the engine's next progress, or when it is full, or ahead
/// of another message to its rank. A lone message is never part of one, nor is a message while a thread waits. Guarded
/// by the engine's lock.
class Bundles final : private Task {
 public:
  /// As many short messages leave on their own between two progresses: a program that sends a few, and then computes,
  /// would make the later ones wait for the progress thread.
  static constexpr int kAlone = 16;
  /// The longest message that joins one, and all of one together, with their envelopes.
  static constexpr std::size_t kMostOfOne = sizeof(Envelope) + 4096;
  static constexpr std::size_t kMost = 16 * 1024;

  using Leave = std::function<void(OutgoingEnvelope& bundle)>;

  /// `leave` posts a bundle. Both outlive this.
  Bundles(Engine& engine, Leave leave) : engine_(engine), leave_(std::move(leave)) {}
  ~Bundles();
  Bundles(const Bundles&) = delete;
  Bundles& operator=(const Bundles&) = delete;

  /// Whether a message of so many bytes, envelope included, is to be part of a bundle. Counts it.
  [[nodiscard]] bool wants(Correspondent& to, std::size_t bytes) FAB_REQUIRES(engine_lock);
  /// Bytes for the next message of `to`, in its bundle; null: there is none, or it is full, and has left.
  [[nodiscard]] std::byte* join(Correspondent& to, std::size_t bytes) FAB_REQUIRES(engine_lock);
  void open(Correspondent& to, OutgoingEnvelope& bundle) FAB_REQUIRES(engine_lock);
  /// Lets that of `to` leave, if there is one.
  void flush(Correspondent& to) FAB_REQUIRES(engine_lock);

 private:
  bool may_begin() const noexcept override FAB_REQUIRES(engine_lock) { return true; }
  void begin() override FAB_REQUIRES(engine_lock);
  bool begin_user_work() noexcept override FAB_REQUIRES(engine_lock) { return false; }
  void do_user_work() override {}
  void local_operations_done() override FAB_REQUIRES(engine_lock) {}

  Engine& engine_;
  Leave leave_;
  std::vector<Correspondent*> open_ FAB_GUARDED_BY(engine_lock);  ///< those that may have an open one
};

}  // namespace fab::core
