// Parses JSON that people write: rules, networks.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "fab/error.h"

namespace fab {

/// `name` stands for the file in messages. Throws Error(code) that says line and column, or names a field that an
/// object has twice.
[[nodiscard]] nlohmann::json parse_json(std::string_view text, const std::string& name, Errc code);

/// A value as a message shows it: arrays and objects by their kind, all else as JSON, a long text shortened.
[[nodiscard]] std::string shown(const nlohmann::json& value);

}  // namespace fab
