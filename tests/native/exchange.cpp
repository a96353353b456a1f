// The native API under mpirun, without MPI in the process.
#include <gmock/gmock.h>

#include <numeric>

#include "fab/fab.h"
#include "native/support/on_all_ranks.h"
#include "support/comes_true.h"
#include "support/message_of.h"
#include "support/peek.h"

namespace fab {
namespace {

using Exchange = test::OnAllRanks;

/// A value that only this sender, block and element have.
double value(int sender, std::size_t block, std::size_t element) {
  return sender * 1e8 + static_cast<double>(block) * 1e7 + static_cast<double>(element);
}

std::vector<double> blocks_of(int sender, std::size_t blocks, std::size_t elements) {
  std::vector<double> result(blocks * elements);
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = value(sender, i / elements, i % elements);
  return result;
}

TEST_F(Exchange, RingOfBlocksOfAllSizes) {
  const Communicator grid = ring();
  for (const std::size_t elements : {1u, 7u, 100u, 1000u, 4093u, 5000u, 100'000u}) {
    const std::vector<double> out = blocks_of(rank(), 2, elements);
    std::vector<double> in(2 * elements, -1);
    neighbor_xchg(grid, out, in);
    // Block 0 comes from the next rank, where it left in direction -1, that is as block 1.
    std::vector<double> expected = blocks_of(next(), 2, elements);
    expected.erase(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(elements));
    const std::vector<double> from_previous = blocks_of(previous(), 1, elements);
    expected.insert(expected.end(), from_previous.begin(), from_previous.end());
    ASSERT_EQ(in, expected) << elements << " elements";
  }
}

TEST_F(Exchange, FacesOfABlockInPlaceOfPacking) {
  constexpr std::size_t n = 40;
  const Communicator grid = ring();
  const std::vector<std::size_t> sizes{n, n, n};
  const auto face = [&](std::size_t x) {
    const std::vector<std::size_t> subsizes{n, n, 1};
    const std::vector<std::size_t> starts{0, 0, x};
    return BlockShape{0, Layout::subarray(sizes, subsizes, starts, Layout::contiguous(sizeof(double)))};
  };
  std::vector<double> cube(n * n * n, rank());
  const std::array<BlockShape, 2> send{face(n - 2), face(1)};
  const std::array<BlockShape, 2> recv{face(n - 1), face(0)};
  neighbor_xchgv(grid, cube.data(), send, cube.data(), recv);
  for (std::size_t i = 0; i < cube.size(); ++i) {
    const std::size_t x = i % n;
    ASSERT_EQ(cube[i], x == n - 1 ? next() : x == 0 ? previous() : rank()) << i;
  }
}

TEST_F(Exchange, InPlaceShiftGoesRound) {
  const Communicator grid = ring();
  int token = rank();
  for (int step = 0; step < size(); ++step)
    cart_shift_xchg(grid, &token, Layout::contiguous(sizeof(token)), Shift{Dimension{0}, 1});
  EXPECT_EQ(token, rank());
  cart_shift_xchg(grid, &token, Layout::contiguous(sizeof(token)), Shift{Dimension{0}, -size() - 1});
  EXPECT_EQ(token, next());
}

TEST_F(Exchange, HundredOutstandingOnTwoCommunicators) {
  const Communicator first = ring();
  const Communicator second = first.duplicate();
  constexpr std::size_t kOutstanding = 100;
  std::vector<std::vector<double>> out;
  std::vector<std::vector<double>> in(2 * kOutstanding, std::vector<double>(2, -1));
  std::vector<Request> requests;
  for (std::size_t i = 0; i < 2 * kOutstanding; ++i) {
    out.push_back({value(rank(), 0, i), value(rank(), 1, i)});
    // Ranks alternate between the communicators in different orders.
    const bool use_first = (i + static_cast<std::size_t>(rank())) % 2 == 0;
    requests.push_back(neighbor_xchg.start(use_first ? first : second, out[i], in[i]));
  }
  for (std::size_t left = requests.size() / 2; left > 0; --left) Request::wait_any(requests);
  Request::wait_all(requests);
  for (std::size_t i = 0; i < 2 * kOutstanding; ++i) {
    // The j-th call on a communicator meets the j-th calls of the others: shift by one where the order differs.
    const auto of = [&](int sender) { return (i - i % 2) + ((i + static_cast<std::size_t>(rank() - sender)) % 2); };
    ASSERT_EQ(in[i], (std::vector<double>{value(next(), 1, of(next())), value(previous(), 0, of(previous()))})) << i;
  }
}

TEST_F(Exchange, SubsetsGetACommunicatorAndTheOthersNone) {
  std::vector<Rank> even;
  for (Rank r = 0; r < size(); r += 2) even.push_back(r);
  const std::optional<Communicator> half = world().subset(even);
  ASSERT_EQ(half.has_value(), rank() % 2 == 0);
  if (!half) return;
  EXPECT_EQ(half->rank(), rank() / 2);
  const Communicator grid = half->cartesian({half->size()}, {true});
  int mine = rank();
  std::array<int, 2> theirs{-1, -1};
  const std::array<int, 2> twice{mine, mine};
  neighbor_xchg(grid, twice, theirs);
  EXPECT_EQ(theirs[0], even[static_cast<std::size_t>((half->rank() + 1) % half->size())]);
}

TEST_F(Exchange, GridsWithLeftOverRanks) {
  const int places = size() - size() / 2;
  const std::optional<Communicator> grid = world().cartesian_if({places}, {false});
  EXPECT_EQ(grid.has_value(), rank() < places);
  try {
    EXPECT_EQ(world().cartesian({places}, {false}).size(), places);
    EXPECT_LT(rank(), places);
  } catch (const Error& error) {
    EXPECT_GE(rank(), places);
    EXPECT_EQ(error.errc(), Errc::invalid_topology);
    EXPECT_THAT(error.what(), testing::HasSubstr("cartesian: rank " + std::to_string(rank()) + " of " +
                                                 std::to_string(size()) + " gets no place"));
  }
  EXPECT_THROW(static_cast<void>(world().cartesian({size() + 1}, {false})), Error);
}

TEST_F(Exchange, ProgressThreadFinishesWithoutAnyCall) {
  const char* local = std::getenv("FAB_LOCAL");
  if (local != nullptr && std::string(local) == "off" && std::getenv("FAB_PROVIDER") != nullptr &&
      std::string(std::getenv("FAB_PROVIDER")) == "shm")
    GTEST_SKIP() << "libfabric's shm has no descriptor that a progress thread could sleep on";
  const Communicator grid = ring();
  const std::vector<double> out = blocks_of(rank(), 2, 50'000);
  std::vector<double> in(out.size(), -1);
  neighbor_xchg(grid, out, in);
  std::fill(in.begin(), in.end(), -1);
  Request request = neighbor_xchg.start(grid, out, in);
  // Only looks: the data must come without a wait or test.
  EXPECT_TRUE(test::comes_true([&] { return test::peek(in.back()) == value(previous(), 0, 49'999); }));
  request.wait();
}

TEST_F(Exchange, ErrorsNameCallArgumentAndValue) {
  std::array<int, 3> data{};
  const Communicator grid = ring();
  EXPECT_THAT(test::message_of([&] { neighbor_xchg(world(), data, data); }), testing::HasSubstr("no topology"));
  EXPECT_THAT(test::message_of([&] { neighbor_xchg(grid, data, data); }),
              testing::HasSubstr("the send buffer has 3 elements; valid is a multiple of 2"));
  EXPECT_THAT(test::message_of([&] {
                cart_shift_xchg(grid, data.data(), Layout::contiguous(4), Shift{Dimension{7}, 1});
              }),
              testing::HasSubstr("7"));
  const std::vector<Rank> bad{0, size()};
  EXPECT_THAT(test::message_of([&] { static_cast<void>(world().subset(bad)); }),
              testing::AllOf(testing::HasSubstr("subset"), testing::HasSubstr("rank " + std::to_string(size()))));
  const Rank last = size() - 1;
  EXPECT_THAT(test::message_of([&] {
                static_cast<void>(world().subset(std::vector<Rank>{last, last}));
              }),
              testing::HasSubstr("subset: rank " + std::to_string(last) + " is listed twice"));
}

}  // namespace
}  // namespace fab
