// The network files that come with fab.
#pragma once

#include <string>
#include <vector>

namespace fab::tools {

/// A file's path as it is; otherwise that of the installed network file of this name. Throws Error(invalid_argument)
/// that lists the names.
[[nodiscard]] std::string network_file(const std::string& name_or_path);

/// Names, in order. Empty where none is installed beside the program.
[[nodiscard]] std::vector<std::string> network_names();

/// A line for each: its name, and what it says of itself.
[[nodiscard]] std::string list_networks();

}  // namespace fab::tools
