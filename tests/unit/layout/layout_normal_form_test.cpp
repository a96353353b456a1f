// The same box of elements described in many ways ends as the same nodes.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "fab/layout.h"

namespace fab {
namespace {

using Sizes = std::vector<std::size_t>;
using Displacements = std::vector<std::ptrdiff_t>;

/// A box inside an array.
struct Part {
  Sizes sizes, subsizes, starts;
};

Layout by_subarray(const Part& box, const Layout& element) {
  return Layout::subarray(box.sizes, box.subsizes, box.starts, element);
}

/// Bytes between elements that are neighbours in each dimension.
Displacements strides(const Part& box, std::ptrdiff_t extent) {
  Displacements result(box.sizes.size());
  for (std::size_t d = result.size(); d-- > 0; extent *= static_cast<std::ptrdiff_t>(box.sizes[d])) result[d] = extent;
  return result;
}

std::ptrdiff_t corner(const Part& box, const Displacements& stride) {
  std::ptrdiff_t offset = 0;
  for (std::size_t d = 0; d < stride.size(); ++d) offset += static_cast<std::ptrdiff_t>(box.starts[d]) * stride[d];
  return offset;
}

/// A vector of vectors, innermost dimension first, the way MPI codes without MPI_Type_create_subarray do it.
Layout by_vectors(const Part& box, const Layout& element) {
  const Displacements stride = strides(box, element.extent());
  Layout layout = element;
  for (std::size_t d = stride.size(); d-- > 0;) layout = Layout::vector(box.subsizes[d], 1, stride[d], layout);
  return layout.shifted(corner(box, stride));
}

/// Where the elements of the box begin, in C order.
Displacements elements(const Part& box, std::ptrdiff_t extent) {
  const Displacements stride = strides(box, extent);
  Displacements places{corner(box, stride)};
  for (std::size_t d = 0; d < stride.size(); ++d) {
    Displacements next;
    for (const std::ptrdiff_t place : places) {
      for (std::size_t i = 0; i < box.subsizes[d]; ++i) {
        next.push_back(place + static_cast<std::ptrdiff_t>(i) * stride[d]);
      }
    }
    places = next;
  }
  return places;
}

Layout by_elements(const Part& box, const Layout& element) {
  const Displacements places = elements(box, element.extent());
  return Layout::indexed(Sizes(places.size(), 1), places, element);
}

Layout by_rows(const Part& box, const Layout& element) {
  Part first = box;
  first.subsizes.back() = std::min<std::size_t>(1, box.subsizes.back());
  const Displacements places = elements(first, element.extent());
  return Layout::indexed(Sizes(places.size(), box.subsizes.back()), places, element);
}

Layout by_fields(const Part& box, const Layout& element) {
  std::vector<Layout::Field> fields;
  for (const std::ptrdiff_t place : elements(box, element.extent())) {
    fields.push_back({.displacement = place, .element = element});
  }
  return Layout::structure(fields);
}

Part random_part(std::mt19937& random) {
  const auto pick = [&random](std::size_t low, std::size_t high) {
    return std::uniform_int_distribution<std::size_t>(low, high)(random);
  };
  Part box;
  for (std::size_t d = pick(1, 4); d > 0; --d) {
    box.sizes.push_back(pick(1, 6));
    box.subsizes.push_back(pick(1, box.sizes.back()));
    box.starts.push_back(pick(0, box.sizes.back() - box.subsizes.back()));
  }
  return box;
}

void expect_one_form(const Part& box, const Layout& element) {
  const Layout expected = by_subarray(box, element);
  for (const auto& form : {by_vectors, by_elements, by_rows, by_fields}) {
    const Layout layout = form(box, element).resized(0, expected.extent());
    EXPECT_EQ(layout, expected) << layout.to_string() << "\n" << expected.to_string();
    EXPECT_EQ(layout.hash(), expected.hash());
  }
}

TEST(LayoutNormalFormTest, BoxesOfDoubles) {
  std::mt19937 random(7);
  for (int i = 0; i < 1000; ++i) expect_one_form(random_part(random), Layout::contiguous(8));
}

TEST(LayoutNormalFormTest, BoxesOfPaddedElements) {
  std::mt19937 random(8);
  for (int i = 0; i < 1000; ++i) expect_one_form(random_part(random), Layout::contiguous(12).resized(0, 16));
}

TEST(LayoutNormalFormTest, BoxesOfStructures) {
  const std::vector<Layout::Field> fields{{.element = Layout::contiguous(4)},
                                          {.displacement = 8, .element = Layout::contiguous(8)}};
  const Layout element = Layout::structure(fields).resized(0, 24);
  std::mt19937 random(9);
  for (int i = 0; i < 1000; ++i) expect_one_form(random_part(random), element);
}

TEST(LayoutNormalFormTest, LoopsThatGoOnBecomeOne) {
  const Layout element = Layout::contiguous(8).resized(0, 16);
  EXPECT_EQ(element.repeated(3).repeated(4), element.repeated(12));
  const Layout parts = Layout::indexed(Sizes{2, 3, 1}, Displacements{0, 32, 80}, element);
  EXPECT_EQ(parts, element.repeated(6));
  EXPECT_EQ(element.repeated(6).nodes().size(), 1U);
}

TEST(LayoutNormalFormTest, TreeBeforeItsLoopJoinsIt) {
  const Layout row = Layout::contiguous(8).resized(0, 16).repeated(3).resized(0, 100);
  const std::vector<Layout::Field> fields{{.element = row}, {.count = 4, .displacement = 100, .element = row}};
  EXPECT_EQ(Layout::structure(fields), row.repeated(5));
}

TEST(LayoutNormalFormTest, TouchingBlocksOfLoopsJoin) {
  const Layout element = Layout::contiguous(8);
  const Layout singles = Layout::indexed(Sizes{1, 1, 1, 1}, Displacements{0, 16, 24, 40}, element);
  EXPECT_EQ(singles, Layout::indexed(Sizes{1, 2, 1}, Displacements{0, 16, 40}, element));
  EXPECT_EQ(singles.nodes().size(), 3U);
}

}  // namespace
}  // namespace fab
