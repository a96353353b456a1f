// Handles of Fortran programs: integers that stand for handles which fab keeps.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <span>
#include <vector>

#include "bindings/nbc/instance.h"
#include "core/base/mutex.h"
#include "core/base/slots.h"

namespace fab::nbc {

constexpr MPI_Fint kNoHandle = -1;  ///< NBC_REQUEST_NULL

class FortranHandles {
 public:
  /// Never destroyed: operations may be in flight until MPI_Finalize.
  static FortranHandles& all() {
    static FortranHandles& handles = *new FortranHandles;
    return handles;
  }

  /// A complete handle, in use until give_back().
  [[nodiscard]] MPI_Fint take();
  void give_back(MPI_Fint number);
  /// Null for kNoHandle. Throws Failure(MPI_ERR_ARG) for a number that is not in use.
  [[nodiscard]] NBC_Handle* find(MPI_Fint number);

 private:
  struct Entry {
    explicit Entry(std::uint32_t its_number) noexcept : number(static_cast<MPI_Fint>(its_number)) {}

    const MPI_Fint number;
    NBC_Handle handle{};
    bool used = false;
  };

  core::Mutex mutex_;
  core::Slots<Entry> entries_ FAB_GUARDED_BY(mutex_);
};

/// The handles of a call that takes many, in a row for as long as it lives. Those that are complete afterwards become
/// kNoHandle.
class HandleRow {
 public:
  explicit HandleRow(std::span<MPI_Fint> numbers);
  ~HandleRow();
  HandleRow(const HandleRow&) = delete;
  HandleRow& operator=(const HandleRow&) = delete;

  [[nodiscard]] NBC_Handle* data() noexcept { return row_.data(); }

 private:
  std::span<MPI_Fint> numbers_;
  std::vector<NBC_Handle> row_;
};

}  // namespace fab::nbc
