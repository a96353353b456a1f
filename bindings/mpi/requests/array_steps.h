// One pass of the completion calls that take arrays of requests, shared by the waiting and the testing form of each.
#pragma once

#include <mpi.h>

#include "bindings/mpi/base/failure.h"
#include "bindings/mpi/interception/next.h"
#include "bindings/mpi/requests/exchange.h"
#include "bindings/mpi/requests/request_array.h"

namespace fab::mpi {

/// Reports a failed exchange as the result of a call that gives one status.
inline int raise(const Outcome& outcome) noexcept {
  return outcome.attachment == nullptr ? outcome.code : call_error_handler(outcome.attachment->comm, outcome.code);
}

inline MPI_Status* nth(MPI_Status statuses[], int k) noexcept {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[k];
}

/// Ends the exchanges among the `count` requests that a call has found complete, index(k) being the k-th, and returns
/// what the call returns, `code` being MPI's own result for the others.
template <class Index>
int settle(int code, int count, MPI_Status statuses[], RequestArray& array, Index&& index) {
  std::shared_ptr<Attachment> failed;
  const auto set = [statuses](int k, int error) {
    if (statuses != MPI_STATUSES_IGNORE) statuses[k].MPI_ERROR = error;
  };
  for (int k = 0; k < count; ++k) {
    const Outcome outcome = array.end(index(k));
    if (outcome.code == MPI_SUCCESS) continue;
    if (failed == nullptr && code == MPI_SUCCESS)
      for (int other = 0; other < count; ++other) set(other, MPI_SUCCESS);
    if (failed == nullptr) failed = outcome.attachment;
    set(k, outcome.code);
  }
  if (failed == nullptr || code != MPI_SUCCESS) return code;  // MPI has called an error handler for its own requests
  return call_error_handler(failed->comm, MPI_ERR_IN_STATUS);
}

// Each look returns whether the call is over.

/// What is complete becomes known to MPI at once, to fab when the call is over.
class All {
 public:
  All(int count, MPI_Request requests[], MPI_Status statuses[])
      : array(count, requests), count_(count), requests_(requests), statuses_(statuses) {}

  bool wait_step() {
    if (array.others()) look_at_others();
    return !array.others() && array.all_ready();
  }
  bool test_step() {
    if (!array.all_ready()) return false;
    if (array.others()) look_at_others();
    return !array.others();
  }
  [[nodiscard]] int settle() {
    if (!mpi_gave_statuses_)
      for (int k = 0; k < count_; ++k) make_empty(nth(statuses_, k));
    return mpi::settle(code_, count_, statuses_, array, [](int k) { return k; });
  }

  RequestArray array;

 private:
  void look_at_others() {
    int flag = 0;
    code_ = next_pmpi.testall(count_, requests_, &flag, statuses_);
    if (flag == 0 && code_ == MPI_SUCCESS) return;
    array.others_ended();
    mpi_gave_statuses_ = true;
  }

  int count_;
  MPI_Request* requests_;
  MPI_Status* statuses_;
  int code_ = MPI_SUCCESS;
  bool mpi_gave_statuses_ = false;
};

class Any {
 public:
  Any(int count, MPI_Request requests[], int* index, MPI_Status* status)
      : array(count, requests), count_(count), requests_(requests), index_(index), status_(status) {}

  bool step() {
    *index_ = array.find_ready();
    ready_ = *index_ >= 0;
    if (ready_) return true;
    *index_ = MPI_UNDEFINED;
    if (!array.others()) return !array.exchanges_active();
    int flag = 0;
    code_ = next_pmpi.testany(count_, requests_, index_, &flag, status_);
    if (code_ != MPI_SUCCESS) return true;
    return flag != 0 && (*index_ != MPI_UNDEFINED || !array.exchanges_active());
  }
  [[nodiscard]] int settle() {
    if (ready_ || !array.others()) make_empty(status_);
    return ready_ ? raise(array.end(*index_)) : code_;
  }

  RequestArray array;

 private:
  int count_;
  MPI_Request* requests_;
  int* index_;
  MPI_Status* status_;
  int code_ = MPI_SUCCESS;
  bool ready_ = false;
};

class Some {
 public:
  Some(int count, MPI_Request requests[], int* completed, int indices[], MPI_Status statuses[])
      : array(count, requests),
        count_(count),
        requests_(requests),
        completed_(completed),
        indices_(indices),
        statuses_(statuses) {}

  /// MPI's come first among those that are complete.
  bool step() {
    const bool any_active = look_at_others() || array.exchanges_active();
    int index = array.find_ready();
    if (index >= 0 && *completed_ == MPI_UNDEFINED) *completed_ = 0;
    for (; index >= 0; index = array.find_ready(index + 1)) {
      make_empty(nth(statuses_, *completed_));
      indices_[(*completed_)++] = index;
    }
    if (any_active && *completed_ == MPI_UNDEFINED) *completed_ = 0;
    return *completed_ != 0 || code_ != MPI_SUCCESS;
  }
  [[nodiscard]] int settle() {
    const int count = *completed_ == MPI_UNDEFINED ? 0 : *completed_;
    return mpi::settle(code_, count, statuses_, array, [this](int k) { return indices_[k]; });
  }

  RequestArray array;

 private:
  /// Whether there are active ones.
  bool look_at_others() {
    *completed_ = MPI_UNDEFINED;
    if (!array.others()) return false;
    code_ = next_pmpi.testsome(count_, requests_, completed_, indices_, statuses_);
    return *completed_ != MPI_UNDEFINED;
  }

  int count_;
  MPI_Request* requests_;
  int* completed_;
  int* indices_;
  MPI_Status* statuses_;
  int code_ = MPI_SUCCESS;
};

}  // namespace fab::mpi
