// A list that allocates only if it is long.
#pragma once

#include <array>
#include <cstddef>
#include <memory_resource>
#include <vector>

namespace fab::native {

/// For one call. The first kInPlace elements lie in the object itself.
template <class Element>
class ShortList {
 public:
  static constexpr std::size_t kInPlace = 64;

  /// Of at most so many elements. Empty at first.
  explicit ShortList(std::size_t most) { elements_.reserve(most); }
  ShortList(const ShortList&) = delete;
  ShortList& operator=(const ShortList&) = delete;

  void push_back(const Element& element) { elements_.push_back(element); }
  [[nodiscard]] std::size_t size() const noexcept { return elements_.size(); }
  [[nodiscard]] const Element* data() const noexcept { return elements_.data(); }
  [[nodiscard]] auto begin() const noexcept { return elements_.begin(); }
  [[nodiscard]] auto end() const noexcept { return elements_.end(); }

 private:
  alignas(Element) std::array<std::byte, kInPlace * sizeof(Element)> room_;
  std::pmr::monotonic_buffer_resource memory_{room_.data(), room_.size()};
  std::pmr::vector<Element> elements_{&memory_};
};

}  // namespace fab::native
