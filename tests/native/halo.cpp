// Halo exchange objects under mpirun: every cell after every exchange.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <vector>

#include "native/support/halo_cases.h"
#include "native/support/on_all_ranks.h"
#include "support/head_start.h"

namespace fab {
namespace {

using test::grid_of;
using test::HaloCase;
using test::HaloModel;

class HaloTest : public test::OnAllRanks {
 protected:
  static std::vector<HaloCase> cases() { return test::halo_cases(size()); }

  static std::vector<Direction> directions_of(const HaloExchange& halo) {
    const auto all = halo.geometry().directions();
    return {all.begin(), all.end()};
  }
};

TEST_F(HaloTest, EveryCellIsWhatItsOwnerHas) {
  for (const HaloCase& each : cases()) {
    const HaloModel model(each, rank());
    HaloExchange halo(world(), model.options());
    const auto field = halo.field<std::uint64_t>();
    EXPECT_TRUE(std::ranges::all_of(field, [](std::uint64_t word) { return word == 0; }));
    for (std::uint64_t iteration = 0; iteration < 3; ++iteration) {
      model.fill(halo, field, iteration);
      halo.start();
      halo.finish();
      EXPECT_EQ(model.find_fault(halo, field, iteration), "");
    }
  }
}

TEST_F(HaloTest, FinishAnyTellsEachSideOnce) {
  for (const HaloCase& each : cases()) {
    const HaloModel model(each, rank());
    HaloExchange halo(world(), model.options());
    const auto field = halo.field<std::uint64_t>();
    EXPECT_FALSE(halo.finish_any()) << "not started";
    for (std::uint64_t iteration = 0; iteration < 3; ++iteration) {
      model.fill(halo, field, iteration);
      halo.start();
      std::vector<Direction> told;
      while (const auto side = halo.finish_any()) {
        told.push_back(*side);
        EXPECT_EQ(model.find_fault(halo, field, iteration, halo.geometry().halo(*side)), "");
        EXPECT_TRUE(halo.active());
      }
      EXPECT_FALSE(halo.active());
      EXPECT_THAT(told, testing::UnorderedElementsAreArray(directions_of(halo))) << each.name;
      EXPECT_EQ(model.find_fault(halo, field, iteration), "");
    }
  }
}

TEST_F(HaloTest, SidesMayBeFinishedInAnyOrder) {
  HaloCase each{.name = "orders",
                .grid = grid_of(size(), 2),
                .periodic = {true, false},
                .interior = {5, 40},
                .width = {2, 1},
                .uneven = true};
  const HaloModel model(each, rank());
  HaloExchange halo(world(), model.options());
  const auto field = halo.field<std::uint64_t>();
  std::vector<std::size_t> order(halo.geometry().directions().size());
  std::iota(order.begin(), order.end(), 0);
  std::uint64_t iteration = 0;
  do {
    model.fill(halo, field, ++iteration);
    halo.start();
    if (iteration % 8 == 0) test::give_head_start(std::chrono::milliseconds(2));  // another thread drives progress
    for (const std::size_t i : order) {
      const Direction& side = halo.geometry().directions()[i];
      halo.finish(side);
      EXPECT_EQ(model.find_fault(halo, field, iteration, halo.geometry().halo(side)), "");
    }
    if (iteration % 2 == 0) {
      EXPECT_FALSE(halo.finish_any()) << "all are told";
    }
    halo.finish();
    EXPECT_EQ(model.find_fault(halo, field, iteration), "");
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_EQ(iteration, 24u);
}

TEST_F(HaloTest, FinishAnyLeavesOutWhatWasTold) {
  HaloCase each{.name = "told",
                .grid = grid_of(size(), 2),
                .periodic = {true, false},
                .interior = {3, 3},
                .width = {1, 1},
                .corners = true};
  const HaloModel model(each, rank());
  HaloExchange halo(world(), model.options());
  for (const Direction& first : directions_of(halo)) {
    halo.start();
    halo.finish(first);
    std::vector<Direction> told = {first};
    while (const auto side = halo.finish_any()) told.push_back(*side);
    EXPECT_THAT(told, testing::UnorderedElementsAreArray(directions_of(halo)));
  }
}

TEST_F(HaloTest, OneFieldIsComputedWhileTheOtherTravels) {
  HaloCase each{.name = "two buffers",
                .grid = grid_of(size(), 2, 1),
                .periodic = {true, true},
                .interior = {6, 7},
                .width = {1, 2},
                .corners = true,
                .buffers = 2};
  const HaloModel model(each, rank());
  HaloExchange halo(world(), model.options());
  model.fill(halo, halo.field<std::uint64_t>(), 0);
  for (std::uint64_t iteration = 0; iteration < 300; ++iteration) {
    halo.start();
    model.fill(halo, halo.other_field<std::uint64_t>(), iteration + 1);
    while (halo.finish_any()) {
    }
    ASSERT_EQ(model.find_fault(halo, halo.field<std::uint64_t>(), iteration), "");
    halo.flip();
  }
}

TEST_F(HaloTest, BothFieldsMayTravelAtOnce) {
  HaloCase each{.name = "both",
                .grid = grid_of(size(), 3),
                .periodic = {true, true, false},
                .interior = {4, 4, 4},
                .width = {1, 1, 1},
                .buffers = 2};
  const HaloModel model(each, rank());
  HaloExchange halo(world(), model.options());
  for (std::uint64_t iteration = 0; iteration < 100; ++iteration) {
    for (const std::uint64_t buffer : {0u, 1u}) {
      model.fill(halo, halo.field<std::uint64_t>(), 2 * iteration + buffer);
      halo.start();
      halo.flip();
    }
    if (iteration % 2 == 1) {  // the later one first
      halo.flip();
      halo.finish();
      halo.flip();
    }
    for (const std::uint64_t buffer : {0u, 1u}) {
      halo.finish();
      ASSERT_EQ(model.find_fault(halo, halo.field<std::uint64_t>(), 2 * iteration + buffer), "");
      halo.flip();
    }
  }
}

TEST_F(HaloTest, UsesTheCallersMemoryAndNothingAroundIt) {
  constexpr std::size_t kGuard = 64;
  HaloCase each{.name = "own memory",
                .grid = grid_of(size(), 2),
                .periodic = {true, true},
                .interior = {4, 4},
                .width = {2, 1},
                .words = 3,
                .corners = true,
                .buffers = 2};
  const std::size_t words = 8 * 6 * each.words;
  std::vector<std::vector<std::uint64_t>> arrays(2, std::vector<std::uint64_t>(words + 2 * kGuard, 0xabcdef));
  for (auto& array : arrays) each.memory.push_back(std::as_writable_bytes(std::span(array).subspan(kGuard, words)));
  const HaloModel model(each, rank());
  HaloExchange halo(world(), model.options());
  EXPECT_EQ(halo.field().data(), each.memory[0].data());
  EXPECT_EQ(halo.other_field().data(), each.memory[1].data());
  for (std::uint64_t iteration = 0; iteration < 10; ++iteration) {
    const auto field = halo.field<std::uint64_t>();
    model.fill(halo, field, iteration);
    halo.start();
    halo.finish();
    EXPECT_EQ(model.find_fault(halo, field, iteration), "");
    halo.flip();
  }
  for (const auto& array : arrays)
    for (std::size_t i = 0; i < kGuard; ++i) {
      EXPECT_EQ(array[i], 0xabcdefu);
      EXPECT_EQ(array[array.size() - 1 - i], 0xabcdefu);
    }
}

TEST_F(HaloTest, LeftOverRanksGetNone) {
  const int places = std::max(1, size() - 1);
  HaloCase each{
      .name = "left over", .grid = {places, 1}, .periodic = {true, true}, .interior = {3, 3}, .width = {1, 1}};
  const HaloModel model(each, rank());
  HaloOptions options = model.options();
  if (rank() >= places) options.block = {};  // they have no block
  if (rank() >= places) {
    EXPECT_THROW(HaloExchange(world(), options), Error);
  } else {
    EXPECT_EQ(HaloExchange(world(), options).communicator().size(), places);
  }
  std::optional<HaloExchange> halo = HaloExchange::make_if(world(), options);
  ASSERT_EQ(halo.has_value(), rank() < places);
  if (!halo) return;
  EXPECT_EQ(halo->communicator().size(), places);
  EXPECT_EQ(halo->neighbor({1, 0}), (rank() + 1) % places);
  EXPECT_EQ(halo->neighbor({0, -1}), rank());
  model.fill(*halo, halo->field<std::uint64_t>(), 1);
  HaloExchange moved = *std::move(halo);
  moved.start();
  moved.finish();
  EXPECT_EQ(model.find_fault(moved, moved.field<std::uint64_t>(), 1), "");
}

// Rank 0's block is longer along the faces that it shares.
TEST_F(HaloTest, BlocksThatDoNotFitAreTold) {
  if (size() < 2) GTEST_SKIP() << "needs two blocks";
  const std::size_t length = rank() == 0 ? 5 : 4;
  HaloExchange halo(
      world(), {.grid = {size(), 1}, .periodic = {true, true}, .block = {.interior = {3, length}, .width = {1, 1}}});
  const auto outcome = [](auto call) {
    try {
      call();
      return Status();
    } catch (const Error& error) {
      return Status{error.code(), error.what()};
    }
  };
  const Errc expected = rank() == 0 ? Errc::mismatch : Errc::truncated;
  const bool concerned = rank() <= 1 || rank() == size() - 1;
  for (int i = 0; i < 3; ++i) {
    halo.start();
    const Status first = outcome([&] {
      while (halo.finish_any()) {
      }
    });
    EXPECT_EQ(first.errc(), concerned ? expected : Errc{}) << first.message;
    EXPECT_EQ(halo.active(), concerned) << "finish is still to be called";
    EXPECT_EQ(outcome([&] { halo.finish(); }).errc(), first.errc());
    EXPECT_FALSE(halo.active());
  }
}

TEST_F(HaloTest, MisuseIsTold) {
  const auto expect_refusal = [](const char* part, auto call) {
    try {
      call();
      ADD_FAILURE() << "not refused: " << part;
    } catch (const Error& error) {
      EXPECT_EQ(error.errc(), Errc::invalid_argument) << error.what();
      EXPECT_THAT(error.what(), testing::HasSubstr(part));
    }
  };
  const HaloOptions good{.grid = {size()}, .periodic = {false}, .block = {.interior = {4}, .width = {1}}};
  const auto expect_bad = [&](const char* part, auto change) {
    HaloOptions options = good;
    change(options);
    expect_refusal(part, [&] { static_cast<void>(HaloExchange::make_if(world(), options)); });
  };
  expect_bad("width[0] is 5; valid is 0 to interior[0], which is 4", [](auto& o) { o.block.width = {5}; });
  expect_bad("buffers is 3", [](auto& o) { o.buffers = 3; });
  expect_bad("the block has 2 dimensions and the grid has 1", [](auto& o) {
    o.block = {.interior = {4, 4}, .width = {1, 1}};
  });
  std::vector<std::byte> memory(40);
  expect_bad("memory[0] has 40 bytes; the block and its halo have 48", [&](auto& o) { o.memory = {memory}; });
  expect_bad("memory has 1 entries and buffers is 2", [&](auto& o) {
    o.memory = {memory};
    o.buffers = 2;
  });

  HaloExchange halo(world(), good);
  expect_refusal("flip: this object has one buffer", [&] { halo.flip(); });
  expect_refusal("other_field: this object has one buffer", [&] { static_cast<void>(halo.other_field()); });
  struct Odd {
    char bytes[3];
  };
  expect_refusal("no whole number of values of 3 bytes", [&] { static_cast<void>(halo.field<Odd>()); });
  expect_refusal("no halo on side {0}", [&] { halo.finish({0}); });
  expect_refusal("no halo on side {1,1}", [&] { halo.finish({1, 1}); });
  expect_refusal("offset 0 of a direction is 2", [&] { halo.finish({2}); });
  halo.finish();
  halo.finish({1});
  halo.start();
  expect_refusal("start: the last start is not finished", [&] { halo.start(); });
  halo.finish({1});
  expect_refusal("start: the last start is not finished", [&] { halo.start(); });
  halo.finish();
  halo.start();
  halo.finish();
}

}  // namespace
}  // namespace fab
