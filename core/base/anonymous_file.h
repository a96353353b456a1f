// Memory that other processes of the node can map: files without a name.
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

/// An anonymous file in kMemoryFolder, where the system refuses those outside of folders. All of it is taken at once,
/// so that a folder that is full is a refusal, and no signal later.
[[nodiscard]] AnonymousFile make_reserved_file(std::uint64_t bytes);
inline constexpr const char* kMemoryFolder = "/dev/shm";

}  // namespace fab::core
