// Ends a process that did something that its provider's profile forbids.
#pragma once

#include <fmt/core.h>

#include <string_view>

namespace strict {

[[noreturn]] void end_with(std::string_view message) noexcept;

template <class... Values>
[[noreturn]] void violation(fmt::format_string<Values...> format, Values&&... values) {
  end_with(fmt::format(format, std::forward<Values>(values)...));
}

/// Ends the process unless the condition holds.
template <class... Values>
void demand(bool condition, fmt::format_string<Values...> format, Values&&... values) {
  if (!condition) violation(format, std::forward<Values>(values)...);
}

}  // namespace strict
