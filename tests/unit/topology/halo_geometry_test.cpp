#include "fab/halo_geometry.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "bindings/native/base/access.h"
#include "collectives/neighbor/halo_xchg.h"
#include "fab/communicator.h"
#include "fab/halo.h"
#include "unit/harness/recording_rig.h"
#include "unit/support/allocation_count.h"
#include "unit/support/expect_error.h"

namespace fab::test {
namespace {

using testing::ElementsAre;

TEST(HaloGeometry, MeasuresThePaddedBlock) {
  const HaloGeometry block({.interior = {4, 5, 6}, .width = {1, 0, 3}, .element_bytes = 8});
  EXPECT_THAT(block.extents(), ElementsAre(6, 5, 12));
  EXPECT_THAT(block.strides(), ElementsAre(60, 12, 1));
  EXPECT_EQ(block.interior_offset(), 63u);
  EXPECT_EQ(block.cells(), 360u);
  EXPECT_EQ(block.bytes(), 2880u);
  EXPECT_EQ(block.interior(), (Box{{1, 0, 3}, {4, 5, 6}}));
}

TEST(HaloGeometry, ListsTheSidesThatHaveAHalo) {
  const HaloGeometry faces({.interior = {2, 2, 2}, .width = {1, 0, 1}});
  EXPECT_THAT(faces.directions(),
              ElementsAre(Direction{-1, 0, 0}, Direction{0, 0, -1}, Direction{0, 0, 1}, Direction{1, 0, 0}));
  const HaloGeometry corners({.interior = {2, 2}, .width = {1, 1}, .corners = true});
  EXPECT_THAT(corners.directions(), ElementsAre(Direction{-1, -1}, Direction{-1, 0}, Direction{-1, 1}, Direction{0, -1},
                                                Direction{0, 1}, Direction{1, -1}, Direction{1, 0}, Direction{1, 1}));
  for (std::size_t dimensions = 1, all = 3; dimensions <= Direction::kMaxDimensions; ++dimensions, all *= 3) {
    HaloShape shape{.interior = std::vector<std::size_t>(dimensions, 2),
                    .width = std::vector<std::size_t>(dimensions, 1)};
    EXPECT_EQ(HaloGeometry(shape).directions().size(), 2 * dimensions);
    shape.corners = true;
    EXPECT_EQ(HaloGeometry(shape).directions().size(), all - 1);
  }
}

TEST(HaloGeometry, EachSideHasItsCells) {
  const HaloGeometry block({.interior = {4, 6}, .width = {1, 2}, .corners = true});
  EXPECT_EQ(block.halo({-1, 0}), (Box{{0, 2}, {1, 6}}));
  EXPECT_EQ(block.boundary({-1, 0}), (Box{{1, 2}, {1, 6}}));
  EXPECT_EQ(block.halo({0, 1}), (Box{{1, 8}, {4, 2}}));
  EXPECT_EQ(block.boundary({0, 1}), (Box{{1, 6}, {4, 2}}));
  EXPECT_EQ(block.halo({1, -1}), (Box{{5, 0}, {1, 2}}));
  EXPECT_EQ(block.boundary({1, -1}), (Box{{4, 2}, {1, 2}}));
}

// With corners, interior and halos together are every cell once; what is sent over a side has the size of what comes.
TEST(HaloGeometry, HalosTileThePaddedBlock) {
  for (const std::vector<std::size_t>& width : {std::vector<std::size_t>{1, 2, 3}, {3, 0, 1}, {2, 2, 2}}) {
    const HaloGeometry block({.interior = {3, 4, 5}, .width = width, .element_bytes = 1, .corners = true});
    std::vector<int> seen(block.bytes(), 0);
    const auto mark = [&](const Box& box) {
      const Layout layout = block.layout(box);
      std::vector<Piece> pieces(layout.piece_count());
      list_pieces(layout.nodes(), pieces);
      for (const Piece& piece : pieces)
        for (std::uint64_t i = 0; i < piece.bytes; ++i) ++seen.at(static_cast<std::size_t>(piece.offset) + i);
    };
    mark(block.interior());
    for (const Direction& side : block.directions()) {
      mark(block.halo(side));
      EXPECT_EQ(block.halo(side).size, block.boundary(side).size);
      EXPECT_EQ(block.layout(block.boundary(side)).size(), block.layout(block.halo(side.opposite())).size());
    }
    EXPECT_THAT(seen, testing::Each(1));
  }
}

TEST(HaloGeometry, RefusesWhatIsNoBlock) {
  const auto refuses = [](const HaloShape& shape, const char* part) {
    expect_error(Errc::invalid_argument, {"halo: ", part}, [&] { static_cast<void>(HaloGeometry(shape)); });
  };
  constexpr std::size_t kHuge = std::numeric_limits<std::size_t>::max();
  refuses({}, "the interior has 0 dimensions; valid are 1 to 5");
  refuses({.interior = std::vector<std::size_t>(6, 1), .width = std::vector<std::size_t>(6, 0)}, "has 6 dimensions");
  refuses({.interior = {4, 4}, .width = {1}}, "width has 1 entries and interior has 2");
  refuses({.interior = {4, 0}, .width = {1, 0}}, "interior[1] is 0");
  refuses({.interior = {4, 2}, .width = {1, 3}}, "width[1] is 3; valid is 0 to interior[1], which is 2");
  refuses({.interior = {4}, .width = {1}, .element_bytes = 0}, "element_bytes is 0");
  refuses({.interior = {4}, .width = {1}, .element_bytes = kHuge}, "more than 2^63-1 bytes");
  refuses({.interior = {kHuge}, .width = {kHuge}}, "more than 2^63-1 bytes");
  refuses({.interior = {1ull << 31, 1ull << 31}, .width = {0, 0}, .element_bytes = 2}, "more than 2^63-1 bytes");
  refuses({.interior = {kHuge / 3 - 1, 2}, .width = {0, 0}}, "more than 2^63-1 bytes");
}

TEST(HaloGeometry, RefusesWhatIsNoSide) {
  const HaloGeometry block({.interior = {4, 4}, .width = {1, 0}});
  expect_error(Errc::invalid_argument, {"no halo on side {0,1}"}, [&] { static_cast<void>(block.halo({0, 1})); });
  expect_error(Errc::invalid_argument, {"no halo on side {1}"}, [&] { static_cast<void>(block.index_of({1})); });
  expect_error(Errc::invalid_argument, {"over faces only"}, [&] { static_cast<void>(block.boundary({1, 1})); });
  expect_error(Errc::invalid_argument, {"offset 1 of a direction is -2"}, [] { Direction{0, -2}; });
  expect_error(Errc::invalid_argument, {"a direction has 6 dimensions"}, [] { Direction{0, 0, 0, 0, 0, 1}; });
}

// Every message that a rank sends is one that its receiver expects from it, with the same slot and size.
TEST(HaloXchg, BothEndsOfEveryMessageAgree) {
  using Sent = std::tuple<Rank, Rank, std::uint32_t, std::uint64_t>;
  for (const std::vector<int>& dims : {std::vector<int>{1, 1, 1}, {1, 2, 3}, {2, 2, 1}, {4, 1, 2}})
    for (const bool corners : {false, true}) {
      const Cartesian grid(dims, {true, false, true});
      const HaloGeometry block({.interior = {3, 4, 5}, .width = {1, 2, 1}, .corners = corners});
      std::multiset<Sent> sent;
      std::multiset<Sent> expected;
      for (Rank self = 0; self < grid.size(); ++self) {
        const Schedule schedule = collectives::build_halo_xchg(grid, self, block, {});
        for (const OperationRecord& operation : schedule.operations()) {
          const Rank peer = operation.kind == OperationKind::copy ? self : schedule.peers()[operation.peer];
          if (operation.kind == OperationKind::send) sent.emplace(self, peer, operation.slot, operation.bytes);
          if (operation.kind == OperationKind::recv) expected.emplace(peer, self, operation.slot, operation.bytes);
        }
      }
      EXPECT_EQ(sent, expected);
      EXPECT_EQ(sent.empty(), grid.size() == 1);
    }
}

TEST(HaloExchange, AllocatesNothingBetweenStartAndFinish) {
  RecordingRig::Options options;
  options.ranks = 1;
  RecordingRig rig(options);
  const Communicator world = Access::communicator(rig.world());
  HaloExchange halo(world, {.grid = {1, 1},
                            .periodic = {true, false},
                            .block = {.interior = {4, 4}, .width = {1, 1}, .corners = true},
                            .buffers = 2});
  const auto field = halo.field<double>();
  std::fill(field.begin(), field.end(), 3);
  for (int i = 0; i < 3; ++i) {
    const std::size_t before = allocation_count();
    halo.start();
    halo.finish({1, 0});
    std::size_t sides = 1;
    while (halo.finish_any()) ++sides;
    halo.flip();
    EXPECT_EQ(allocation_count(), before);
    EXPECT_EQ(sides, 8u);
  }
}

}  // namespace
}  // namespace fab::test
