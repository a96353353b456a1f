#include "core/point/sendrecv_operation.h"

#include <utility>

namespace fab::core {

void SendrecvOperation::start(Membership& communicator, std::string_view call, int parts) {
  communicator_ = &communicator;
  call_ = call;
  send_ = nullptr;
  receive_ = nullptr;
  ended_last_ = nullptr;
  parts_left_ = parts;
  status_ = {};
  message_ = {};
  done_.store(false, std::memory_order_relaxed);
}

void SendrecvOperation::join(SendOperation& send) {
  send_ = &send;
  join(static_cast<PointOperation&>(send));
}

void SendrecvOperation::join(ReceiveOperation& receive) {
  receive_ = &receive;
  join(static_cast<PointOperation&>(receive));
}

void SendrecvOperation::join(PointOperation& part) {
  number = static_cast<Pending&>(part).number;
  part.belongs_to(*this);
  if (part.done()) part_ended(part);
}

template <class Use>
void SendrecvOperation::for_each_pending(Use&& use) const {
  if (send_ != nullptr && !send_->done()) use(static_cast<PointOperation&>(*send_));
  if (receive_ != nullptr && !receive_->done()) use(static_cast<PointOperation&>(*receive_));
}

// To cancel the receive ends it, by another call of this.
void SendrecvOperation::part_ended(PointOperation& part) {
  ended_last_ = &part;
  --parts_left_;
  const bool send_failed = send_ != nullptr && send_->done() && !send_->status().ok();
  if (&part == send_ && send_failed && receive_ != nullptr && !receive_->done()) receive_->cancel();
  if (parts_left_ > 0 || done()) return;
  if (receive_ != nullptr) message_ = receive_->message();
  if (send_failed)
    status_ = send_->status();
  else if (receive_ != nullptr)
    status_ = receive_->status();
  done_.store(true, std::memory_order_release);
  owner_.runtime().engine().ended();
}

std::string SendrecvOperation::describe_pending() const {
  std::string text;
  for_each_pending([&](const PointOperation& part) FAB_REQUIRES(engine_lock) {
    if (!text.empty()) text += "; ";
    text += part.describe_pending();
  });
  return text;
}

CallScope* SendrecvOperation::held_scope() const noexcept {
  return communicator_ == nullptr ? nullptr : &communicator_->scope();
}

void SendrecvOperation::abandon(const Status& reason) {
  for_each_pending([&](PointOperation& part) FAB_REQUIRES(engine_lock) { part.abandon(reason); });
}

// The wait was for the part that ended last.
Peer* SendrecvOperation::waited(std::uint64_t ns) noexcept {
  return ended_last_ == nullptr ? nullptr : ended_last_->waited(ns);
}

void SendrecvOperation::stalled() {
  for_each_pending([](PointOperation& part) FAB_REQUIRES(engine_lock) { part.stalled(); });
}

void SendrecvOperation::let_go() noexcept {
  if (send_ != nullptr) send_->let_go();
  if (receive_ != nullptr) receive_->let_go();
  communicator_ = nullptr;
  owner_.release(*this);
}

}  // namespace fab::core
