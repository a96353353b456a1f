// A run between the two comparisons of its call (FAB_CHECK): it begins after one, and ends after the other.
#include <fmt/core.h>

#include <utility>

#include "core/run/run.h"

namespace fab::core {

bool Run::passes_check() {
  Run& check = *std::exchange(check_, nullptr);
  if (!check.status_.ok()) {
    const Status* own = plan_.failure();
    const Status& failure = own != nullptr ? *own : check.status_;
    status_ = {failure.code, fmt::format("{}: {}", plan_.schedule().name(), failure.message)};
    failed_rank_ = check.failed_rank_;
  } else if (const auto difference = comparison_->difference(check)) {
    status_ = {make_error_code(Errc::mismatch), fmt::format("{}: {}", plan_.schedule().name(), *difference)};
    all_know_ = true;
  } else {
    agreed_ = true;
  }
  count_settled();
  check.let_go();
  return status_.ok();
}

// True: the run need not wait for the others. Where the comparison before the call did not come to an end, no rank
// knows whether others get to the one after it, which is given up.
bool Run::tell_how_it_ended() noexcept {
  Run& closing = *closing_;
  if (all_know_) {
    plan_.membership().run_finished();
  } else {
    comparison_->tell(closing, name(), status_);
    closing.start();
    closes_ = status_.ok();
    if (closes_) {
      engine_.begin_later(*this);
      return false;
    }
    if (!agreed_) closing.abandon(status_);
  }
  closing_ = nullptr;
  closing.let_go();
  return true;
}

void Run::take_how_others_ended() {
  closes_ = false;
  Run& closing = *std::exchange(closing_, nullptr);
  if (closing.status_.ok()) status_ = comparison_->found(closing, name());
  closing.let_go();
  count_settled();
  end();
}

}  // namespace fab::core
