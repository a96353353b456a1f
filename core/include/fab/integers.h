// Views of arrays of 32-bit or 64-bit integers, so that callers pass counts and displacements in the type they have.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ranges>
#include <span>
#include <type_traits>

namespace fab {

namespace detail {

/// Unsigned 64-bit integers are read as signed: a value above 2^63-1 becomes negative, and every call refuses it.
template <class T>
concept CountType = std::integral<T> && !std::same_as<T, bool> &&
                    (sizeof(T) == sizeof(std::int64_t) || (sizeof(T) == sizeof(std::int32_t) && std::is_signed_v<T>));

}  // namespace detail

/// A view of an array of integers. It copies nothing: the array must outlive it.
class Integers {
 public:
  /// A view of no integers.
  Integers() noexcept = default;
  /// Any contiguous range of `int`, `std::int64_t`, `std::size_t` or another integer of their sizes.
  template <std::ranges::contiguous_range Range>
  requires detail::CountType<std::ranges::range_value_t<Range>> &&(!std::same_as<std::remove_cvref_t<Range>, Integers>)
      Integers(Range&& range) noexcept  // NOLINT(google-explicit-constructor,bugprone-forwarding-reference-overload)
      : Integers(std::ranges::data(range), std::ranges::size(range)) {}
  /// The `size` integers from `data` on.
  template <detail::CountType T>
  Integers(const T* data, std::size_t size) noexcept
      : data_(data), size_and_width_(sizeof(T) == sizeof(std::int64_t) ? size | kWide : size) {}

  /// The number of integers.
  [[nodiscard]] std::size_t size() const noexcept { return size_and_width_ & ~kWide; }
  /// Whether there are no integers.
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  /// Integer i. An unsigned one above 2^63-1 reads as negative. Precondition: i < size().
  [[nodiscard]] std::int64_t operator[](std::size_t i) const noexcept {
    return (size_and_width_ & kWide) != 0 ? at<std::int64_t>(i) : at<std::int32_t>(i);
  }

 private:
  /// Set for 64-bit integers. No array is so long that its size needs this bit; so the view is no larger than a span.
  static constexpr std::size_t kWide = ~(~std::size_t{0} >> 1);

  /// Several integer types have the same size, so the bytes are copied.
  template <class T>
  [[nodiscard]] T at(std::size_t i) const noexcept {
    T value;
    std::memcpy(&value, static_cast<const std::byte*>(data_) + i * sizeof(T), sizeof(T));
    return value;
  }

  const void* data_ = nullptr;
  std::size_t size_and_width_ = 0;
};

}  // namespace fab
