#include "queue.h"

#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "endpoint.h"
#include "object.h"
#include "profile.h"
#include "violation.h"

namespace strict {

namespace {

Queue& queue_of(fid_cq* object) { return *static_cast<Queue*>(object); }
Queue& queue_of(fid* object) { return queue_of(reinterpret_cast<fid_cq*>(object)); }

int close_queue(fid* object) {
  delete &queue_of(object);
  return 0;
}

int control_queue(fid* object, int command, void* argument) {
  if (command != FI_GETWAIT) return -FI_ENOSYS;
  return queue_of(object).descriptor(static_cast<int*>(argument));
}

ssize_t read_queue(fid_cq* object, void* entries, std::size_t count) {
  return queue_of(object).read(static_cast<fi_cq_tagged_entry*>(entries), count);
}

ssize_t read_queue_error(fid_cq* object, fi_cq_err_entry* entry, std::uint64_t) {
  return queue_of(object).read_error(entry);
}

const char* error_text(fid_cq*, int error, const void*, char* memory, std::size_t bytes) {
  if (memory != nullptr && bytes > 0) {
    std::strncpy(memory, fi_strerror(error), bytes - 1);
    memory[bytes - 1] = '\0';
  }
  return fi_strerror(error);
}

fi_ops fid_operations = object_operations(close_queue, nullptr, control_queue);
fi_ops_cq operations = {.size = sizeof(fi_ops_cq),
                        .read = read_queue,
                        .readfrom = nullptr,
                        .readerr = read_queue_error,
                        .sread = nullptr,
                        .sreadfrom = nullptr,
                        .signal = nullptr,
                        .strerror = error_text};

constexpr std::uint64_t kContextModes = FI_CONTEXT | FI_CONTEXT2;

/// 64-bit words of the context that are the provider's.
std::size_t context_words() noexcept {
  return ((profile().mode & FI_CONTEXT2) != 0 ? sizeof(fi_context2) : sizeof(fi_context)) / sizeof(std::uint64_t);
}

void write_pattern(void* context, std::uint64_t pattern) {
  for (std::size_t i = 0; i < context_words(); ++i) {
    const std::uint64_t word = pattern + i;
    std::memcpy(static_cast<char*>(context) + i * sizeof(word), &word, sizeof(word));
  }
}

bool has_pattern(const void* context, std::uint64_t pattern) {
  for (std::size_t i = 0; i < context_words(); ++i) {
    std::uint64_t word = 0;
    std::memcpy(&word, static_cast<const char*>(context) + i * sizeof(word), sizeof(word));
    if (word != pattern + i) return false;
  }
  return true;
}

}  // namespace

Queue::Queue(fid_wait* lower_wait, fid_cq* lower, std::size_t size)
    : fid_cq{.fid = {.fclass = FI_CLASS_CQ, .context = nullptr, .ops = &fid_operations}, .ops = &operations},
      lower_wait_(lower_wait),
      lower_(lower),
      size_(size) {}

Queue::~Queue() {
  demand(endpoint_ == nullptr, "fi_close: the queue is closed before its endpoint");
  fi_close(&lower_->fid);
  if (lower_wait_ != nullptr) fi_close(&lower_wait_->fid);
}

void Queue::lend(const char* call, void* context) {
  if ((profile().mode & kContextModes) == 0) return;
  demand(context != nullptr, "{}: no context; FI_CONTEXT or FI_CONTEXT2 is required", call);
  const std::uint64_t pattern = chance_.next();
  demand(lent_.emplace(context, pattern).second, "{}: its context {} is that of another operation in flight", call,
         context);
  write_pattern(context, pattern);
}

void Queue::give_back(void* context) {
  if ((profile().mode & kContextModes) == 0) return;
  const auto found = lent_.find(context);
  demand(found != lent_.end(), "context {} completes without an operation", context);
  demand(has_pattern(context, found->second), "context {} was written to while its operation was in flight", context);
  lent_.erase(found);
}

void Queue::report(const fi_cq_tagged_entry& entry) {
  const std::size_t from_end =
      profile().completions_in_order ? 0 : chance_.below(std::min<std::size_t>(entries_.size() + 1, 8));
  entries_.insert(entries_.end() - static_cast<std::ptrdiff_t>(from_end), entry);
}

void Queue::report(const fi_cq_err_entry& entry) { errors_.push_back(entry); }

ssize_t Queue::read(fi_cq_tagged_entry* entries, std::size_t count) {
  if (endpoint_ != nullptr) endpoint_->progress();
  if (!errors_.empty()) return -FI_EAVAIL;
  if (entries_.empty()) return -FI_EAGAIN;
  const std::size_t taken = std::min(entries_.size(), count);
  for (std::size_t i = 0; i < taken; ++i) {
    entries[i] = entries_.front();
    entries_.pop_front();
    if ((entries[i].flags & FI_REMOTE_WRITE) == 0) give_back(entries[i].op_context);
  }
  return static_cast<ssize_t>(taken);
}

ssize_t Queue::read_error(fi_cq_err_entry* entry) {
  if (errors_.empty()) return -FI_EAGAIN;
  *entry = errors_.front();
  errors_.pop_front();
  give_back(entry->op_context);
  return 1;
}

int Queue::descriptor(int* result) {
  if (lower_wait_ == nullptr) return -FI_ENOSYS;
  return fi_control(&lower_wait_->fid, FI_GETWAIT, result);
}

bool Queue::may_wait() {
  if (!entries_.empty() || !errors_.empty()) return false;
  if (endpoint_ != nullptr && endpoint_->needs_polls()) return false;
  return lower_wait_ != nullptr && fi_wait(lower_wait_, 0) == -FI_ETIMEDOUT;
}

}  // namespace strict
