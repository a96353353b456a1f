// Ranks change places so that a ring leaves each node once in each direction, for every order of the launcher.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <set>
#include <string_view>

#include "fab/fab.h"
#include "native/support/on_all_ranks.h"

namespace fab {
namespace {

class Reorder : public test::OnAllRanks {
 protected:
  /// By rank of a ring of all ranks.
  static std::vector<std::size_t> gather(const Communicator& ring, std::size_t mine) {
    std::vector<std::size_t> all(static_cast<std::size_t>(ring.size()));
    for (int step = 0; step < ring.size(); ++step) {
      all[static_cast<std::size_t>((ring.rank() + step) % ring.size())] = mine;
      cart_shift_xchg(ring, &mine, Layout::contiguous(sizeof(mine)), Shift{Dimension{0}, -1});
    }
    return all;
  }
  static std::size_t host() {
    std::array<char, 256> name{};
    EXPECT_EQ(gethostname(name.data(), name.size() - 1), 0);
    return std::hash<std::string_view>()(name.data());
  }
};

TEST_F(Reorder, LeavesEachNodeOnceInEachDirectionOfARing) {
  const Communicator ring = world().cartesian({size()}, {true}, fab::Reorder::yes);
  const std::vector<std::size_t> hosts = gather(ring, host());
  std::size_t between_nodes = 0;
  for (std::size_t place = 0; place < hosts.size(); ++place)
    if (hosts[place] != hosts[(place + 1) % hosts.size()]) between_nodes += 2;
  const std::size_t nodes = std::set<std::size_t>(hosts.begin(), hosts.end()).size();
  EXPECT_EQ(between_nodes, nodes == 1 ? 0 : 2 * nodes);
}

TEST_F(Reorder, GivesEachRankOnePlace) {
  const Communicator ring = world().cartesian({size()}, {true}, fab::Reorder::yes);
  const std::vector<std::size_t> ranks = gather(ring, static_cast<std::size_t>(rank()));
  EXPECT_EQ(ranks[static_cast<std::size_t>(ring.rank())], static_cast<std::size_t>(rank()));
  EXPECT_EQ(std::set<std::size_t>(ranks.begin(), ranks.end()).size(), ranks.size());
}

TEST_F(Reorder, BringsEdgesToTheirPlaces) {
  // Each place sends to the one after the next; what it sends and receives names places.
  const int target = (rank() + 2) % size();
  const int source = (rank() + 2 * size() - 2) % size();
  const Communicator graph = world().distributed_graph({source}, {target}, fab::Reorder::yes);
  const int mine = graph.rank();
  int theirs = -1;
  neighbor_xchg(graph, std::span<const int>(&mine, 1), std::span<int>(&theirs, 1));
  EXPECT_EQ(theirs, (mine + 2 * size() - 2) % size());
}

}  // namespace
}  // namespace fab
