#include "bindings/mpi/lifecycle/library.h"

#include <fmt/format.h>
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

}  // namespace

// Legal before MPI_Init, too.
void compare_libraries() {
  std::array<char, kMostOfAnyMpi> text{};
  int length = 0;
  if (PMPI_Get_library_version(text.data(), &length) != MPI_SUCCESS) return;
  const std::string_view version(text.data());
  if (version.starts_with(kOpenMpi) == kForOpenMpi) return;
  const std::string message = fmt::format(
      "libfab_mpi was built for {}, and this process runs {}: build the program with the MPI that "
      "fab was built for, or fab with the program's",
      kForOpenMpi ? kOpenMpi : "MPICH", in_quotes(version.substr(0, version.find('\n'))));
  // At once: to report it in the usual way takes calls of that other library with handles that it does not know.
  Log(LogLevel::error, -1).write(LogLevel::error, "{}", message);
  throw Failure(MPI_ERR_OTHER, message);
}

}  // namespace fab::mpi
