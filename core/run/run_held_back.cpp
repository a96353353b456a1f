// Sends and copies that a start holds back until their data is there: the parts of a partitioned exchange.
#include "core/run/run.h"

namespace fab::core {

void Run::hold_back() {
  if (plan_.round_count() == 0) return;
  holds_back_ = true;
  held_back_.assign(plan_.messages(0).size() + plan_.local_operations(0).size(), 0);
}

void Run::hold_back_again() noexcept {
  const auto messages = plan_.messages(0);
  held_back_count_ = 0;
  for (std::size_t i = 0; i < held_back_.size(); ++i) {
    held_back_[i] = i >= messages.size() || messages[i].kind == OperationKind::send ? 1 : 0;
    held_back_count_ += held_back_[i];
  }
}

bool Run::hold_back_no_more(std::size_t operation) noexcept {
  if (!is_held_back(operation)) return false;
  held_back_[operation] = 0;
  --held_back_count_;
  return true;
}

// One that fails takes others back, and the last one that settles may end the run: not before all have been posted.
void Run::go_ahead(const Arrival& operations) {
  const bool posts = begun_ && !done();  // otherwise the run begins later, or has ended
  if (posts) ++pending_;
  for (std::size_t i = operations.first; i < std::size_t{operations.first} + operations.count; ++i) {
    if (!hold_back_no_more(i) || !posts) continue;
    if (i >= used_transfers_) {
      copy_now(i);
      --pending_;
    } else if (transfers_[i].state == Transfer::State::due) {
      if (transfers_[i].operation->packs()) stage_send(*transfers_[i].operation);
      repost(transfers_[i]);
    }
  }
  if (posts) local_operations_done();
}

// Before the first message is posted, whose failure would give up copies that are held back.
void Run::copy_what_may_go() {
  for (std::size_t i = used_transfers_; i < held_back_.size(); ++i)
    if (is_held_back(i))
      ++pending_;
    else
      copy_now(i);
  if (!status_.ok()) give_up_held_back();
}

void Run::copy_now(std::size_t operation) {
  do_operations(plan_.local_operations(0).subspan(operation - used_transfers_, 1));
  if (unequal_ != nullptr) fail_unequal();
  engine_.ended();  // threads may be waiting for the block
}

bool Run::are_copied(const Arrival& copies) const noexcept {
  for (std::size_t i = copies.first; i < std::size_t{copies.first} + copies.count; ++i)
    if (is_held_back(i)) return false;
  return true;
}

// A run that has failed does not wait for its user, who may have given up as well.
void Run::give_up_held_back() {
  for (std::size_t i = 0; i < held_back_.size(); ++i) {
    if (!hold_back_no_more(i) || !begun_) continue;
    if (i < used_transfers_) {
      Transfer& transfer = transfers_[i];
      if (transfer.state != Transfer::State::due) continue;  // taken back before
      tell(*transfer.operation);
      transfer.state = Transfer::State::idle;
    }
    --pending_;
  }
  engine_.ended();  // as in copy_now
}

}  // namespace fab::core
