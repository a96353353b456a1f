#include "mpi_call.h"

#include <fmt/core.h>

#include <array>
#include <stdexcept>
#include <string_view>

namespace apps {

void check_mpi(int rc, const char* call) {
  if (rc == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  if (MPI_Error_string(rc, text.data(), &length) != MPI_SUCCESS) length = 0;
  throw std::runtime_error(
      fmt::format("{} returned {}: {}", call, rc, std::string_view(text.data(), static_cast<std::size_t>(length))));
}

}  // namespace apps
