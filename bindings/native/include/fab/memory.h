// Memory for buffers of exchanges. Between ranks of a node what lies in it is copied once, by the receiver, without
// help of the kernel; for everything else it is memory like any other.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>

namespace fab {

/// Memory of at least `bytes` bytes, aligned to 64 bytes, from 4096 bytes on to 4096; its contents are not defined.
/// Needs no context and is thread-safe. Throws Error(no_resources).
[[nodiscard]] void* alloc(std::size_t bytes);

/// Of memory from alloc(), or null. No exchange may still use it. Throws Error(invalid_argument) for any other address.
void free(void* memory);

/// Frees an array from make_array().
struct Free {
  void operator()(void* memory) const { fab::free(memory); }
};
template <class T>
using Array = std::unique_ptr<T[], Free>;

/// `elements` zeros. Throws std::bad_array_new_length, Error(no_resources).
template <class T>
requires std::is_trivially_copyable_v<T> && std::is_trivially_default_constructible_v<T>
[[nodiscard]] Array<T> make_array(std::size_t elements) {
  if (elements > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
  T* const first = static_cast<T*>(alloc(elements * sizeof(T)));
  std::uninitialized_value_construct_n(first, elements);
  return Array<T>(first);
}

/// For containers: std::vector<double, fab::Allocator<double>>.
template <class T>
struct Allocator {
  using value_type = T;  // NOLINT(readability-identifier-naming): the standard's name
  Allocator() noexcept = default;
  template <class U>
  Allocator(const Allocator<U>&) noexcept {}  // NOLINT(google-explicit-constructor): containers convert theirs

  /// Throws std::bad_array_new_length, Error(no_resources).
  [[nodiscard]] T* allocate(std::size_t elements) {
    if (elements > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(alloc(elements * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t) noexcept { fab::free(memory); }
  friend bool operator==(const Allocator&, const Allocator&) noexcept { return true; }
};

}  // namespace fab
