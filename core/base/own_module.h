// Modules of fab's: shared objects that lie beside libfab, linked with a library that most programs never need.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "fab/error.h"

namespace fab::core {

/// Where the names of the module's libraries are seen.
enum class Symbols { for_the_module, for_the_process };

/// The folder of the library that this is part of; empty where it cannot be had.
[[nodiscard]] const std::filesystem::path& own_folder();

/// The address of `symbol` in the module at `file`, seen from libfab's folder. The module is loaded if it is not there
/// yet, and stays. Throws Error(code) with `what_is_missing` and the reason.
[[nodiscard]] const void* load_from_module(const std::string& file, const char* symbol, Symbols symbols, Errc code,
                                           std::string_view what_is_missing);

}  // namespace fab::core
