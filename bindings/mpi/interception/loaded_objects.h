// The objects that the dynamic linker has loaded into this process, and the functions that their calls are bound to.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fab::mpi {

/// A function that an object calls by name from elsewhere.
struct Import {
  std::string name;
  std::uintptr_t target = 0;  ///< 0 where bound is false
  bool bound = false;         ///< otherwise the linker will look for it at the first call; 0 if bound to nothing
};

/// An executable or a shared library.
struct LoadedObject {
  std::string path;    ///< empty: the program itself
  std::string soname;  ///< empty if it has none
  std::vector<std::string> needed;
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> ranges;  ///< of addresses; the second is behind the last
  std::vector<Import> imports;

  [[nodiscard]] bool contains(std::uintptr_t address) const noexcept;
};

/// All objects, with their imports of these names, which are sorted.
[[nodiscard]] std::vector<LoadedObject> read_loaded_objects(std::span<const std::string_view> names);

/// How many objects have been loaded since the process began.
[[nodiscard]] std::uint64_t count_loads() noexcept;

/// As messages name it.
[[nodiscard]] std::string_view name_of(const LoadedObject& object) noexcept;

}  // namespace fab::mpi
