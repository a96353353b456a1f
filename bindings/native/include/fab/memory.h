// Memory for buffers of exchanges. Between ranks of a node what lies in it is copied once, by the receiver, without
// help of the kernel; for everything else it is memory like any other.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace fab {

/// Memory of at least `bytes` bytes, aligned to 64 bytes, from 4096 bytes on to 4096; its contents are not defined.
/// Needs no context and is thread-safe. Throws Error(no_resources).
[[nodiscard]] void* alloc(std::size_t bytes);

/// Of memory from alloc(), or null. No exchange may still use it. Throws Error(invalid_argument) for any other address.
void free(void* memory);

/// An array in such memory, which it frees: a contiguous range, hence a buffer. Move-only.
template <class T>
requires std::is_trivially_copyable_v<T>
class Array {
 public:
  // NOLINTBEGIN(readability-identifier-naming): the standard's names
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;
  // NOLINTEND(readability-identifier-naming)

  /// Without elements.
  Array() noexcept = default;
  /// Takes over memory from alloc() with so many elements.
  Array(T* first, std::size_t elements) noexcept : first_(first), size_(elements) {}
  Array(Array&& other) noexcept : first_(std::exchange(other.first_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Array& operator=(Array&& other) noexcept {
    std::swap(first_, other.first_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Array() {
    if (first_ != nullptr) fab::free(first_);
  }

  [[nodiscard]] T* data() noexcept { return first_; }
  [[nodiscard]] const T* data() const noexcept { return first_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] T* begin() noexcept { return first_; }
  [[nodiscard]] T* end() noexcept { return first_ + size_; }
  [[nodiscard]] const T* begin() const noexcept { return first_; }
  [[nodiscard]] const T* end() const noexcept { return first_ + size_; }
  /// Precondition: i < size().
  [[nodiscard]] T& operator[](std::size_t i) noexcept { return first_[i]; }
  [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return first_[i]; }

 private:
  T* first_ = nullptr;
  std::size_t size_ = 0;
};

/// `elements` zeros. Throws std::bad_array_new_length, Error(no_resources).
template <class T>
requires std::is_trivially_copyable_v<T> && std::is_trivially_default_constructible_v<T>
[[nodiscard]] Array<T> make_array(std::size_t elements) {
  if (elements > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
  T* const first = static_cast<T*>(alloc(elements * sizeof(T)));
  std::uninitialized_value_construct_n(first, elements);
  return Array<T>(first, elements);
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
