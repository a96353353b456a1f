#include "bindings/mpi/lifecycle/library.h"

#include <fmt/core.h>
#include <mpi.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "bindings/mpi/base/failure.h"
#include "core/base/log.h"
#include "core/base/quoted.h"

namespace fab::mpi {

namespace {

constexpr std::string_view kOpenMpi = "Open MPI";
/// MPI_MAX_LIBRARY_VERSION_STRING is 256 in Open MPI and 8192 in MPICH, whose function this may be.
constexpr std::size_t kMostOfAnyMpi = 65536;
#ifdef OPEN_MPI
constexpr bool kForOpenMpi = true;
#else
constexpr bool kForOpenMpi = false;
#endif

/// Empty where MPI does not tell.
std::string_view version_of(std::array<char, kMostOfAnyMpi>& text) noexcept {
  int length = 0;
  return PMPI_Get_library_version(text.data(), &length) == MPI_SUCCESS ? text.data() : std::string_view();
}

bool is_own(std::string_view version) noexcept { return version.starts_with(kOpenMpi) == kForOpenMpi; }

}  // namespace

bool is_own_library() noexcept {
  std::array<char, kMostOfAnyMpi> text{};
  const std::string_view version = version_of(text);
  return !version.empty() && is_own(version);
}

void compare_libraries() {
  std::array<char, kMostOfAnyMpi> text{};
  const std::string_view version = version_of(text);
  if (version.empty() || is_own(version)) return;
  const std::string message = fmt::format(
      "libfab_mpi was built for {}, and this process runs {}: build the program with the MPI that "
      "fab was built for, or fab with the program's",
      kForOpenMpi ? kOpenMpi : "MPICH", in_quotes(version.substr(0, version.find('\n'))));
  // At once: to report it in the usual way takes calls of that other library with handles that it does not know.
  Log(LogLevel::error, -1).write(LogLevel::error, "{}", message);
  throw Failure(MPI_ERR_OTHER, message);
}

}  // namespace fab::mpi
