// Logging to stderr: one line a message, "fab[rank] level: text".
#pragma once

#include <fmt/core.h>

#include <array>
#include <string_view>
#include <utility>

namespace fab {

enum class LogLevel { off, error, warn, info, debug };

/// As a user writes them in FAB_LOG; in their order.
inline constexpr std::array<std::pair<std::string_view, LogLevel>, 5> kLogLevels = {{{"off", LogLevel::off},
                                                                                     {"error", LogLevel::error},
                                                                                     {"warn", LogLevel::warn},
                                                                                     {"info", LogLevel::info},
                                                                                     {"debug", LogLevel::debug}}};

[[nodiscard]] constexpr std::string_view name_of(LogLevel level) noexcept {
  return kLogLevels.at(static_cast<std::size_t>(level)).first;
}

/// Where messages of one context go. Safe from any thread.
class Log {
 public:
  Log() = default;
  Log(LogLevel level, int rank) : level_(level), rank_(rank) {}

  [[nodiscard]] bool enabled(LogLevel level) const noexcept { return level <= level_; }

  template <class... Args>
  void write(LogLevel level, fmt::format_string<Args...> format, Args&&... args) const {
    if (enabled(level)) emit(level, fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  void emit(LogLevel level, std::string_view text) const;

  LogLevel level_ = LogLevel::warn;
  int rank_ = -1;
};

}  // namespace fab
