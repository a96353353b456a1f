// Memory that other processes of the node can map: a file without a name.
#pragma once

#include <cstdint>
#include <string>

namespace fab::core {

struct AnonymousFile {
  int descriptor = -1;    ///< the caller's; -1: the system refuses
  std::string refusal{};  ///< then: why
};

/// Others of the same user open it by its descriptor. No memory is used before pages are touched. A limit on the size
/// of files is a refusal, and not a signal.
[[nodiscard]] AnonymousFile make_anonymous_file(const char* name, std::uint64_t bytes);

}  // namespace fab::core
