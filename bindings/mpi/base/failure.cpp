#include "bindings/mpi/base/failure.h"

#include <fmt/core.h>

#include <array>
#include <mutex>
#include <new>

#include "bindings/mpi/base/handles.h"
#include "core/base/config.h"
#include "core/base/log.h"

namespace fab::mpi {

namespace {

LogLevel configured_level() noexcept {
  try {
    return read_config(process_environment).log;
  } catch (...) {
    return Config{}.log;  // the configuration itself is what is wrong, and will be reported
  }
}

int world_rank() noexcept {
  int rank = -1;
  if (mpi_is_usable() && PMPI_Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS) rank = -1;
  return rank;
}

void log_line(LogLevel level, const char* call, std::string_view message) noexcept {
  try {
    Log(configured_level(), world_rank()).write(level, "{}: {}", call, message);
  } catch (...) {
    return;  // no memory for a message: of an error the class still tells
  }
}

int logged(const char* call, int error_class, std::string_view message) noexcept {
  log_error(call, message);
  return error_class;
}

bool is_fatal(MPI_Comm comm) noexcept {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  if (PMPI_Comm_get_errhandler(comm, &handler) != MPI_SUCCESS) return false;
  const bool fatal = handler == MPI_ERRORS_ARE_FATAL;
  static_cast<void>(PMPI_Errhandler_free(&handler));  // the reference; nothing can be done where it fails
  return fatal;
}

}  // namespace

int error_class_of(Errc code) noexcept {
  switch (code) {
    case Errc::invalid_argument:
      return MPI_ERR_ARG;
    case Errc::invalid_rank:
      return MPI_ERR_RANK;
    case Errc::invalid_count:
      return MPI_ERR_COUNT;
    case Errc::invalid_topology:
      return MPI_ERR_TOPOLOGY;
    case Errc::truncated:
      return MPI_ERR_TRUNCATE;
    case Errc::no_resources:
      return MPI_ERR_NO_MEM;
    case Errc::invalid_schedule:
      return MPI_ERR_INTERN;
    case Errc::mismatch:
    case Errc::unreachable:
    case Errc::transport:
    case Errc::timed_out:
    case Errc::cancelled:
    case Errc::bootstrap:
    case Errc::configuration:
      return MPI_ERR_OTHER;
  }
  return MPI_ERR_UNKNOWN;
}

void require(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  int error_class = MPI_ERR_OTHER;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  if (PMPI_Error_class(code, &error_class) != MPI_SUCCESS) error_class = MPI_ERR_OTHER;
  if (PMPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) length = 0;
  throw Failure(error_class,
                fmt::format("{}: {}", call, std::string_view(text.data(), static_cast<std::size_t>(length))));
}

bool mpi_is_usable() noexcept {
  int initialized = 0;
  int finalized = 0;
  if (PMPI_Initialized(&initialized) != MPI_SUCCESS || PMPI_Finalized(&finalized) != MPI_SUCCESS) return false;
  return initialized != 0 && finalized == 0;
}

void log_error(const char* call, std::string_view message) noexcept { log_line(LogLevel::error, call, message); }
void log_info(const char* call, std::string_view message) noexcept { log_line(LogLevel::info, call, message); }

// Open MPI's fatal handler crashes when several threads are in it: one at a time, and it does not come back. Handlers
// of the user may take as long as they like, so they are never held up.
int call_error_handler(MPI_Comm comm, int code) noexcept {
  if (!mpi_is_usable()) return code;
  const MPI_Comm target = is_communicator(comm) ? comm : MPI_COMM_WORLD;
  static std::mutex fatal;
  std::unique_lock<std::mutex> lock(fatal, std::defer_lock);
  if (is_fatal(target)) lock.lock();
  // What the handler's own call returns says nothing about the error that is being reported.
  static_cast<void>(PMPI_Comm_call_errhandler(target, code));
  return code;
}

int log_exception(const char* call) noexcept {
  try {
    throw;
  } catch (const Failure& failure) {
    return logged(call, failure.error_class(), failure.what());
  } catch (const Error& error) {
    return logged(call, error_class_of(error.errc()), error.what());
  } catch (const std::bad_alloc&) {
    return logged(call, MPI_ERR_NO_MEM, "out of memory");
  } catch (const std::exception& error) {
    return logged(call, MPI_ERR_OTHER, error.what());
  } catch (...) {
    return logged(call, MPI_ERR_OTHER, "unknown exception");
  }
}

int report_exception(const char* call, MPI_Comm comm) noexcept { return call_error_handler(comm, log_exception(call)); }

}  // namespace fab::mpi
