// Results: a value or a failure, for programs that do not use exceptions.
#pragma once

#include <new>
#include <optional>
#include <string>
#include <utility>

#include "fab/error.h"

namespace fab {

/// A value, or the status of the failure: std::expected<T, Status> before C++23.
template <class T>
class [[nodiscard]] Result {
 public:
  /// A success.
  Result(T value) noexcept : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  /// A failure. Precondition: `failure` is not success.
  Result(Status failure) noexcept : status_(std::move(failure)) {}  // NOLINT(google-explicit-constructor)

  /// @{
  /// Whether there is a value.
  [[nodiscard]] bool ok() const noexcept { return value_.has_value(); }
  explicit operator bool() const noexcept { return ok(); }
  /// @}
  /// Success if there is a value.
  [[nodiscard]] const Status& status() const noexcept { return status_; }

  /// @{
  /// The value. Throws the failure as an Error if there is none.
  [[nodiscard]] T& value() & {
    check();
    return *value_;
  }
  [[nodiscard]] const T& value() const& {
    check();
    return *value_;
  }
  [[nodiscard]] T&& value() && {
    check();
    return *std::move(value_);
  }
  /// @}

  /// @{
  /// The value, unchecked. Precondition: ok().
  [[nodiscard]] T& operator*() & noexcept { return *value_; }
  [[nodiscard]] const T& operator*() const& noexcept { return *value_; }
  [[nodiscard]] T&& operator*() && noexcept { return *std::move(value_); }
  [[nodiscard]] T* operator->() noexcept { return &*value_; }
  [[nodiscard]] const T* operator->() const noexcept { return &*value_; }
  /// @}

 private:
  void check() const {
    if (!ok()) throw Error(status_.errc(), status_.message);
  }

  std::optional<T> value_;
  Status status_;
};

namespace detail {

/// The status of the exception that is being handled. Rethrows it unless it is an Error or std::bad_alloc.
[[nodiscard]] inline Status status_of_exception() try { throw; } catch (const Error& error) {
  // what() is the message followed by the text of the code. An Error made from the status adds that text again.
  std::string text = error.what();
  const std::string words = ": " + error.code().message();
  if (text.ends_with(words)) text.erase(text.size() - words.size());
  return {error.code(), std::move(text)};
} catch (const std::bad_alloc&) {
  return {make_error_code(Errc::no_resources), "there is no memory left"};
}

}  // namespace detail

/// Calls `call` and returns its value or its failure: Result<Request> sent = fab::attempt([&] { return fab::isend(...);
/// }).
template <class Call>
[[nodiscard]] auto attempt(Call&& call) {
  using Value = decltype(std::forward<Call>(call)());
  if constexpr (std::is_void_v<Value>) {
    try {
      std::forward<Call>(call)();
      return Status();
    } catch (...) {
      return detail::status_of_exception();
    }
  } else {
    try {
      return Result<Value>(std::forward<Call>(call)());
    } catch (...) {
      return Result<Value>(detail::status_of_exception());
    }
  }
}

}  // namespace fab
