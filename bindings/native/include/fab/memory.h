// Memory for buffers of exchanges. Between ranks of one node the receiver copies data in such memory once, without help
// of the kernel. Otherwise it is ordinary memory.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "fab/api.h"

namespace fab {

/// Allocates at least `bytes` bytes, aligned to 64 bytes, or to 4096 if `bytes` >= 4096. The contents are undefined.
/// Needs no context and is thread-safe. Throws Error(no_resources).
[[nodiscard]] FAB_API void* alloc(std::size_t bytes);

/// Frees memory from alloc(); null is allowed. No exchange may still use it. Throws Error(invalid_argument) for other
/// addresses.
FAB_API void free(void* memory);

/// An array in memory from alloc(). It frees the memory. It is a contiguous range, and so a buffer. Move-only.
template <class T>
requires std::is_trivially_copyable_v<T>
class Array {
 public:
  // NOLINTBEGIN(readability-identifier-naming): the standard's names
  /// @{
  /// The standard's name, for code that works on any container.
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;
  /// @}
  // NOLINTEND(readability-identifier-naming)

  /// An array without elements.
  Array() noexcept = default;
  /// Takes over memory from alloc() that holds `elements` elements.
  Array(T* first, std::size_t elements) noexcept : first_(first), size_(elements) {}
  /// Takes over the memory of `other`, which has no elements afterwards.
  Array(Array&& other) noexcept : first_(std::exchange(other.first_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  /// Exchanges the memory of the two: `other` frees that of this array.
  Array& operator=(Array&& other) noexcept {
    std::swap(first_, other.first_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Array() {
    if (first_ != nullptr) fab::free(first_);
  }

  /// @{
  /// The address of the first element; null for an array from the default constructor, and after a move.
  [[nodiscard]] T* data() noexcept { return first_; }
  [[nodiscard]] const T* data() const noexcept { return first_; }
  /// @}
  /// The number of elements.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Whether the array has no elements.
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  /// @{
  /// Iterators to the first element and behind the last one.
  [[nodiscard]] T* begin() noexcept { return first_; }
  [[nodiscard]] T* end() noexcept { return first_ + size_; }
  [[nodiscard]] const T* begin() const noexcept { return first_; }
  [[nodiscard]] const T* end() const noexcept { return first_ + size_; }
  /// @}
  /// @{
  /// Element i. Precondition: i < size().
  [[nodiscard]] T& operator[](std::size_t i) noexcept { return first_[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return first_[i]; }
  /// @}

 private:
  T* first_ = nullptr;
  std::size_t size_ = 0;
};

/// An array of `elements` zeros. Throws std::bad_array_new_length and Error(no_resources).
template <class T>
requires std::is_trivially_copyable_v<T> && std::is_trivially_default_constructible_v<T>
[[nodiscard]] Array<T> make_array(std::size_t elements) {
  if (elements > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
  T* const first = static_cast<T*>(alloc(elements * sizeof(T)));
  std::uninitialized_value_construct_n(first, elements);
  return Array<T>(first, elements);
}

/// An allocator for containers: std::vector<double, fab::Allocator<double>>.
template <class T>
struct Allocator {
  /// The standard's name for the type of elements.
  using value_type = T;  // NOLINT(readability-identifier-naming): the standard's name
  /// @{
  /// An allocator has no state: all free each other's memory.
  Allocator() noexcept = default;
  template <class U>
  Allocator(const Allocator<U>&) noexcept {}  // NOLINT(google-explicit-constructor): containers convert theirs
  /// @}

  /// Memory from alloc() for `elements` elements, which it does not construct. Throws std::bad_array_new_length,
  /// Error(no_resources).
  [[nodiscard]] T* allocate(std::size_t elements) {
    if (elements > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(alloc(elements * sizeof(T)));
  }
  /// Frees memory from allocate. No exchange may still use it.
  void deallocate(T* memory, std::size_t) noexcept { fab::free(memory); }
  /// Always true.
  friend bool operator==(const Allocator&, const Allocator&) noexcept { return true; }
};

}  // namespace fab
