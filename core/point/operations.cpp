#include "core/point/operations.h"

#include <utility>

namespace fab::core {

// Whether it needs polls shows when the message leaves, or is asked for.
void PointOperation::begin(Membership& communicator) {
  communicator_ = &communicator;
  held_ = in_flight_ = active_ = true;
  if (!status_.ok()) status_ = {};
  message_ = {};
  failed_rank_ = kNoRank;
  whole_ = nullptr;
  done_.store(false, std::memory_order_relaxed);
  urgency = Urgency::peers;
  engine().activated(*this);
}

void PointOperation::complete(Status status) {
  if (done()) return;
  status_ = std::move(status);
  moved();
  if (engine().recorder() != nullptr) [[unlikely]]
    record_message();
  if (held_ && (!status_.ok() || communicator_->scope().given_up_for != kNoRank))
    owner_.runtime().losses().ended(*this, communicator_->scope(), failed_rank_);
  done_.store(true, std::memory_order_release);
  engine().ended();
  if (whole_ != nullptr) whole_->part_ended(*this);
}

void PointOperation::moved() noexcept {
  count_settled();
  if (whole_ != nullptr) whole_->part_moved();
}

bool PointOperation::let_go_of() noexcept {
  held_ = false;
  whole_ = nullptr;
  communicator_ = nullptr;
  return !in_flight_;
}

void PointOperation::no_longer_active() {
  if (std::exchange(active_, false)) engine().deactivated(*this);
}

void PointOperation::abandon_for(Rank failed_rank, const Status& reason) {
  if (failed_rank_ == kNoRank) failed_rank_ = failed_rank;
  abandon(reason);
}

void PointOperation::fail_like(const Correspondent& lost) {
  failed_rank_ = lost.failed_rank;
  end(failure(lost.failure));
}

bool PointOperation::has_member(Rank world_rank) const { return held_ && communicator_->has_member(world_rank); }

void PointOperation::settle() {
  in_flight_ = false;
  no_longer_active();
}

}  // namespace fab::core
