// Waiting and testing for Fortran programs. Arguments: see nbcf.h.
#include "bindings/nbc/fortran/arguments.h"

namespace fab::nbc {

namespace {

/// `call` is one with a handle that returns its code; on an inactive handle there is nothing to do.
template <class Call>
MPI_Fint complete(MPI_Fint* number, Call&& call) noexcept {
  return guarded("NBC (Fortran)", [&] {
    NBC_Handle* const handle = FortranHandles::all().find(*number);
    if (handle == nullptr) return NBC_OK;
    const int code = call(handle);
    if (instance_of(*handle) != nullptr) return code;
    FortranHandles::all().give_back(*number);
    *number = kNoHandle;
    return code;
  });
}

/// `call` is one with an array of handles.
template <class Call>
MPI_Fint complete_many(MPI_Fint count, MPI_Fint* numbers, Call&& call) noexcept {
  return guarded("NBC (Fortran)", [&] {
    if (count < 0) throw Failure(MPI_ERR_COUNT, "count is negative");
    HandleRow row({numbers, static_cast<std::size_t>(count)});
    return call(row.data());
  });
}

/// Fortran counts from 1.
void to_fortran(MPI_Fint* index) noexcept {
  if (*index != MPI_UNDEFINED) ++*index;
}

void to_fortran(MPI_Fint count, MPI_Fint* indices) noexcept {
  for (MPI_Fint i = 0; count != MPI_UNDEFINED && i < count; ++i) ++indices[i];
}

}  // namespace

}  // namespace fab::nbc

using namespace fab::nbc;

// A LOGICAL is written as an INTEGER of its size: 1 is true to gfortran and to those that look at the lowest bit.
extern "C" {

void nbc_wait_(MPI_Fint* handle, MPI_Fint* ierror) {
  *ierror = complete(handle, [](NBC_Handle* h) { return NBC_Wait(h); });
}

void nbc_test_(MPI_Fint* handle, MPI_Fint* ierror) {
  *ierror = complete(handle, [](NBC_Handle* h) { return NBC_Test(h); });
}

void nbc_progress_(MPI_Fint* handle, MPI_Fint* ierror) { *ierror = complete(handle, NBC_Progress); }

void nbc_free_(MPI_Fint* handle, MPI_Fint* ierror) { *ierror = complete(handle, NBC_Free); }

void nbc_waitall_(MPI_Fint* count, MPI_Fint* handles, MPI_Fint* ierror) {
  *ierror =
      complete_many(*count, handles, [&](NBC_Handle* row) { return NBC_Waitall(*count, row, MPI_STATUSES_IGNORE); });
}

void nbc_testall_(MPI_Fint* count, MPI_Fint* handles, MPI_Fint* flag, MPI_Fint* ierror) {
  *ierror = complete_many(*count, handles,
                          [&](NBC_Handle* row) { return NBC_Testall(*count, row, flag, MPI_STATUSES_IGNORE); });
}

void nbc_waitany_(MPI_Fint* count, MPI_Fint* handles, MPI_Fint* index, MPI_Fint* ierror) {
  *ierror = complete_many(*count, handles,
                          [&](NBC_Handle* row) { return NBC_Waitany(*count, row, index, MPI_STATUS_IGNORE); });
  to_fortran(index);
}

void nbc_testany_(MPI_Fint* count, MPI_Fint* handles, MPI_Fint* index, MPI_Fint* flag, MPI_Fint* ierror) {
  *ierror = complete_many(*count, handles,
                          [&](NBC_Handle* row) { return NBC_Testany(*count, row, index, flag, MPI_STATUS_IGNORE); });
  to_fortran(index);
}

void nbc_waitsome_(MPI_Fint* incount, MPI_Fint* handles, MPI_Fint* outcount, MPI_Fint* indices, MPI_Fint* ierror) {
  *ierror = complete_many(*incount, handles, [&](NBC_Handle* row) {
    return NBC_Waitsome(*incount, row, outcount, indices, MPI_STATUSES_IGNORE);
  });
  to_fortran(*outcount, indices);
}

void nbc_testsome_(MPI_Fint* incount, MPI_Fint* handles, MPI_Fint* outcount, MPI_Fint* indices, MPI_Fint* ierror) {
  *ierror = complete_many(*incount, handles, [&](NBC_Handle* row) {
    return NBC_Testsome(*incount, row, outcount, indices, MPI_STATUSES_IGNORE);
  });
  to_fortran(*outcount, indices);
}

}  // extern "C"
