// Counts the sends, or the receives, of a context, on all of its communicators together.
#pragma once

#include <cstdint>

#include "core/base/engine_lock.h"
#include "core/job/ledger.h"

namespace fab::core {

/// Guarded by the engine's lock.
class PointCounts final : Ledger::Counted {
 public:
  PointCounts(Ledger& ledger, const char* operation)
      : ledger_(ledger), row_(ledger.begin(*this, ledger.all_communicators(), operation, {})) {}
  ~PointCounts() { ledger_.end(*this, row_); }
  PointCounts(const PointCounts&) = delete;
  PointCounts& operator=(const PointCounts&) = delete;

  [[nodiscard]] Ledger::Row& row() noexcept { return row_; }
  void called() noexcept FAB_REQUIRES(engine_lock) { ++sums_.calls; }
  void sent(std::uint64_t bytes, bool packed) noexcept FAB_REQUIRES(engine_lock) {
    sums_.sent.add({1, bytes});
    if (packed) sums_.packed.add({1, bytes});
  }
  void received(std::uint64_t bytes) noexcept FAB_REQUIRES(engine_lock) { sums_.received.add({1, bytes}); }
  /// Where the providers count what leaves.
  [[nodiscard]] WayCounts& ways() noexcept FAB_REQUIRES(engine_lock) { return sums_.ways; }
  void waited(std::uint64_t ns) noexcept FAB_REQUIRES(engine_lock) { sums_.waited.add(ns); }

 private:
  void add_to(OperationSums& sums) const noexcept override FAB_REQUIRES(engine_lock) { sums.add(sums_); }

  Ledger& ledger_;
  OperationSums sums_ FAB_GUARDED_BY(engine_lock);
  Ledger::Row& row_;
};

}  // namespace fab::core
