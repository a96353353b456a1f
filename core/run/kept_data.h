// Short data of a run that waits for its peers' addresses. MPI libraries send it when a call starts, and programs rely
// on that: they use its memory for something else before they wait, which the standard forbids (MPI-4.1,
// section 3.7.2).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "fab/schedule.h"

namespace fab::core {

class KeptData {
 public:
  /// Of all that the schedule reads from one buffer.
  static constexpr std::size_t kMostBytes = 64 << 10;

  /// Copies what the schedule reads from those of the user's buffers that it does not write to, and makes their bases
  /// the copies'. Not of MPI_BOTTOM, whose offsets are addresses.
  KeptData(const Schedule& schedule, std::span<std::byte*> bases);
  /// Bases that are the copies' still are the user's again.
  void let_go(std::span<std::byte*> bases) const noexcept;

 private:
  struct Kept {
    std::size_t buffer;
    std::byte* users;  ///< its base
    std::byte* own;
    std::unique_ptr<std::byte[]> copy;
  };

  std::vector<Kept> kept_;
};

}  // namespace fab::core
