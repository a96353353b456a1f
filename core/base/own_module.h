// Modules of fab's: shared objects that lie beside libfab, linked with a library that most programs never need.
#pragma once

#include <string>

namespace fab::core {

/// Who sees the names of what the module is linked with.
enum class Symbols { for_the_module, for_the_process };

/// The address of `symbol` in the module at `file`, seen from libfab's folder. The module is loaded if it is not there
/// yet, and stays. Null if it cannot be had; then load_fault() says why.
[[nodiscard]] const void* load_from_module(const std::string& file, const char* symbol, Symbols symbols);
[[nodiscard]] std::string load_fault();

}  // namespace fab::core
