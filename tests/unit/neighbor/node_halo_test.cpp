// Halo exchanges by nodes against those that go directly. A thread is a rank.
#include <gtest/gtest.h>

#include <variant>

#include "collectives/calls/buffers.h"
#include "collectives/neighbor/halo_xchg.h"
#include "unit/neighbor/node_exchanges.h"

namespace fab::test {
namespace {

/// One way to exchange a rank's padded block, in memory of its own.
class HaloSide {
 public:
  HaloSide(const core::Communicator& grid, const HaloGeometry& block)
      : self_(grid.rank()), block_(block), field_(block.bytes()) {}

  [[nodiscard]] core::Persistent make(const std::shared_ptr<core::Communicator>& grid) {
    return collectives::make_halo_xchg(grid, field_.data(), block_);
  }
  [[nodiscard]] core::Persistent make_direct(const std::shared_ptr<core::Communicator>& grid) {
    const auto& cartesian = std::get<Cartesian>(*grid->topology());
    return {grid, collectives::build_halo_xchg(cartesian, self_, block_, grid->commit_options()),
            collectives::buffers(field_.data(), field_.data())};
  }
  void fill(int start) {
    fill_by_chance(field_, static_cast<std::uint64_t>(self_) << 32 | static_cast<std::uint64_t>(start));
  }
  [[nodiscard]] const std::vector<std::byte>& field() const { return field_; }

 private:
  Rank self_;
  const HaloGeometry& block_;
  std::vector<std::byte> field_;
};

TEST(NodeHalos, AreThoseThatDirectExchangesBring) {
  const HaloGeometry block({.interior = {4, 5, 3}, .width = {1, 2, 1}, .corners = true});
  for (std::uint32_t seed = 1; seed <= static_cast<std::uint32_t>(kNodeSeeds); ++seed) {
    SCOPED_TRACE(seed);
    InProcessJob job(8, by_node_config(), {.seed = seed, .writes = seed % 2 == 0, .nodes = nodes_of(8, 3, seed)});
    const auto grids = job.communicators([&](Rank) { return Cartesian({2, 4, 1}, {true, seed % 2 == 0, seed < 4}); });
    on_all_ranks(grids, [&](const std::shared_ptr<core::Communicator>& grid) {
      HaloSide direct(*grid, block);
      HaloSide by_node(*grid, block);
      core::Persistent direct_exchange = direct.make_direct(grid);
      core::Persistent exchange = by_node.make(grid);
      for (int start = 0; start < 3; ++start) {
        direct.fill(start);
        by_node.fill(start);
        start_and_wait(direct_exchange);
        start_and_wait(exchange);
        EXPECT_EQ(by_node.field(), direct.field()) << "rank " << grid->rank() << ", start " << start;
      }
    });
  }
}

/// The messages to the other one of two nodes of three ranks, each a row of a periodic grid.
int messages_of_halos(const Config& config) {
  const std::vector<int> nodes{0, 0, 0, 1, 1, 1};
  InProcessJob job(6, config, {.nodes = nodes});
  const auto grids = job.communicators([](Rank) { return Cartesian({2, 3}, {true, true}); });
  const HaloGeometry block({.interior = {4, 5}, .width = {1, 1}, .corners = true});
  std::vector<std::byte> field(block.bytes());
  return messages_between_nodes(grids, nodes, [&](const std::shared_ptr<core::Communicator>& grid) {
    return collectives::make_halo_xchg(grid, field.data(), block);
  });
}

TEST(NodeHalos, TravelTogetherOnlyWhereTheVariableSaysSo) {
  EXPECT_EQ(messages_of_halos(by_node_config()), 2);
  EXPECT_EQ(messages_of_halos(caller_config()), 6 * 3) << "each side can be waited for";
}

}  // namespace
}  // namespace fab::test
