// MPI_Cart_shift_xchg: MPI_Cart_shift and the transfer in one, for any displacement.
#include <array>

#include "communicators.h"

namespace fab::test {
namespace {

constexpr int kUntouched = -1;

struct Shift {
  int source = MPI_PROC_NULL;
  int destination = MPI_PROC_NULL;
};

/// By hand: along the only dimension of a grid of all ranks.
Shift shift_by(int displacement, bool periodic) {
  const int size = world_size();
  const auto at = [&](long position) {
    if (periodic) return static_cast<int>((position % size + size) % size);
    return position >= 0 && position < size ? static_cast<int>(position) : MPI_PROC_NULL;
  };
  return {at(static_cast<long>(world_rank()) - displacement), at(static_cast<long>(world_rank()) + displacement)};
}

std::array<int, 3> values_of(int rank) { return {rank, 100 + rank, 200 + rank}; }

std::vector<int> displacements() {
  const int size = world_size();
  return {0, 1, -1, 2, -2, size, -size, size + 1, -size - 1, 3 * size + 2, 2'000'000'000, -2'000'000'000};
}

class ShiftTest : public testing::TestWithParam<bool> {};

TEST_P(ShiftTest, DataMovesAsFarAsAsked) {
  const Comm comm = cartesian({world_size()}, {GetParam() ? 1 : 0});
  for (const int displacement : displacements()) {
    SCOPED_TRACE(displacement);
    const Shift expected = shift_by(displacement, GetParam());
    const std::array<int, 3> send = values_of(world_rank());
    std::array<int, 3> recv{kUntouched, kUntouched, kUntouched};
    ASSERT_EQ(MPI_Cart_shift_xchg(send.data(), 3, MPI_INT, recv.data(), 3, MPI_INT, 0, displacement, comm),
              MPI_SUCCESS);
    const std::array<int, 3> untouched{kUntouched, kUntouched, kUntouched};
    EXPECT_EQ(recv, expected.source == MPI_PROC_NULL ? untouched : values_of(expected.source));
  }
}

TEST_P(ShiftTest, InPlaceBufferIsReplacedWhereThereIsASource) {
  const Comm comm = cartesian({world_size()}, {GetParam() ? 1 : 0});
  for (const int displacement : displacements()) {
    SCOPED_TRACE(displacement);
    const Shift expected = shift_by(displacement, GetParam());
    std::array<int, 3> buffer = values_of(world_rank());
    MPI_Request request = MPI_REQUEST_NULL;
    ASSERT_EQ(MPI_Icart_shift_xchg(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, buffer.data(), 3, MPI_INT, 0, displacement, comm,
                                   &request),
              MPI_SUCCESS);
    ASSERT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    EXPECT_EQ(buffer, values_of(expected.source == MPI_PROC_NULL ? world_rank() : expected.source));
  }
}

INSTANTIATE_TEST_SUITE_P(Periodic, ShiftTest, testing::Bool());

TEST(ShiftAlongDimensionsTest, AgreesWithCartShift) {
  int dims[2] = {0, 0};
  ASSERT_EQ(MPI_Dims_create(world_size(), 2, dims), MPI_SUCCESS);
  const Comm comm = cartesian({dims[0], dims[1]}, {1, 0});
  for (const int direction : {0, 1})
    for (const int displacement : {-3, -1, 0, 1, 2}) {
      int source = MPI_PROC_NULL;
      int destination = MPI_PROC_NULL;
      ASSERT_EQ(MPI_Cart_shift(comm, direction, displacement, &source, &destination), MPI_SUCCESS);
      const int send = world_rank();
      int recv = kUntouched;
      ASSERT_EQ(MPI_Cart_shift_xchg(&send, 1, MPI_INT, &recv, 1, MPI_INT, direction, displacement, comm), MPI_SUCCESS);
      EXPECT_EQ(recv, source == MPI_PROC_NULL ? kUntouched : source);
    }
}

}  // namespace
}  // namespace fab::test
