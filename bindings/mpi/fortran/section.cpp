#include "bindings/mpi/fortran/section.h"

#include <fmt/core.h>

#include "bindings/mpi/calls/three_forms.h"

#if defined(__GNUC__) && !defined(__clang__) && __has_include(<ISO_Fortran_binding.h>)
#include <ISO_Fortran_binding.h>
static_assert(offsetof(fab::mpi::Section, address) == offsetof(CFI_cdesc_t, base_addr) &&
              offsetof(fab::mpi::Section, element_bytes) == offsetof(CFI_cdesc_t, elem_len) &&
              offsetof(fab::mpi::Section, rank) == offsetof(CFI_cdesc_t, rank) &&
              sizeof(fab::mpi::Section) == sizeof(CFI_cdesc_t));
static_assert(offsetof(fab::mpi::Section::Dimension, extent) == offsetof(CFI_dim_t, extent) &&
              offsetof(fab::mpi::Section::Dimension, stride_bytes) == offsetof(CFI_dim_t, sm) &&
              sizeof(fab::mpi::Section::Dimension) == sizeof(CFI_dim_t));
#endif

namespace fab::mpi {

bool is_contiguous(const Section& section) noexcept {
  auto bytes = static_cast<std::ptrdiff_t>(section.element_bytes);
  bool contiguous = true;
  for (int i = 0; i < section.rank; ++i) {
    const Section::Dimension& dimension = section.dimensions()[i];
    if (dimension.extent == 0) return true;
    contiguous = contiguous && (dimension.stride_bytes == bytes || dimension.extent == 1);
    bytes *= dimension.extent;
  }
  return contiguous;
}

namespace {

[[noreturn]] void refuse_section(const char* buffer) {
  throw Failure(MPI_ERR_BUFFER,
                fmt::format("{} is an array section that is not contiguous; valid is an array that is, or a derived "
                            "datatype that picks the elements",
                            buffer));
}

}  // namespace

int refuse_start(const char* name, const char* buffer, MPI_Comm comm, MPI_Request* request) noexcept {
  return non_blocking(name, comm, request, [buffer](const core::Communicator&, Kept&, const Start&) -> core::Run& {
    refuse_section(buffer);
  });
}

int refuse_init(const char* name, const char* buffer, MPI_Comm comm, MPI_Request* request) noexcept {
  return persistent(name, comm, request, [buffer](const core::Communicator&, Kept&, const Make&) -> core::Persistent {
    refuse_section(buffer);
  });
}

}  // namespace fab::mpi
