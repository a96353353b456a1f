// Buffers that the Fortran modules hand over with a description (TYPE(*), DIMENSION(..)), for calls that return before
// they have ended: a copy that the compiler made of an array section would be gone by then.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

namespace fab::mpi {

/// What gfortran (since 9) hands over: the head of its CFI_cdesc_t, behind which lie `rank` dimensions.
struct Section {
  struct Dimension {
    std::ptrdiff_t lower_bound;
    std::ptrdiff_t extent;  ///< -1: the last one of an assumed-size array
    std::ptrdiff_t stride_bytes;
  };

  void* address;
  std::size_t element_bytes;
  int version;
  std::int8_t rank;
  std::int8_t attribute;
  std::int16_t type;

  [[nodiscard]] const Dimension* dimensions() const noexcept { return reinterpret_cast<const Dimension*>(this + 1); }
};

[[nodiscard]] bool is_contiguous(const Section& section) noexcept;

/// Why the call cannot take these buffers: the name of the one in pieces. Null: it can.
[[nodiscard]] inline const char* in_pieces(const Section& send, const Section& recv) noexcept {
  if (!is_contiguous(send)) return "sendbuf";
  return is_contiguous(recv) ? nullptr : "recvbuf";
}

/// End the call `name` with MPI_ERR_BUFFER, as its own checks of arguments would.
[[nodiscard]] int refuse_start(const char* name, const char* buffer, MPI_Comm comm, MPI_Request* request) noexcept;
[[nodiscard]] int refuse_init(const char* name, const char* buffer, MPI_Comm comm, MPI_Request* request) noexcept;

}  // namespace fab::mpi
