// Environments of tests.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "core/base/config.h"

namespace fab::test {

/// These variables alone are set.
[[nodiscard]] inline Environment environment_of(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

}  // namespace fab::test
