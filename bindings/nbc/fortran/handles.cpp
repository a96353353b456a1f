#include "bindings/nbc/fortran/handles.h"

#include <fmt/core.h>

namespace fab::nbc {

MPI_Fint FortranHandles::take() {
  const core::MutexLock lock(mutex_);
  Entry& entry = entries_.take();
  entry.used = true;
  return entry.number;
}

void FortranHandles::give_back(MPI_Fint number) {
  const core::MutexLock lock(mutex_);
  Entry& entry = entries_[static_cast<std::uint32_t>(number)];
  entry.used = false;
  entries_.give_back(entry);
}

NBC_Handle* FortranHandles::find(MPI_Fint number) {
  if (number == kNoHandle) return nullptr;
  const core::MutexLock lock(mutex_);
  const auto place = static_cast<std::uint32_t>(number);
  if (number < 0 || place >= entries_.size() || !entries_[place].used)
    throw Failure(MPI_ERR_ARG, fmt::format("handle is {}; there is no such operation", number));
  return &entries_[place].handle;
}

HandleRow::HandleRow(std::span<MPI_Fint> numbers) : numbers_(numbers), row_(numbers.size()) {
  std::vector<NBC_Handle*> found;
  for (const MPI_Fint number : numbers) found.push_back(FortranHandles::all().find(number));
  for (std::size_t i = 0; i < row_.size(); ++i)
    if (found[i] != nullptr) move_handle(*found[i], row_[i]);
}

HandleRow::~HandleRow() {
  for (std::size_t i = 0; i < row_.size(); ++i) {
    if (numbers_[i] == kNoHandle) continue;
    if (instance_of(row_[i]) != nullptr) {
      move_handle(row_[i], *FortranHandles::all().find(numbers_[i]));
    } else {
      FortranHandles::all().give_back(numbers_[i]);
      numbers_[i] = kNoHandle;
    }
  }
}

}  // namespace fab::nbc
