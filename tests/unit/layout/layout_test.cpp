#include "fab/layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "unit/support/expect_error.h"

namespace fab {
namespace {

using test::expect_error;
using Sizes = std::vector<std::size_t>;
using Displacements = std::vector<std::ptrdiff_t>;

const Layout kDouble = Layout::contiguous(8);

TEST(LayoutTest, DefaultIsEmpty) {
  const Layout empty;
  EXPECT_EQ(empty.size(), 0U);
  EXPECT_EQ(empty.extent(), 0);
  EXPECT_EQ(empty.piece_count(), 0U);
  EXPECT_TRUE(empty.nodes().empty());
  EXPECT_TRUE(empty.is_contiguous());
  EXPECT_EQ(empty, Layout::contiguous(0));
  EXPECT_EQ(empty, kDouble.repeated(0));
  EXPECT_EQ(empty, Layout::structure({}));
  empty.pack(nullptr, nullptr);
  empty.unpack(nullptr, nullptr);
}

TEST(LayoutTest, ContiguousIsOneBlock) {
  EXPECT_EQ(kDouble.size(), 8U);
  EXPECT_EQ(kDouble.extent(), 8);
  EXPECT_EQ(kDouble.repeated(5), Layout::contiguous(40));
  EXPECT_EQ(Layout::vector(4, 3, 24, kDouble), Layout::contiguous(96));
  EXPECT_EQ(Layout::indexed(Sizes{1, 2, 1}, Displacements{0, 8, 24}, kDouble), Layout::contiguous(32));
}

TEST(LayoutTest, NegativeStrideTravelsBackwards) {
  const Layout layout = Layout::vector(3, 1, -8, kDouble);
  EXPECT_EQ(layout.lower_bound(), -16);
  EXPECT_EQ(layout.extent(), 24);
  EXPECT_EQ(layout.true_lower_bound(), -16);
  EXPECT_EQ(layout.true_upper_bound(), 8);
  const std::array<double, 3> numbers{1, 2, 3};
  std::array<double, 3> packed{};
  layout.pack(&numbers[2], packed.data());
  EXPECT_EQ(packed, (std::array<double, 3>{3, 2, 1}));
}

TEST(LayoutTest, ResizedKeepsBytesAndSetsBounds) {
  const Layout wide = kDouble.resized(-4, 32);
  EXPECT_EQ(wide.lower_bound(), -4);
  EXPECT_EQ(wide.extent(), 32);
  EXPECT_EQ(wide.true_lower_bound(), 0);
  EXPECT_EQ(wide.true_upper_bound(), 8);
  const Layout three = wide.repeated(3);
  EXPECT_EQ(three.lower_bound(), -4);
  EXPECT_EQ(three.extent(), 96);
  EXPECT_EQ(three.piece_count(), 3U);
  EXPECT_NE(wide, kDouble);
}

TEST(LayoutTest, EmptyElementCountsOnlyWithBounds) {
  const Layout marker = Layout().resized(0, 64);
  const std::vector<Layout::Field> fields{{.displacement = 16, .element = kDouble}, {.element = marker}};
  EXPECT_EQ(Layout::structure(fields).lower_bound(), 0);
  EXPECT_EQ(Layout::structure(fields).extent(), 64);
  const std::vector<Layout::Field> without{{.displacement = 16, .element = kDouble}, {.element = Layout()}};
  EXPECT_EQ(Layout::structure(without).lower_bound(), 16);
  EXPECT_EQ(Layout::structure(without).extent(), 8);
  const std::vector<Layout::Field> no_copies{{.displacement = 16, .element = kDouble},
                                             {.count = 0, .displacement = 99, .element = kDouble}};
  EXPECT_EQ(Layout::structure(no_copies), Layout::structure(without));
}

TEST(LayoutTest, ShiftedMovesDataAndBounds) {
  const Layout layout = Layout::vector(2, 1, 16, kDouble).shifted(100);
  EXPECT_EQ(layout.lower_bound(), 100);
  EXPECT_EQ(layout.extent(), 24);
  EXPECT_EQ(layout.true_lower_bound(), 100);
  EXPECT_EQ(layout.shifted(-100), Layout::vector(2, 1, 16, kDouble));
}

TEST(LayoutTest, RepeatedStructureStaysSmall) {
  const std::vector<Layout::Field> fields{{.element = Layout::contiguous(4)}, {.displacement = 8, .element = kDouble}};
  const Layout particles = Layout::structure(fields).resized(0, 24).repeated(1'000'000);
  EXPECT_LE(particles.nodes().size(), 4U);
  EXPECT_EQ(particles.size(), 12'000'000U);
  EXPECT_EQ(particles.piece_count(), 2'000'000U);
}

TEST(LayoutTest, LongArrayOfStructuresIsPackedInOrder) {
  struct Particle {
    int id;
    double mass;
    float place[4];
  };
  const std::vector<Layout::Field> fields{
      {.displacement = offsetof(Particle, mass), .element = kDouble},
      {.displacement = offsetof(Particle, id), .element = Layout::contiguous(4)},
      {.displacement = offsetof(Particle, place), .element = Layout::contiguous(12)}};
  std::vector<Particle> particles(301);
  std::vector<std::byte> expected;
  const auto expect = [&expected](const void* data, std::size_t bytes) {
    const auto* begin = static_cast<const std::byte*>(data);
    expected.insert(expected.end(), begin, begin + bytes);
  };
  for (int i = 0; i < 301; ++i) {
    const auto number = static_cast<float>(i);
    Particle& particle = particles[static_cast<std::size_t>(i)];
    particle = {.id = i, .mass = 0.5 * i, .place = {number, number + 1000, number + 2000, number + 3000}};
    expect(&particle.mass, 8);
    expect(&particle.id, 4);
    expect(particle.place, 12);
  }
  const Layout layout = Layout::structure(fields).resized(0, sizeof(Particle)).repeated(particles.size());
  std::vector<std::byte> packed(layout.size());
  layout.pack(particles.data(), packed.data());
  EXPECT_EQ(packed, expected);

  std::vector<Particle> received(particles.size(), Particle{.id = -1, .mass = -1, .place = {-1, -1, -1, -1}});
  layout.unpack(packed.data(), received.data());
  for (std::size_t i = 0; i < received.size(); ++i) {
    EXPECT_EQ(received[i].id, particles[i].id);
    EXPECT_EQ(received[i].mass, particles[i].mass);
    EXPECT_TRUE(std::equal(received[i].place, received[i].place + 3, particles[i].place));
    EXPECT_EQ(received[i].place[3], -1.0F);
  }
}

TEST(LayoutTest, PiecesThatTouchAcrossRepetitionsCountOnce) {
  const std::vector<Layout::Field> fields{{.element = Layout::contiguous(4)}, {.displacement = 8, .element = kDouble}};
  const Layout array = Layout::structure(fields).repeated(3);  // 0-4, 8-20, 24-36, 40-48
  EXPECT_EQ(array.piece_count(), 4U);
  std::array<Piece, 4> pieces;
  ASSERT_EQ(list_pieces(array.nodes(), pieces), 4U);
  EXPECT_EQ(pieces, (std::array<Piece, 4>{Piece{0, 4}, {8, 12}, {24, 12}, {40, 8}}));
}

TEST(LayoutTest, FirstPiecesAreListedWhole) {
  const Layout layout = Layout::indexed(Sizes{1, 1, 1}, Displacements{0, 100, 108}, kDouble);
  std::array<Piece, 2> pieces;
  ASSERT_EQ(list_pieces(layout.nodes(), pieces), 2U);
  EXPECT_EQ(pieces[1], (Piece{100, 16}));
  EXPECT_EQ(list_pieces(layout.nodes(), {}), 0U);
  EXPECT_EQ(list_pieces({}, pieces), 0U);
}

TEST(LayoutTest, FaceOfBlockIsAtMostTwoNodes) {
  const Sizes sizes{130, 130, 130};
  const Sizes starts{1, 1, 1};
  EXPECT_EQ(Layout::subarray(sizes, Sizes{128, 128, 1}, starts, kDouble).nodes().size(), 2U);
  EXPECT_EQ(Layout::subarray(sizes, Sizes{128, 1, 128}, starts, kDouble).nodes().size(), 1U);
  EXPECT_EQ(Layout::subarray(sizes, Sizes{1, 128, 128}, starts, kDouble).nodes().size(), 1U);
  const Layout whole_rows = Layout::subarray(sizes, Sizes{130, 130, 1}, Sizes{0, 0, 0}, kDouble);
  EXPECT_EQ(whole_rows.nodes().size(), 1U);
}

TEST(LayoutTest, EqualShapesHaveEqualHashes) {
  const Layout a = Layout::vector(4, 2, 32, kDouble);
  const Layout b = Layout::indexed(Sizes{2, 2, 2, 2}, Displacements{0, 32, 64, 96}, kDouble);
  EXPECT_EQ(a, b);
  EXPECT_EQ(a.hash(), b.hash());
  EXPECT_NE(a, a.resized(0, 1000));
  EXPECT_NE(a, Layout::vector(4, 2, 40, kDouble));
  EXPECT_NE(a.hash(), Layout::vector(4, 2, 40, kDouble).hash());
}

TEST(LayoutTest, ToStringShowsLoopsAndBounds) {
  EXPECT_EQ(Layout().to_string(), "0 B in 0 piece(s), lower bound 0, extent 0");
  EXPECT_EQ(Layout::vector(2, 1, 16, kDouble).to_string(),
            "16 B in 2 piece(s), lower bound 0, extent 24: 2 x 8 B at 0 every 16");
  const Layout box = Layout::subarray(Sizes{4, 4, 4}, Sizes{2, 2, 1}, Sizes{1, 1, 1}, kDouble);
  EXPECT_EQ(box.to_string(),
            "32 B in 4 piece(s), lower bound 0, extent 512: 2 x {2 x 8 B at 0 every 32} at 168 every 128");
}

TEST(LayoutTest, ToStringOfLongListsOnlyCounts) {
  Displacements places(100);
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<std::ptrdiff_t>(10 * i * i);
  const std::string text = Layout::indexed(Sizes(places.size(), 1), places, kDouble).to_string();
  EXPECT_NE(text.find("nodes"), std::string::npos) << text;
  EXPECT_LT(text.size(), 200U);
}

TEST(LayoutErrorTest, IndexedNeedsArraysOfOneLength) {
  expect_error(Errc::invalid_argument, {"Layout::indexed", "block_lengths", "2", "displacement_bytes", "3"}, [] {
    (void)Layout::indexed(Sizes{1, 1}, Displacements{0, 8, 16}, kDouble);
  });
}

TEST(LayoutErrorTest, SubarrayNeedsArraysOfOneLength) {
  expect_error(Errc::invalid_argument, {"Layout::subarray", "2, 1 and 2"}, [] {
    (void)Layout::subarray(Sizes{4, 4}, Sizes{1}, Sizes{0, 0}, kDouble);
  });
}

TEST(LayoutErrorTest, SubarrayMustLieInside) {
  expect_error(Errc::invalid_argument, {"Layout::subarray", "dimension 1", "start 3", "subsize 2", "size 4"}, [] {
    (void)Layout::subarray(Sizes{4, 4}, Sizes{1, 2}, Sizes{0, 3}, kDouble);
  });
  constexpr std::size_t kHuge = std::numeric_limits<std::size_t>::max();
  expect_error(Errc::invalid_argument, {"dimension 0"},
               [] { (void)Layout::subarray(Sizes{4}, Sizes{2}, Sizes{kHuge}, kDouble); });
}

TEST(LayoutErrorTest, SizesBeyond63BitsAreRefused) {
  constexpr std::size_t kHuge = std::numeric_limits<std::size_t>::max();
  constexpr std::ptrdiff_t kFar = std::numeric_limits<std::ptrdiff_t>::max();
  const auto refused = [](auto call) { expect_error(Errc::invalid_argument, {"Layout", "2^63-1"}, call); };
  refused([] { (void)Layout::contiguous(kHuge); });
  refused([] { (void)kDouble.repeated(kHuge / 8); });
  refused([] { (void)kDouble.resized(0, 0).repeated(kHuge / 8); });
  const std::vector<Layout::Field> fields(3, {.count = kHuge / 2, .element = Layout::contiguous(1).resized(0, 0)});
  refused([&fields] { (void)Layout::structure(fields); });
  refused([] { (void)Layout::vector(3, 1, kFar / 2, kDouble); });
  refused([] { (void)kDouble.shifted(kFar).shifted(kFar); });
  refused([] { (void)Layout::indexed(Sizes{2}, Displacements{kFar - 8}, kDouble); });
  refused([] { (void)Layout::subarray(Sizes{kHuge, 2}, Sizes{1, 1}, Sizes{0, 0}, kDouble); });
}

}  // namespace
}  // namespace fab
