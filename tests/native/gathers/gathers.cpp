// Gathers, scatters and allgathers of the native API under mpirun, without MPI in the process: every form of the calls.
#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "fab/fab.h"
#include "fab/gather_sorted.h"
#include "native/support/on_all_ranks.h"

namespace fab {
namespace {

using Gathers = test::OnAllRanks;

constexpr std::size_t kLengths[] = {0, 1, 7, 1000, 50'000};

std::vector<double> values_of(int rank, std::size_t elements) {
  std::vector<double> values(elements);
  std::iota(values.begin(), values.end(), rank * 1e6);
  return values;
}

/// Blocks of different sizes, with an empty one, and a gap behind each.
struct Unequal {
  explicit Unequal(int ranks) {
    int end = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      counts.push_back(rank == 1 ? 0 : 3 * rank + 1);
      displacements.push_back(end);
      end += counts.back() + 1;
    }
    elements = static_cast<std::size_t>(end);
  }
  [[nodiscard]] std::size_t count(int rank) const {
    return static_cast<std::size_t>(counts[static_cast<std::size_t>(rank)]);
  }
  void put(int rank, std::vector<double>& buffer) const {
    std::ranges::copy(values_of(rank, count(rank)), buffer.begin() + displacements[static_cast<std::size_t>(rank)]);
  }
  /// Gaps are -1.
  [[nodiscard]] std::vector<double> all() const {
    std::vector<double> buffer(elements, -1);
    for (int rank = 0; rank < static_cast<int>(counts.size()); ++rank) put(rank, buffer);
    return buffer;
  }
  [[nodiscard]] std::vector<double> only(int rank) const {
    std::vector<double> buffer(elements, -1);
    put(rank, buffer);
    return buffer;
  }

  std::vector<int> counts;
  std::vector<int> displacements;
  std::size_t elements = 0;
};

std::vector<double> all_values(int ranks, std::size_t elements) {
  std::vector<double> all;
  for (int rank = 0; rank < ranks; ++rank) std::ranges::copy(values_of(rank, elements), std::back_inserter(all));
  return all;
}

void run(PersistentExchange exchange) {
  exchange.start();
  exchange.wait();
}

TEST_F(Gathers, ToEveryRoot) {
  for (const std::size_t elements : kLengths)
    for (Rank root = 0; root < size(); ++root) {
      const bool is_root = rank() == root;
      const std::vector<double> mine = values_of(rank(), elements);
      const std::vector<double> expected = is_root ? all_values(size(), elements) : std::vector<double>();
      const std::vector<double> before(expected.size(), -1);
      std::vector<double> all = before;
      gather(world(), mine, all, Root{root});
      ASSERT_EQ(all, expected) << elements << " elements to " << root;
      all = before;
      gather.start(world(), mine, all, Root{root}).wait();
      ASSERT_EQ(all, expected);
      all = before;
      run(gather.persistent(world(), mine, all, Root{root}));
      ASSERT_EQ(all, expected);

      std::vector<double> in_place = is_root ? all_values(size(), elements) : mine;
      const std::vector<double> after = in_place;
      if (is_root)  // all but its own are still to come
        for (std::size_t i = 0; i < in_place.size(); ++i)
          if (i / elements != static_cast<std::size_t>(root)) in_place[i] = -1;
      std::vector<double> again = in_place;
      gather(world(), in_place, Root{root});
      ASSERT_EQ(in_place, after);
      gather.start(world(), again, Root{root}).wait();
      ASSERT_EQ(again, after);
      run(gather.persistent(world(), again, Root{root}));
      ASSERT_EQ(again, after);
    }
}

TEST_F(Gathers, OfUnequalBlocksToEveryRoot) {
  const Unequal blocks(size());
  const std::vector<double> mine = values_of(rank(), blocks.count(rank()));
  for (Rank root = 0; root < size(); ++root) {
    const bool is_root = rank() == root;
    const std::span<const int> counts = is_root ? std::span<const int>(blocks.counts) : std::span<const int>();
    const std::span<const int> places = is_root ? std::span<const int>(blocks.displacements) : std::span<const int>();
    const std::vector<double> before(is_root ? blocks.elements : 0, -1);
    const std::vector<double> expected = is_root ? blocks.all() : before;
    std::vector<double> all = before;
    gatherv(world(), mine, all, Blocks(counts, places), Root{root});
    ASSERT_EQ(all, expected);
    all = before;
    gatherv.start(world(), mine, all, Blocks(counts, places), Root{root}).wait();
    ASSERT_EQ(all, expected);
    all = before;
    run(gatherv.persistent(world(), mine, all, Blocks(counts, places), Root{root}));
    ASSERT_EQ(all, expected);
    all = is_root ? blocks.only(root) : before;
    if (is_root)
      gatherv(world(), all, Blocks(counts, places), Root{root});
    else
      gatherv(world(), mine, all, Blocks(), Root{root});
    ASSERT_EQ(all, expected);
  }
}

TEST_F(Gathers, ScatterFromEveryRoot) {
  for (const std::size_t elements : kLengths)
    for (Rank root = 0; root < size(); ++root) {
      const bool is_root = rank() == root;
      const std::vector<double> all = is_root ? all_values(size(), elements) : std::vector<double>();
      const std::vector<double> expected = values_of(rank(), elements);
      std::vector<double> mine(elements, -1);
      scatter(world(), all, mine, Root{root});
      ASSERT_EQ(mine, expected) << elements << " elements from " << root;
      std::ranges::fill(mine, -1);
      scatter.start(world(), all, mine, Root{root}).wait();
      ASSERT_EQ(mine, expected);
      std::ranges::fill(mine, -1);
      run(scatter.persistent(world(), all, mine, Root{root}));
      ASSERT_EQ(mine, expected);

      std::vector<double> in_place = is_root ? all : std::vector<double>(elements, -1);
      scatter(world(), in_place, Root{root});
      ASSERT_EQ(in_place, is_root ? all : expected);
    }
}

TEST_F(Gathers, ScatterOfUnequalBlocksFromEveryRoot) {
  const Unequal blocks(size());
  const std::vector<double> expected = values_of(rank(), blocks.count(rank()));
  for (Rank root = 0; root < size(); ++root) {
    const bool is_root = rank() == root;
    const std::span<const int> counts = is_root ? std::span<const int>(blocks.counts) : std::span<const int>();
    const std::span<const int> places = is_root ? std::span<const int>(blocks.displacements) : std::span<const int>();
    const std::vector<double> all = is_root ? blocks.all() : std::vector<double>();
    std::vector<double> mine(expected.size(), -1);
    scatterv(world(), all, Blocks(counts, places), mine, Root{root});
    ASSERT_EQ(mine, expected);
    std::ranges::fill(mine, -1);
    if (is_root)
      scatterv.start(world(), all, Blocks(counts, places), Root{root}).wait();
    else
      scatterv.start(world(), all, Blocks(counts, places), mine, Root{root}).wait();
    ASSERT_EQ(mine, is_root ? std::vector<double>(expected.size(), -1) : expected);
    run(scatterv.persistent(world(), all, Blocks(counts, places), mine, Root{root}));
    ASSERT_EQ(mine, expected);
  }
}

TEST_F(Gathers, ToAllRanks) {
  for (const std::size_t elements : kLengths) {
    const std::vector<double> mine = values_of(rank(), elements);
    const std::vector<double> expected = all_values(size(), elements);
    std::vector<double> all(expected.size(), -1);
    allgather(world(), mine, all);
    ASSERT_EQ(all, expected) << elements;
    std::ranges::fill(all, -1);
    allgather.start(world(), mine, all).wait();
    ASSERT_EQ(all, expected);
    std::ranges::fill(all, -1);
    run(allgather.persistent(world(), mine, all));
    ASSERT_EQ(all, expected);
    std::ranges::fill(all, -1);
    std::ranges::copy(mine, all.begin() + static_cast<std::ptrdiff_t>(elements) * rank());
    allgather(world(), all);
    ASSERT_EQ(all, expected);
  }
}

TEST_F(Gathers, OfUnequalBlocksToAllRanks) {
  const Unequal blocks(size());
  const std::vector<double> mine = values_of(rank(), blocks.count(rank()));
  std::vector<double> all(blocks.elements, -1);
  allgatherv(world(), mine, all, Blocks(blocks.counts, blocks.displacements));
  ASSERT_EQ(all, blocks.all());
  std::ranges::fill(all, -1);
  run(allgatherv.persistent(world(), mine, all, Blocks(blocks.counts, blocks.displacements)));
  ASSERT_EQ(all, blocks.all());
  all = blocks.only(rank());
  allgatherv.start(world(), all, Blocks(blocks.counts, blocks.displacements)).wait();
  ASSERT_EQ(all, blocks.all());
}

// Every rank has a column of a matrix; all ranks get the whole, transposed and not.
TEST_F(Gathers, OfColumnsOfAMatrix) {
  constexpr std::size_t kRows = 40;
  const auto columns = static_cast<std::size_t>(size());
  const Layout column = Layout::vector(kRows, 1, static_cast<std::ptrdiff_t>(columns * sizeof(double)),
                                       Layout::contiguous(sizeof(double)))
                            .resized(0, sizeof(double));
  std::vector<double> matrix(kRows * columns, -1);
  for (std::size_t row = 0; row < kRows; ++row)
    matrix[row * columns + static_cast<std::size_t>(rank())] = rank() * 100.0 + static_cast<double>(row);
  allgather(world(), matrix.data(), column);
  for (std::size_t i = 0; i < matrix.size(); ++i)
    ASSERT_EQ(matrix[i], static_cast<double>(i % columns * 100 + i / columns)) << i;

  std::vector<BlockShape> rows;
  for (std::size_t i = 0; i < columns; ++i)
    rows.push_back({static_cast<std::ptrdiff_t>((columns - 1 - i) * kRows * sizeof(double)),
                    Layout::contiguous(kRows * sizeof(double))});
  std::vector<double> transposed(matrix.size(), -1);
  allgatherv(world(), matrix.data() + rank(), column, transposed.data(), Blocks(rows));
  for (std::size_t i = 0; i < matrix.size(); ++i)
    ASSERT_EQ(transposed[i], static_cast<double>((columns - 1 - i / kRows) * 100 + i % kRows)) << i;
}

TEST_F(Gathers, RefuseBuffersOfAnotherSize) {
  const std::vector<double> mine(3);
  std::vector<double> all(3 * static_cast<std::size_t>(size()) + 1);
  EXPECT_THROW(allgather(world(), mine, all), Error);
  EXPECT_THROW(gather(world(), mine, all, Root{rank()}), Error);
  EXPECT_THROW(scatter(world(), all, std::span(all).first(2), Root{rank()}), Error);
  const std::vector<int> counts(static_cast<std::size_t>(size()), 1);
  const std::vector<int> places(static_cast<std::size_t>(size()), static_cast<int>(all.size()));
  EXPECT_THROW(allgatherv(world(), mine, all, Blocks(counts, places)), Error);
  const std::vector<int> negative(static_cast<std::size_t>(size()), -1);
  EXPECT_THROW(allgatherv(world(), mine, all, Blocks(negative, counts)), Error);
  barrier(world());
}

// Of all ranks' messages the last rank's has the lowest key.
TEST_F(Gathers, InTheOrderOfKeys) {
  const std::string message(static_cast<std::size_t>(rank()) * 5000, static_cast<char>('a' + rank()));
  for (Rank root = 0; root < size(); ++root) {
    std::string received;
    std::vector<Rank> order;
    gather_sorted(world(), -rank(), std::as_bytes(std::span(message)), root, [&](const SortedPart& part) {
      if (part.offset == 0) order.push_back(part.source);
      received.append(reinterpret_cast<const char*>(part.bytes.data()), part.bytes.size());
    });
    std::string expected;
    std::vector<Rank> expected_order;
    for (Rank source = rank() == root ? size() : 0; source-- > 0;) {
      expected.append(static_cast<std::size_t>(source) * 5000, static_cast<char>('a' + source));
      expected_order.push_back(source);
    }
    ASSERT_EQ(order, expected_order);
    ASSERT_TRUE(received == expected);
  }
}

}  // namespace
}  // namespace fab
