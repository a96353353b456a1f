#include "fab/request.h"

#include <algorithm>
#include <vector>

#include "core/communicator.h"
#include "core/wait.h"

namespace fab {

namespace {

[[noreturn]] void raise(const Status& status) { throw Error(status.errc(), status.message); }

}  // namespace

Request::Request(Request&& other) noexcept
    : communicator_(std::move(other.communicator_)), run_(std::exchange(other.run_, nullptr)) {}

Request& Request::operator=(Request&& other) noexcept {
  if (this == &other) return *this;
  if (run_ != nullptr) static_cast<void>(wait_status());
  communicator_ = std::move(other.communicator_);
  run_ = std::exchange(other.run_, nullptr);
  return *this;
}

Request::~Request() {
  if (run_ != nullptr) static_cast<void>(wait_status());
}

// The communicator is dropped after the lock: it may be the last owner of the context that has the lock.
Status Request::release() {
  Status status = run_->status();
  detach();
  return status;
}

void Request::detach() noexcept {
  if (run_ == nullptr) return;
  {
    const core::Lock lock(communicator_->engine().mutex);
    run_->let_go();
  }
  run_ = nullptr;
  communicator_.reset();
}

Status Request::wait_status() {
  if (run_ == nullptr) return {};
  Status status = core::complete(*std::exchange(run_, nullptr));
  communicator_.reset();
  return status;
}

void Request::wait() {
  if (const Status status = wait_status(); !status.ok()) raise(status);
}

bool Request::test() {
  if (run_ == nullptr) return true;
  if (!core::test(*run_)) return false;
  if (const Status status = release(); !status.ok()) raise(status);
  return true;
}

void Request::wait_all(std::span<Request> requests) {
  Status first;
  for (Request& request : requests) {
    Status status = request.wait_status();
    if (first.ok()) first = std::move(status);
  }
  if (!first.ok()) raise(first);
}

std::size_t Request::wait_any(std::span<Request> requests) {
  std::vector<core::Run*> runs;
  std::transform(requests.begin(), requests.end(), std::back_inserter(runs), [](const Request& r) { return r.run(); });
  if (std::all_of(runs.begin(), runs.end(), [](const core::Run* run) { return run == nullptr; }))
    throw Error(Errc::invalid_argument, "wait_any: none of the requests is active");
  const std::size_t index = core::wait_any(runs);
  requests[index].wait();
  return index;
}

}  // namespace fab
