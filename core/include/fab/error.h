// Errors: what can go wrong, as codes, exceptions and completion statuses.
#pragma once

#include <string>
#include <system_error>

namespace fab {

/// What went wrong. The message of an Error or Status says where, with which value, and what would have been valid.
enum class Errc {
  invalid_argument = 1,  ///< an argument is outside its domain (the message names it)
  invalid_rank,          ///< a rank outside the communicator
  invalid_count,         ///< a negative count or one that does not fit the buffer
  invalid_topology,      ///< no topology, or not the kind that the call needs
  invalid_schedule,      ///< a schedule that commit refuses
  truncated,             ///< a peer sent more than the receiver declared
  mismatch,              ///< two ranks disagree about the call or about the sizes along an edge
  unreachable,           ///< a peer cannot be reached through the chosen provider and interface
  transport,             ///< the network provider reported a failure
  timed_out,             ///< nothing happened for FAB_WAIT_TIMEOUT seconds
  cancelled,             ///< the context was closed, or a sibling operation failed first
  bootstrap,             ///< the launcher's PMIx server is missing or refused
  configuration,         ///< a FAB_* variable has an unusable value
  no_resources,          ///< memory, file descriptors, context ids
};

/// The category of fab's error codes; its name is "fab".
const std::error_category& error_category() noexcept;

std::error_code make_error_code(Errc code) noexcept;

/// Thrown where a call cannot start, and by Request::wait when the running request failed.
/// what() starts with the message, which names the call, the argument, its value and what is valid.
class Error : public std::system_error {
 public:
  Error(Errc code, const std::string& message) : std::system_error(make_error_code(code), message) {}

  [[nodiscard]] Errc errc() const noexcept { return static_cast<Errc>(code().value()); }
};

/// How a request ended. A default-constructed Status is success.
struct Status {
  std::error_code code{};
  std::string message{};

  [[nodiscard]] bool ok() const noexcept { return !code; }
  [[nodiscard]] Errc errc() const noexcept { return static_cast<Errc>(code.value()); }
};

}  // namespace fab

template <>
struct std::is_error_code_enum<fab::Errc> : std::true_type {};
