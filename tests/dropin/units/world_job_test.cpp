// Nodes of ranks, as they are kept in a form that does not grow with the job.
#include "bindings/mpi/bootstrap/world_job.h"

#include <gmock/gmock.h>

namespace fab::mpi {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(NodeOrder, ListsNodesOfBlocks) {
  const NodeOrder order{NodeOrder::Kind::blocks, 2, 3};
  EXPECT_THAT(order.list(6), ElementsAre(0, 0, 1, 1, 2, 2));
  EXPECT_THAT(order.list(5), ElementsAre(0, 0, 1, 1, 2));  // the last one has fewer
}

TEST(NodeOrder, ListsNodesThatTakeRanksInTurn) {
  const NodeOrder order{NodeOrder::Kind::cyclic, 2, 3};
  EXPECT_THAT(order.list(6), ElementsAre(0, 1, 2, 0, 1, 2));
  EXPECT_THAT(order.list(4), ElementsAre(0, 1, 2, 0));
}

TEST(NodeOrder, KnowsNoOther) {
  const NodeOrder order{NodeOrder::Kind::other, 2, 3};
  EXPECT_THAT(order.list(6), IsEmpty());
}

}  // namespace
}  // namespace fab::mpi
