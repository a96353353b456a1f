// Counts the memory that C++ code of this process holds. Linking with counted_new.cpp replaces operator new.
#pragma once

#include <cstddef>

namespace bench {

/// Bytes that operator new gave, in this program and in shared libraries alike, and that were not given back.
[[nodiscard]] std::ptrdiff_t held_bytes() noexcept;

}  // namespace bench
