#include "core/bootstrap/pmix_fetcher.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/bootstrap/fetch.h"
#include "core/bootstrap/pmix_call.h"

namespace fab {
namespace {

constexpr std::chrono::milliseconds kFirstPause{1};
constexpr std::chrono::milliseconds kLongestPause{500};

/// Now and then PMIx 5.0.7 calls this job's own namespace invalid, and knows it the next time.
constexpr int kMostInvalid = 20;

bool is_not_there_yet(pmix_status_t status, int& invalid) {
  if (status == PMIX_ERR_INVALID_NAMESPACE) return ++invalid <= kMostInvalid;
  return status == PMIX_ERR_NOT_FOUND || status == PMIX_ERR_TIMEOUT;
}

std::string copy_bytes(const pmix_byte_object_t& object) {
  return object.bytes == nullptr ? std::string() : std::string(object.bytes, object.size);
}

void give_answer(const Store::Fetched& done, const std::string& call, pmix_status_t status, const pmix_value_t* value) {
  if (status != PMIX_SUCCESS) {
    done(std::nullopt, describe_pmix(call, status));
  } else if (value == nullptr || value->type != PMIX_BYTE_OBJECT) {
    done(std::nullopt, fmt::format("{}: the value is no byte object", call));
  } else {
    done(copy_bytes(value->data.bo), "");
  }
}

}  // namespace

void PmixFetcher::fetch(const pmix_proc_t& process, const std::string& key, Store::Fetched done) {
  auto request = std::make_unique<Request>();
  request->fetcher = shared_from_this();
  request->process = process;
  request->key = key;
  request->done = std::move(done);
  request->pause = kFirstPause;
  ask(std::move(request));
}

void PmixFetcher::ask(std::unique_ptr<Request> request) {
  bool is_closed = false;
  {
    const core::MutexLock lock(mutex_);
    is_closed = is_closed_;
    if (!is_closed) asked_.insert(request.get());
  }
  if (is_closed) return request->done(std::nullopt, kStoreClosed);
  const pmix_status_t status =
      PMIx_Get_nb(&request->process, request->key.c_str(), nullptr, 0, on_answer, request.get());
  Request* const asked = request.release();
  if (status != PMIX_SUCCESS) on_answer(status, nullptr, asked);
}

void PmixFetcher::on_answer(pmix_status_t status, pmix_value_t* value, void* request) {
  std::unique_ptr<Request> answered(static_cast<Request*>(request));
  const std::shared_ptr<PmixFetcher> fetcher = answered->fetcher;
  fetcher->settle(std::move(answered), status, value);
}

void PmixFetcher::settle(std::unique_ptr<Request> request, pmix_status_t status, const pmix_value_t* value) {
  {
    const core::MutexLock lock(mutex_);
    asked_.erase(request.get());
    if (is_closed_) return;  // close() has answered it
    if (is_not_there_yet(status, request->invalid)) return pause(std::move(request));
    ++answering_;
  }
  const std::string call = fmt::format("PMIx_Get_nb of {} from rank {}", request->key, request->process.rank);
  give_answer(request->done, call, status, value);
  request->done = nullptr;  // what it holds on to ends before close() returns
  const core::MutexLock lock(mutex_);
  --answering_;
  changed_.notify_all();
}

void PmixFetcher::pause(std::unique_ptr<Request> request) {
  const Clock::time_point due = Clock::now() + request->pause;
  request->pause = std::min<Clock::duration>(2 * request->pause, kLongestPause);
  pausing_.emplace(due, std::move(request));
  if (!thread_.joinable()) thread_ = std::thread([this] { ask_again_when_due(); });
  changed_.notify_all();
}

void PmixFetcher::ask_again_when_due() {
  while (true) {
    std::unique_ptr<Request> request;
    {
      const core::MutexLock lock(mutex_);
      while (!is_closed_ && (pausing_.empty() || pausing_.begin()->first > Clock::now())) {
        if (pausing_.empty()) {
          changed_.wait(mutex_);
        } else {
          const Clock::time_point due = pausing_.begin()->first;
          changed_.wait_until(mutex_, due);
        }
      }
      if (is_closed_) return;
      request = std::move(pausing_.begin()->second);
      pausing_.erase(pausing_.begin());
    }
    ask(std::move(request));
  }
}

void PmixFetcher::close() {
  std::vector<Store::Fetched> open;
  {
    const core::MutexLock lock(mutex_);
    is_closed_ = true;
    for (Request* request : asked_) open.push_back(std::move(request->done));
    for (auto& [due, request] : pausing_) open.push_back(std::move(request->done));
    pausing_.clear();
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  for (const Store::Fetched& done : open) done(std::nullopt, kStoreClosed);
  const core::MutexLock lock(mutex_);
  while (answering_ > 0) changed_.wait(mutex_);
}

bool PmixFetcher::is_answered() {
  const core::MutexLock lock(mutex_);
  return asked_.empty();
}

void PmixFetcher::forget_requests() {
  std::unordered_set<Request*> asked;
  {
    const core::MutexLock lock(mutex_);
    asked.swap(asked_);
  }
  for (Request* request : asked) delete request;
}

}  // namespace fab
