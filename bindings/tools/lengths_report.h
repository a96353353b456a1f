// The lengths from which on messages within a node take another way, as fab_info shows them.
#pragma once

#include <nlohmann/json.hpp>

#include "core/base/config.h"

namespace fab::tools {

/// The kind of this node's processors, the longest messages that senders copy, in bytes, and who says so.
[[nodiscard]] nlohmann::ordered_json describe_lengths(const Config& config);
void print_lengths(const nlohmann::ordered_json& lengths);

}  // namespace fab::tools
