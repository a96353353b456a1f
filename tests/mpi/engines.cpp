// With FAB_ENGINES=3 communicators are dealt out to three engines, on all of their ranks alike, and exchanges of
// several engines meet in one call.
#include <array>
#include <vector>

#include "bindings/mpi/base/process_context.h"
#include "bindings/mpi/communicators/attachment.h"
#include "bindings/mpi/lifecycle/lifecycle.h"
#include "communicators.h"

namespace fab::test {
namespace {

constexpr int kEngines = 3;

class MpiEngines : public testing::Test {
 protected:
  static void SetUpTestSuite() { mpi::open_fab(); }

  static int engine_of(MPI_Comm comm) {
    const core::Engine* const engine = &mpi::attachment_of(comm).core->engine();
    for (int number = 0; number < mpi::process_context().engines(); ++number)
      if (&mpi::process_context().of_engine(number).engine() == engine) return number;
    return -1;
  }
  static void expect_same_everywhere(int engine) {
    std::array<int, 2> ends{engine, -engine};
    ASSERT_EQ(MPI_Allreduce(MPI_IN_PLACE, ends.data(), 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD), MPI_SUCCESS);
    EXPECT_EQ(ends[0], -ends[1]);
  }
  static Comm duplicate(MPI_Comm comm) {
    MPI_Comm made = MPI_COMM_NULL;
    EXPECT_EQ(MPI_Comm_dup(comm, &made), MPI_SUCCESS);
    return Comm(made);
  }
  static Comm ring_of(MPI_Comm comm) {
    const int size = size_of(comm);
    const int periodic = 1;
    MPI_Comm made = MPI_COMM_NULL;
    EXPECT_EQ(MPI_Cart_create(comm, 1, &size, &periodic, 0, &made), MPI_SUCCESS);
    return Comm(made);
  }
};

TEST_F(MpiEngines, AreThere) { EXPECT_EQ(mpi::process_context().engines(), kEngines); }

TEST_F(MpiEngines, GetWhatIsMadeInTurn) {
  EXPECT_EQ(engine_of(MPI_COMM_WORLD), 0);
  const int before = engine_of(duplicate(MPI_COMM_WORLD));
  expect_same_everywhere(before);
  for (int i = 1; i <= kEngines; ++i) {
    const Comm made = i % 2 == 0 ? duplicate(MPI_COMM_WORLD) : ring_of(MPI_COMM_WORLD);
    EXPECT_EQ(engine_of(made), (before + i) % kEngines);
    const Comm of_made = duplicate(made);
    EXPECT_EQ(engine_of(of_made), (before + i + 1) % kEngines);
    expect_same_everywhere(engine_of(of_made));
  }
}

// Ranks of different halves go on alike.
TEST_F(MpiEngines, GetParts) {
  const int half = world_rank() % 2;
  MPI_Comm made = MPI_COMM_NULL;
  ASSERT_EQ(MPI_Comm_split(MPI_COMM_WORLD, world_rank() == 0 ? MPI_UNDEFINED : half, 0, &made), MPI_SUCCESS);
  const Comm part(made);
  const int engine = engine_of(duplicate(MPI_COMM_WORLD));
  expect_same_everywhere(engine);
  if (part == MPI_COMM_NULL) return;
  EXPECT_EQ(engine_of(part), (engine + kEngines - 1) % kEngines);
}

// One that fab has not seen made: the attribute is not there.
TEST_F(MpiEngines, GetOthersByTheirFirstRank) {
  MPI_Group world = MPI_GROUP_NULL;
  ASSERT_EQ(MPI_Comm_group(MPI_COMM_WORLD, &world), MPI_SUCCESS);
  MPI_Comm made = MPI_COMM_NULL;
  ASSERT_EQ(MPI_Comm_create_group(MPI_COMM_WORLD, world, 0, &made), MPI_SUCCESS);
  ASSERT_EQ(MPI_Group_free(&world), MPI_SUCCESS);
  const Comm all(made);
  EXPECT_EQ(engine_of(all), 0);
  EXPECT_EQ(engine_of(duplicate(all)), 1);
}

TEST_F(MpiEngines, MeetInOneCall) {
  std::vector<Comm> rings;
  for (int i = 0; i < 2 * kEngines; ++i) rings.push_back(ring_of(MPI_COMM_WORLD));
  const std::size_t count = rings.size();
  std::vector<std::array<int, 2>> out(count);
  std::vector<std::array<int, 2>> in(count);
  for (int repetition = 0; repetition < 20; ++repetition) {
    std::vector<MPI_Request> requests(count, MPI_REQUEST_NULL);
    for (std::size_t i = 0; i < count; ++i) {
      out[i].fill(world_rank() * 100 + static_cast<int>(i));
      ASSERT_EQ(MPI_Ineighbor_xchg(out[i].data(), 1, MPI_INT, in[i].data(), 1, MPI_INT, rings[i], &requests[i]),
                MPI_SUCCESS);
    }
    int index = MPI_UNDEFINED;
    ASSERT_EQ(MPI_Waitany(static_cast<int>(count), requests.data(), &index, MPI_STATUS_IGNORE), MPI_SUCCESS);
    ASSERT_NE(index, MPI_UNDEFINED);
    int flag = 0;
    while (flag == 0)
      ASSERT_EQ(MPI_Testall(static_cast<int>(count), requests.data(), &flag, MPI_STATUSES_IGNORE), MPI_SUCCESS);
    for (std::size_t i = 0; i < count; ++i) {
      const int number = static_cast<int>(i);
      EXPECT_EQ(in[i], (std::array{right_of(world_rank()) * 100 + number, left_of(world_rank()) * 100 + number}));
    }
  }
}

}  // namespace
}  // namespace fab::test
