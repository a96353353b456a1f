// A send and a receive that are one operation (MPI-4.1, 3.10).
#pragma once

#include <string>
#include <string_view>

#include "core/base/engine_lock.h"
#include "core/job/membership.h"
#include "core/point/operations.h"
#include "core/progress/pending.h"

namespace fab::core {

/// Complete once both parts are. A failed send cancels the receive. The engine lists the parts, not the whole.
class SendrecvOperation final : public Pending, public WholeOperation {
 public:
  explicit SendrecvOperation(PointHost& owner) noexcept : owner_(owner) {}

  /// The parts join afterwards, all under one hold of the lock.
  void start(Membership& communicator, std::string_view call, int parts) FAB_REQUIRES(engine_lock);
  void join(SendOperation& send) FAB_REQUIRES(engine_lock);
  void join(ReceiveOperation& receive) FAB_REQUIRES(engine_lock);

  [[nodiscard]] Membership& membership() const noexcept override { return *communicator_; }
  [[nodiscard]] std::string_view name() const noexcept override { return call_; }
  [[nodiscard]] std::string describe_pending() const override FAB_REQUIRES(engine_lock);
  [[nodiscard]] CallScope* held_scope() const noexcept override FAB_REQUIRES(engine_lock);
  void abandon(const Status& reason) override FAB_REQUIRES(engine_lock);
  Peer* waited(std::uint64_t ns) noexcept override FAB_REQUIRES(engine_lock);
  void stalled() override FAB_REQUIRES(engine_lock);
  void let_go() noexcept override FAB_REQUIRES(engine_lock);

  void part_moved() noexcept override { count_settled(); }
  void part_ended(PointOperation& part) override FAB_REQUIRES(engine_lock);

 private:
  void join(PointOperation& part) FAB_REQUIRES(engine_lock);
  /// Calls `use` with each part that is not complete.
  template <class Use>
  void for_each_pending(Use&& use) const FAB_REQUIRES(engine_lock);

  PointHost& owner_;
  Membership* communicator_ = nullptr;  ///< while held
  std::string_view call_;
  SendOperation* send_ FAB_GUARDED_BY(engine_lock) = nullptr;
  ReceiveOperation* receive_ FAB_GUARDED_BY(engine_lock) = nullptr;
  PointOperation* ended_last_ FAB_GUARDED_BY(engine_lock) = nullptr;
  int parts_left_ FAB_GUARDED_BY(engine_lock) = 0;
};

}  // namespace fab::core
