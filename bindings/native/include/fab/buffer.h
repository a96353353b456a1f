// Buffers of typed calls. A buffer is an object of the caller's with a name. It holds trivially copyable elements in
// one piece of memory:
//   - any contiguous range: std::vector, std::array, std::span, std::string, a C array of any rank, fab::Array;
//   - a single number, or a single aggregate;
//   - a view in the manner of std::mdspan, if it is exhaustive;
//   - any type with a specialisation of BufferTraits.
// A temporary that owns its elements does not compile, not even for sending: an operation may outlive the expression
// that starts it. A receive buffer of const elements does not compile either.
#pragma once

#include <concepts>
#include <cstddef>
#include <ranges>
#include <span>
#include <type_traits>

#include "fab/error.h"
#include "fab/operator.h"
#include "fab/reducible.h"

namespace fab {

/// The customisation point for the caller's own array types. A specialisation has a static function
///     std::span<Element> elements(View& view);    // const View& if elements of a const view can be sent
/// It may throw Error(invalid_argument), for instance for a view whose elements are not adjacent.
template <class View>
struct BufferTraits {};

namespace detail {

/// Pointers and views are no elements: another process cannot use their addresses.
template <class T>
concept Element =
    std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::is_member_pointer_v<T> && !std::ranges::view<T>;

template <class B>
concept HasBufferTraits = std::is_lvalue_reference_v<B> && requires(B buffer) {
  BufferTraits<std::remove_cvref_t<B>>::elements(buffer);
};

/// std::mdspan (C++23), Kokkos::mdspan, and views with the same functions.
template <class B>
concept MultidimensionalView = requires(const std::remove_cvref_t<B>& view) {
  { *view.data_handle() } -> std::same_as<typename std::remove_cvref_t<B>::reference>;
  { view.mapping().required_span_size() } -> std::convertible_to<std::size_t>;
  { view.is_exhaustive() } -> std::convertible_to<bool>;
};

template <class B>
concept ContiguousRange = std::ranges::contiguous_range<B> && std::ranges::sized_range<B> &&
    (std::is_lvalue_reference_v<B> || std::ranges::borrowed_range<std::remove_cvref_t<B>>);

template <class T>
inline constexpr bool kIsArgument = std::same_as<T, Operator> || std::same_as<T, UserReduction>;

/// An object that is a single element.
template <class B, class T = std::remove_cvref_t<B>>
concept SingleElement =
    std::is_lvalue_reference_v<B> && Element<T> && !std::ranges::range<B> && !kIsArgument<T> &&
    (std::is_arithmetic_v<T> || std::is_enum_v<T> || Reducible<T> || (std::is_class_v<T> && std::is_aggregate_v<T>));

/// The innermost elements of arrays of arrays.
template <class T>
[[nodiscard]] auto flat(std::span<T> elements) noexcept {
  if constexpr (std::is_array_v<T>) {
    using Innermost = std::remove_all_extents_t<T>;
    return std::span<Innermost>(reinterpret_cast<Innermost*>(elements.data()),
                                elements.size() * (sizeof(T) / sizeof(Innermost)));
  } else {
    return elements;
  }
}

template <HasBufferTraits B>
[[nodiscard]] auto elements_of(B&& buffer) {
  return BufferTraits<std::remove_cvref_t<B>>::elements(buffer);
}
template <class B>
requires MultidimensionalView<B> &&(!HasBufferTraits<B>) [[nodiscard]] auto elements_of(B&& view) {
  if (!view.is_exhaustive())
    throw Error(Errc::invalid_argument,
                "the view is not exhaustive, so it is no buffer; pass its address and a fab::Layout");
  return std::span(view.data_handle(), static_cast<std::size_t>(view.mapping().required_span_size()));
}
template <class B>
requires ContiguousRange<B> &&(!HasBufferTraits<B>)&&(!MultidimensionalView<B>)
    [[nodiscard]] auto elements_of(B&& range) {
  return flat(std::span(std::ranges::data(range), std::ranges::size(range)));
}
template <class B>
requires SingleElement<B> &&(!HasBufferTraits<B>)&&(!MultidimensionalView<B>)
    [[nodiscard]] auto elements_of(B&& element) {
  return std::span(&element, 1);
}

template <class B>
using Elements = decltype(elements_of(std::declval<B>()));

}  // namespace detail

/// A buffer that an operation may read.
template <class B>
concept SendBuffer = requires(B&& buffer) {
  detail::elements_of(std::forward<B>(buffer));
}
&&detail::Element<std::remove_const_t<typename detail::Elements<B>::element_type>>;

/// A buffer that an operation may write.
template <class B>
concept RecvBuffer = SendBuffer<B> && !std::is_const_v<typename detail::Elements<B>::element_type>;

/// The type of a buffer's elements.
template <SendBuffer B>
using ElementOf = std::remove_const_t<typename detail::Elements<B>::element_type>;

/// A send buffer and a receive buffer whose elements have the same type.
template <class Send, class Recv>
concept BufferPair = SendBuffer<Send> && RecvBuffer<Recv> && std::same_as<ElementOf<Send>, ElementOf<Recv>>;

}  // namespace fab
