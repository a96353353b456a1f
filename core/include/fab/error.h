// Errors of fab: codes, the exception that carries one, and the status that tells how a request ended.
#pragma once

#include <string>
#include <system_error>

#include "fab/api.h"

/// The native API (fab/fab.h).
namespace fab {

/// The kind of an error. The message of an Error or Status names the call, the argument, its value and what is valid.
enum class Errc {
  invalid_argument = 1,  ///< an argument is outside its domain; the message names it
  invalid_rank,          ///< a rank outside the communicator
  invalid_count,         ///< a count below 0, or one that does not fit its buffer
  invalid_topology,      ///< the communicator has no topology, or not the kind that the call needs
  invalid_schedule,      ///< ScheduleBuilder::commit refuses the schedule
  truncated,             ///< a peer sent more bytes than the receiver has room for
  mismatch,              ///< two ranks disagree about the call, or about the size of a block
  unreachable,           ///< a peer cannot be reached through the chosen provider and interface
  transport,             ///< libfabric's provider reported a failure
  timed_out,             ///< the operation made no progress for FAB_WAIT_TIMEOUT seconds
  cancelled,             ///< the context was closed, or another part of the operation failed first
  bootstrap,             ///< the launcher's PMIx server is missing, or refused a request
  configuration,         ///< a FAB_* variable has an unusable value
  no_resources,          ///< memory, file descriptors or communicator numbers are used up
};

/// The category of fab's error codes. Its name is "fab".
FAB_API const std::error_category& error_category() noexcept;

/// `code` in error_category(); std::error_code finds it for an Errc.
FAB_API std::error_code make_error_code(Errc code) noexcept;

/// Thrown if a call cannot start, and by Request::wait if the operation failed. what() begins with the message, which
/// names the call, the argument, its value and what is valid.
class FAB_API Error : public std::system_error {
 public:
  /// `message` says what is wrong; what() is the message, and behind it the text of the code.
  Error(Errc code, const std::string& message) : std::system_error(make_error_code(code), message) {}

  /// code() as an enumerator.
  [[nodiscard]] Errc errc() const noexcept { return static_cast<Errc>(code().value()); }
};

/// How a request ended. A default-constructed Status means success.
struct Status {
  std::error_code code{};  ///< of error_category(); 0 if the operation succeeded
  std::string message{};   ///< names the call, the argument, its value and what is valid; empty after a success

  /// Whether the operation succeeded.
  [[nodiscard]] bool ok() const noexcept { return !code; }
  /// The code as an enumerator; 0, which is no enumerator, after a success.
  [[nodiscard]] Errc errc() const noexcept { return static_cast<Errc>(code.value()); }
};

}  // namespace fab

template <>
struct std::is_error_code_enum<fab::Errc> : std::true_type {};
