// Settings that all ranks must share. They travel with the addresses that ranks fetch when they first meet.
#pragma once

#include <string>
#include <string_view>

#include "core/base/config.h"

namespace fab::core {

/// The variables that must be the same everywhere and do not have their defaults, as lines NAME=value.
[[nodiscard]] std::string shared_settings(const Config& config);

/// Names the first difference, with both values; empty when there is none.
[[nodiscard]] std::string find_difference(std::string_view here, std::string_view there);

/// What a rank publishes: its settings and an address of any bytes.
[[nodiscard]] std::string with_settings(std::string_view settings, std::string_view address);
struct Published {
  std::string_view settings;
  std::string_view address;
};
[[nodiscard]] Published split_published(std::string_view text) noexcept;

}  // namespace fab::core
