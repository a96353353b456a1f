// A domain, with its registered memory.
#pragma once

#include <rdma/fi_domain.h>

#include <atomic>

#include "lower.h"
#include "region.h"

namespace strict {

class Domain : public fid_domain {
 public:
  /// Takes over the domain below.
  Domain(fid_fabric* lower_fabric, fid_domain* lower, Info lower_info);
  ~Domain();
  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;

  [[nodiscard]] Regions& regions() noexcept { return regions_; }
  [[nodiscard]] fid_domain* lower() const noexcept { return lower_; }
  [[nodiscard]] fid_fabric* lower_fabric() const noexcept { return lower_fabric_; }
  [[nodiscard]] fi_info* lower_info() const noexcept { return lower_info_.get(); }

  /// One call. Ends the process when another thread is within one (FI_THREAD_DOMAIN).
  class Entry {
   public:
    Entry(Domain& domain, const char* call);
    ~Entry();
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    Domain& domain_;
  };

 private:
  fid_fabric* lower_fabric_;
  fid_domain* lower_;
  Info lower_info_;
  Regions regions_;
  std::atomic<const char*> inside_ = nullptr;
};

/// fi_domain.
int open_domain(fid_fabric* lower_fabric, const char* fabric, const fi_info* info, fid_domain** result);

}  // namespace strict
