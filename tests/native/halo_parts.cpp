// Halo exchanges whose parts threads mark ready, under mpirun: every cell after every exchange.
#include <gmock/gmock.h>

#include <algorithm>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "native/support/halo_cases.h"
#include "native/support/on_all_ranks.h"
#include "unit/support/expect_error.h"

namespace fab {
namespace {

using test::HaloCase;
using test::HaloModel;

using HaloPartsTest = test::OnAllRanks;

/// Threads that mark parts and wait for them, each its own, in any order of sides. Returns what is wrong with the cells
/// of a part that was waited for.
std::vector<std::string> run_parts(HaloExchange& halo, const HaloParts& parts, const HaloModel& model,
                                   std::uint64_t iteration) {
  const auto field = halo.field<std::uint64_t>();
  const std::size_t threads = std::min<std::size_t>(parts.count, 3);
  std::vector<std::vector<std::string>> faults(threads);
  const auto work = [&](std::size_t thread) {
    std::vector<Direction> sides(halo.geometry().directions().begin(), halo.geometry().directions().end());
    std::ranges::shuffle(sides, std::minstd_rand(static_cast<unsigned>(thread + iteration + 1)));
    for (std::size_t part = thread; part < parts.count; part += threads) {
      if (iteration % 2 == 0)
        halo.ready(part);
      else
        for (const Direction& side : sides) halo.ready(side, part);
    }
    for (std::size_t part = thread; part < parts.count; part += threads)
      for (const Direction& side : sides) {
        if (iteration % 2 == 0)
          halo.finish(side, part);
        else
          while (!halo.arrived(side, part)) std::this_thread::yield();
        Box box = halo.geometry().halo(side);
        const Box slab = halo.part(part);
        if (side[parts.dimension] == 0) {
          box.start[parts.dimension] = slab.start[parts.dimension];
          box.size[parts.dimension] = slab.size[parts.dimension];
        } else if (part != (side[parts.dimension] < 0 ? 0 : parts.count - 1)) {
          continue;  // a slab in between may have no cells that go there
        }
        if (slab.size[parts.dimension] > 0) faults[thread].push_back(model.find_fault(halo, field, iteration, box));
      }
  };
  {
    std::vector<std::jthread> team;
    for (std::size_t thread = 1; thread < threads; ++thread) team.emplace_back(work, thread);
    work(0);
  }
  std::vector<std::string> all;
  for (const auto& each : faults) all.insert(all.end(), each.begin(), each.end());
  return all;
}

TEST_F(HaloPartsTest, PartsBringEveryCell) {
  for (const HaloCase& each : test::halo_cases(size()))
    for (const std::size_t dimension : {std::size_t{0}, each.grid.size() - 1})
      for (const std::size_t count : {1u, 2u, 3u, 6u}) {
        const HaloModel model(each, rank());
        const HaloParts parts{.count = count, .dimension = dimension};
        HaloExchange halo(world(), model.options(), parts);
        EXPECT_EQ(halo.parts(), count);
        for (std::uint64_t iteration = 0; iteration < 2; ++iteration) {
          model.fill(halo, halo.field<std::uint64_t>(), iteration);
          halo.start();
          EXPECT_THAT(run_parts(halo, parts, model, iteration), testing::Each(testing::IsEmpty())) << each.name;
          halo.finish();
          EXPECT_EQ(model.find_fault(halo, halo.field<std::uint64_t>(), iteration), "") << count;
        }
      }
}

TEST_F(HaloPartsTest, PartsHaveAllCellsOnce) {
  const HaloOptions options{
      .grid = {size(), 1}, .periodic = {true, false}, .block = {.interior = {7, 4}, .width = {1, 2}}};
  const HaloExchange halo(world(), options, {.count = 3});
  EXPECT_EQ(halo.part(0), (Box{.start = {1, 2}, .size = {3, 4}}));
  EXPECT_EQ(halo.part(1), (Box{.start = {4, 2}, .size = {2, 4}}));
  EXPECT_EQ(halo.part(2), (Box{.start = {6, 2}, .size = {2, 4}}));
}

TEST_F(HaloPartsTest, RefusesPartsThatThereAreNot) {
  const HaloOptions options{
      .grid = {size(), 1}, .periodic = {true, false}, .block = {.interior = {7, 4}, .width = {1, 1}}};
  const auto refused = [&](const HaloParts& parts) { HaloExchange(world(), options, parts); };
  test::expect_error(Errc::invalid_argument, {"0 parts"}, [&] { refused({.count = 0}); });
  test::expect_error(Errc::invalid_argument, {"along dimension 2", "0 to 1"},
                     [&] { refused({.count = 2, .dimension = 2}); });
  HaloExchange whole(world(), options);
  EXPECT_EQ(whole.parts(), 1u);
  EXPECT_EQ(whole.part(0), whole.geometry().interior());
  whole.start();
  test::expect_error(Errc::invalid_argument, {"have no parts"}, [&] { whole.ready(0); });
  whole.finish();
  HaloExchange halo(world(), options, {.count = 2});
  test::expect_error(Errc::invalid_argument, {"before the start"}, [&] { halo.ready(0); });
  halo.start();
  test::expect_error(Errc::invalid_argument, {"part is 2"}, [&] { halo.ready(2); });
  test::expect_error(Errc::invalid_argument, {"part is 2"}, [&] { static_cast<void>(halo.part(2)); });
  halo.ready(0);
  test::expect_error(Errc::invalid_argument, {"twice"}, [&] { halo.ready({1, 0}, 0); });
  halo.ready({0, 1}, 1);  // the end of the grid
  halo.ready(1);
  halo.finish();
}

}  // namespace
}  // namespace fab
