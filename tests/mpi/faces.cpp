// MPI_Neighbor_xchgw on the faces of a 3-D block, as subarrays, against faces that are packed by hand.
#include <array>
#include <functional>
#include <numeric>
#include <vector>

#include "communicators.h"
#include "typed_blocks.h"

namespace fab::test {
namespace {

using Place = std::array<int, 3>;

/// A box of cells within the block.
struct Box {
  Place size;
  Place start;
};

/// A 3-D block with a halo of one cell.
class HaloBlock {
 public:
  explicit HaloBlock(Place interior) : interior_(interior) {
    for (std::size_t d = 0; d < 3; ++d) size_[d] = interior[d] + 2;
    cells_.resize(static_cast<std::size_t>(size_[0]) * static_cast<std::size_t>(size_[1]) *
                  static_cast<std::size_t>(size_[2]));
    std::iota(cells_.begin(), cells_.end(), 1'000'000.0 * world_rank());
  }

  [[nodiscard]] double* data() { return cells_.data(); }
  [[nodiscard]] const std::vector<double>& cells() const { return cells_; }

  /// The own cells, or the halo, on the side `sign` (1 or -1) of dimension d, without edges and corners.
  [[nodiscard]] Box face(std::size_t d, int sign, bool halo) const {
    Box box{interior_, {1, 1, 1}};
    box.size[d] = 1;
    if (sign > 0)
      box.start[d] = halo ? interior_[d] + 1 : interior_[d];
    else
      box.start[d] = halo ? 0 : 1;
    return box;
  }
  [[nodiscard]] CommittedType type_of(const Box& box) const {
    return CommittedType([&](MPI_Datatype* type) {
      return MPI_Type_create_subarray(3, size_.data(), box.size.data(), box.start.data(), MPI_ORDER_C, MPI_DOUBLE,
                                      type);
    });
  }
  [[nodiscard]] std::vector<double> packed(const Box& box) {
    std::vector<double> values;
    for_each(box, [&](double& cell) { values.push_back(cell); });
    return values;
  }
  void unpack(const Box& box, const std::vector<double>& values) {
    auto value = values.begin();
    for_each(box, [&](double& cell) { cell = *value++; });
  }

 private:
  void for_each(const Box& box, const std::function<void(double&)>& visit) {
    for (int x = box.start[0]; x < box.start[0] + box.size[0]; ++x)
      for (int y = box.start[1]; y < box.start[1] + box.size[1]; ++y)
        for (int z = box.start[2]; z < box.start[2] + box.size[2]; ++z)
          visit(cells_[static_cast<std::size_t>((x * size_[1] + y) * size_[2] + z)]);
  }

  Place interior_;
  Place size_{};
  std::vector<double> cells_;
};

/// The reference: every face packed by hand, and sent by MPI.
void exchange_by_hand(HaloBlock& block, MPI_Comm comm) {
  for (std::size_t d = 0; d < 3; ++d)
    for (const int sign : {1, -1}) {
      int from = MPI_PROC_NULL;
      int to = MPI_PROC_NULL;
      ASSERT_EQ(MPI_Cart_shift(comm, static_cast<int>(d), sign, &from, &to), MPI_SUCCESS);
      const std::vector<double> sent = block.packed(block.face(d, sign, false));
      std::vector<double> received = block.packed(block.face(d, -sign, true));  // what is there stays without a source
      const int count = static_cast<int>(sent.size());
      ASSERT_EQ(MPI_Sendrecv(sent.data(), count, MPI_DOUBLE, to, 0, received.data(), count, MPI_DOUBLE, from, 0, comm,
                             MPI_STATUS_IGNORE),
                MPI_SUCCESS);
      block.unpack(block.face(d, -sign, true), received);
    }
}

/// A side's blocks in fab's order: +1 before -1 in each dimension, none where there is no neighbor.
TypedBlocks faces(HaloBlock& block, MPI_Comm comm, bool halo, std::vector<CommittedType>& types) {
  TypedBlocks blocks{.buffer = block.data()};
  for (std::size_t d = 0; d < 3; ++d)
    for (const int sign : {1, -1}) {
      int from = MPI_PROC_NULL;
      int to = MPI_PROC_NULL;
      EXPECT_EQ(MPI_Cart_shift(comm, static_cast<int>(d), sign, &from, &to), MPI_SUCCESS);
      if (to == MPI_PROC_NULL) continue;
      types.push_back(block.type_of(block.face(d, sign, halo)));
      blocks.counts.push_back(1);
      blocks.displs.push_back(0);
      blocks.types.push_back(types.back());
    }
  return blocks;
}

class FacesTest : public testing::TestWithParam<Form> {};

TEST_P(FacesTest, AreThoseThatArePackedByHand) {
  std::vector<int> dims(3);
  ASSERT_EQ(MPI_Dims_create(world_size(), 3, dims.data()), MPI_SUCCESS);
  for (const std::vector<int>& periods : std::vector<std::vector<int>>{{0, 0, 0}, {1, 1, 1}, {0, 1, 0}})
    for (const Place interior : {Place{4, 3, 5}, Place{40, 48, 36}}) {
      SCOPED_TRACE("periods " + testing::PrintToString(periods) + " interior " + testing::PrintToString(interior));
      const Comm comm = cartesian(dims, periods);
      HaloBlock block(interior);
      HaloBlock reference(interior);
      std::vector<CommittedType> types;
      const TypedBlocks send = faces(block, comm, false, types);
      const TypedBlocks recv = faces(block, comm, true, types);
      ASSERT_EQ(xchgw(GetParam(), send, recv, comm), MPI_SUCCESS);
      exchange_by_hand(reference, comm);
      EXPECT_TRUE(block.cells() == reference.cells());
    }
}

INSTANTIATE_TEST_SUITE_P(Forms, FacesTest, testing::ValuesIn(kForms), name_of_form);

}  // namespace
}  // namespace fab::test
