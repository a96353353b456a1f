// Request: waits for one or several operations that were started, tests them, and gives them back to the core.
#include "fab/request.h"

#include <algorithm>
#include <string>

#include "bindings/native/base/raise.h"
#include "core/communicator/communicator.h"
#include "core/run/wait.h"
#include "core/run/watch.h"

namespace fab {

Request::Request(Request&& other) noexcept
    : communicator_(std::move(other.communicator_)),
      pending_(std::exchange(other.pending_, nullptr)),
      message_(other.message_) {}

Request& Request::operator=(Request&& other) noexcept {
  if (this == &other) return *this;
  if (pending_ != nullptr) static_cast<void>(wait_status());
  communicator_ = std::move(other.communicator_);
  pending_ = std::exchange(other.pending_, nullptr);
  message_ = other.message_;
  return *this;
}

Request::~Request() {
  if (pending_ != nullptr) static_cast<void>(wait_status());
}

// The communicator is dropped after the lock: it may be the last owner of the context that has the lock.
Status Request::release() {
  Status status = pending_->status();
  message_ = pending_->message();
  detach();
  return status;
}

void Request::detach() noexcept {
  if (pending_ == nullptr) return;
  {
    const core::Lock lock(communicator_->engine());
    pending_->let_go();
  }
  pending_ = nullptr;
  communicator_.reset();
}

void Request::cancel() {
  if (pending_ == nullptr) return;
  const core::Lock lock(communicator_->engine());
  pending_->cancel();
}

Status Request::wait_status() {
  if (pending_ == nullptr) return {};
  const std::shared_ptr<core::Communicator> communicator = std::move(communicator_);
  return core::complete(*std::exchange(pending_, nullptr), nullptr, &message_);
}

void Request::wait() { raise(wait_status()); }

void Request::make_progress() { static_cast<void>(core::test(*pending_)); }

Result<bool> Request::try_wait_until(std::chrono::steady_clock::time_point time) {
  if (pending_ == nullptr) return true;
  if (!core::wait_until(*pending_, time)) return false;
  return ended();
}

bool Request::wait_until(std::chrono::steady_clock::time_point time) { return try_wait_until(time).value(); }

Result<bool> Request::try_test() {
  if (pending_ == nullptr) return true;
  if (!core::test(*pending_)) return false;
  return ended();
}

bool Request::test() {
  if (pending_ == nullptr) return true;
  if (!core::test(*pending_)) return false;
  raise(release());
  return true;
}

bool Request::done() const noexcept { return pending_ == nullptr || pending_->done(); }

Result<bool> Request::ended() {
  Status status = release();
  if (status.ok()) return true;
  return status;
}

void Request::wait_all(std::span<Request> requests) {
  Status first;
  for (Request& request : requests) {
    Status status = request.wait_status();
    if (first.ok()) first = std::move(status);
  }
  raise(first);
}

bool Request::wait_all_until(std::span<Request> requests, std::chrono::steady_clock::time_point time) {
  const auto ends_in_time = [time](const Request& each) {
    return each.pending_ == nullptr || core::wait_until(*each.pending_, time);
  };
  if (!std::ranges::all_of(requests, ends_in_time)) return false;
  wait_all(requests);
  return true;
}

std::vector<core::Pending*> Request::pending(std::span<Request> requests, const char* call) {
  std::vector<core::Pending*> result;
  std::transform(requests.begin(), requests.end(), std::back_inserter(result),
                 [](const Request& request) { return request.pending_; });
  if (std::all_of(result.begin(), result.end(), [](const core::Pending* each) { return each == nullptr; }))
    throw Error(Errc::invalid_argument, std::string(call) + ": none of the requests is active");
  return result;
}

std::size_t Request::wait_any(std::span<Request> requests) {
  const std::size_t index = core::wait_any(pending(requests, "wait_any"));
  requests[index].wait();
  return index;
}

std::optional<std::size_t> Request::wait_any_until(std::span<Request> requests,
                                                   std::chrono::steady_clock::time_point time) {
  const std::optional<std::size_t> index = core::wait_any_until(pending(requests, "wait_any_until"), time);
  if (index) requests[*index].wait();
  return index;
}

std::vector<std::size_t> Request::end_complete(std::span<Request> requests) {
  std::vector<std::size_t> complete;
  Status first;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (requests[i].pending_ == nullptr || !requests[i].pending_->done()) continue;
    complete.push_back(i);
    requests[i].pending_->over(false);
    Status status = requests[i].release();
    if (first.ok()) first = std::move(status);
  }
  raise(first);
  return complete;
}

std::vector<std::size_t> Request::wait_some(std::span<Request> requests) {
  core::wait_any(pending(requests, "wait_some"));
  return end_complete(requests);
}

bool Request::test_all(std::span<Request> requests) {
  const auto is_complete = [](const Request& each) { return each.pending_ == nullptr || each.pending_->done(); };
  const auto left = std::find_if_not(requests.begin(), requests.end(), is_complete);
  if (left != requests.end()) static_cast<void>(core::test(*left->pending_));
  for (const Request& each : requests)
    if (!is_complete(each)) core::watch_tested(*each.pending_);
  if (!std::all_of(requests.begin(), requests.end(), is_complete)) return false;
  wait_all(requests);
  return true;
}

std::optional<std::size_t> Request::test_any(std::span<Request> requests) {
  const std::vector<core::Pending*> all = pending(requests, "test_any");
  const auto is_done = [](const core::Pending* each) { return each != nullptr && each->done(); };
  auto found = std::find_if(all.begin(), all.end(), is_done);
  if (found == all.end()) {
    static_cast<void>(core::test(**std::find_if(all.begin(), all.end(), [](const auto* each) { return each; })));
    core::watch_tested(all);
    found = std::find_if(all.begin(), all.end(), is_done);
  }
  if (found == all.end()) return std::nullopt;
  const auto index = static_cast<std::size_t>(found - all.begin());
  requests[index].wait();
  return index;
}

std::vector<std::size_t> Request::test_some(std::span<Request> requests) {
  const std::vector<core::Pending*> all = pending(requests, "test_some");
  const auto left = std::find_if(all.begin(), all.end(), [](const auto* each) { return each && !each->done(); });
  if (left != all.end()) static_cast<void>(core::test(**left));
  core::watch_tested(all);
  return end_complete(requests);
}

}  // namespace fab
