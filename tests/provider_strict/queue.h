// A completion queue, which reports in any order that the profile allows.
#pragma once

#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>

#include <cstdint>
#include <deque>
#include <unordered_map>

#include "chance.h"

namespace strict {

class Endpoint;

/// Takes over the descriptor and the queue below.
class Queue : public fid_cq {
 public:
  Queue(fid_wait* lower_wait, fid_cq* lower, std::size_t size);
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  [[nodiscard]] fid_cq* lower() const noexcept { return lower_; }
  void serve(Endpoint* endpoint) noexcept { endpoint_ = endpoint; }

  // The application's context belongs to the provider while the operation is in flight (FI_CONTEXT, FI_CONTEXT2).
  void lend(const char* call, void* context);
  void report(const fi_cq_tagged_entry& entry);
  void report(const fi_cq_err_entry& entry);
  [[nodiscard]] bool full() const noexcept { return entries_.size() + errors_.size() >= size_; }

  ssize_t read(fi_cq_tagged_entry* entries, std::size_t count);
  ssize_t read_error(fi_cq_err_entry* entry);
  int descriptor(int* result);
  /// Nothing is here and nothing will be without an event on the descriptor.
  [[nodiscard]] bool may_wait();

 private:
  void give_back(void* context);

  fid_wait* lower_wait_;
  fid_cq* lower_;
  std::size_t size_;
  Endpoint* endpoint_ = nullptr;
  std::deque<fi_cq_tagged_entry> entries_;
  std::deque<fi_cq_err_entry> errors_;
  std::unordered_map<void*, std::uint64_t> lent_;  ///< context, what is written there
  Chance chance_{3};
};

}  // namespace strict
