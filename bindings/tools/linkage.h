// Reads from the headers of a program's file how it is linked.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace fab::tools {

/// The file that execvp starts for this name; empty if there is none.
[[nodiscard]] std::filesystem::path find_program(const char* name);

/// Whether it is a program that no dynamic linker starts, which preloads nothing. False for scripts, and for files that
/// cannot be read.
[[nodiscard]] bool is_statically_linked(const std::filesystem::path& program);

/// Names of the shared libraries that the file itself asks for. None of scripts, and of files that cannot be read.
[[nodiscard]] std::vector<std::string> needed_libraries(const std::filesystem::path& program);

}  // namespace fab::tools
