// All-to-all, reduce-scatter, prefixes and the standard's neighbourhood collectives in all forms of the native API.
#include <gmock/gmock.h>

#include <numeric>

#include "fab/fab.h"
#include "native/support/in_all_forms.h"
#include "native/support/on_all_ranks.h"
#include "support/message_of.h"

namespace fab {
namespace {

using Exchanges = test::OnAllRanks;
using Numbers = std::vector<std::int64_t>;

/// Of equal blocks: short ones, and ones that travel in parts.
constexpr std::size_t kLengths[] = {0, 1, 40, 3000, 20'000};

std::int64_t number_of(int from, int to, std::size_t i) {
  return from * 1'000'000'000'000 + to * 1'000'000 + static_cast<int>(i);
}

class Alltoall : public test::OnAllRanks {
 protected:
  static std::size_t ranks() { return static_cast<std::size_t>(size()); }
  static Numbers sent(std::size_t elements) {
    Numbers numbers;
    for (int to = 0; to < size(); ++to)
      for (std::size_t i = 0; i < elements; ++i) numbers.push_back(number_of(rank(), to, i));
    return numbers;
  }
  static Numbers received(std::size_t elements) {
    Numbers numbers;
    for (int from = 0; from < size(); ++from)
      for (std::size_t i = 0; i < elements; ++i) numbers.push_back(number_of(from, rank(), i));
    return numbers;
  }
};

TEST_F(Alltoall, OfEqualBlocks) {
  for (const std::size_t elements : kLengths) {
    const Numbers send = sent(elements);
    const Numbers expected = received(elements);
    Numbers recv(send.size(), -1);
    const std::span<const std::int64_t> from(send);
    const std::span<std::int64_t> to(recv);
    test::in_all_forms(
        [&](const char* form) {
          ASSERT_EQ(recv, expected) << form << ", " << elements;
          recv.assign(recv.size(), -1);
        },
        alltoall, world(), from, to);
    recv = send;
    test::in_all_forms(
        [&](const char* form) {
          ASSERT_EQ(recv, expected) << form << " in place, " << elements;
          recv = send;
        },
        alltoall, world(), to);
  }
}

// Rank i sends i + j numbers to rank j.
TEST_F(Alltoall, OfUnequalBlocks) {
  std::vector<int> counts;
  for (int peer = 0; peer < size(); ++peer) counts.push_back(rank() + peer);
  std::vector<int> displacements(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), displacements.begin(), 0);
  Numbers send;
  Numbers expected;
  for (int peer = 0; peer < size(); ++peer)
    for (std::size_t i = 0; i < static_cast<std::size_t>(rank() + peer); ++i) {
      send.push_back(number_of(rank(), peer, i));
      expected.push_back(number_of(peer, rank(), i));
    }
  Numbers recv(send.size(), -1);
  const std::span<const std::int64_t> from(send);
  const std::span<std::int64_t> to(recv);
  test::in_all_forms(
      [&](const char* form) {
        ASSERT_EQ(recv, expected) << form;
        recv = send;
      },
      alltoallv, world(), from, Blocks(counts, displacements), to, Blocks(counts, displacements));
  test::in_all_forms(
      [&](const char* form) {
        ASSERT_EQ(recv, expected) << form << " in place";
        recv = send;
      },
      alltoallv, world(), to, Blocks(counts, displacements));
}

// What is a row on one side is a column on the other (MPI_Alltoallw).
TEST_F(Alltoall, TransposesAMatrix) {
  const Layout element = Layout::contiguous(sizeof(std::int64_t));
  const auto bytes = static_cast<std::ptrdiff_t>(sizeof(std::int64_t));
  constexpr std::size_t kColumns = 100;
  std::vector<BlockShape> rows;
  std::vector<BlockShape> columns;
  for (std::ptrdiff_t i = 0; i < size(); ++i) {
    rows.push_back({i * static_cast<std::ptrdiff_t>(kColumns) * bytes, element.repeated(kColumns)});
    columns.push_back({i * bytes, Layout::vector(kColumns, 1, size() * bytes, element)});
  }
  const Numbers send = sent(kColumns);
  Numbers recv(send.size(), -1);
  alltoallv(world(), send.data(), Blocks(rows), recv.data(), Blocks(columns));
  for (int from = 0; from < size(); ++from)
    for (std::size_t i = 0; i < kColumns; ++i)
      ASSERT_EQ(recv[i * ranks() + static_cast<std::size_t>(from)], number_of(from, rank(), i));
}

/// Rank r's vector is r, r + 1, ..., so the sum at i is known.
class Reductions : public test::OnAllRanks {
 protected:
  static Numbers vector_of(std::size_t elements) {
    Numbers vector(elements);
    std::iota(vector.begin(), vector.end(), rank());
    return vector;
  }
  /// Over ranks 0 to `ranks` - 1, of the elements from `first` on.
  static Numbers sum_of(int ranks, std::size_t first, std::size_t elements) {
    Numbers sums;
    for (std::size_t i = first; i < first + elements; ++i)
      sums.push_back(ranks * static_cast<std::int64_t>(i) + std::int64_t{ranks} * (ranks - 1) / 2);
    return sums;
  }
  static Numbers begin_of(const Numbers& vector, std::size_t elements) {
    return {vector.begin(), vector.begin() + static_cast<std::ptrdiff_t>(elements)};
  }
};

TEST_F(Reductions, ScatterEqualBlocks) {
  for (const std::size_t elements : kLengths) {
    const Numbers vector = vector_of(elements * static_cast<std::size_t>(size()));
    const Numbers expected = sum_of(size(), elements * static_cast<std::size_t>(rank()), elements);
    Numbers result(elements, -1);
    Numbers in_place = vector;
    const std::span<const std::int64_t> from(vector);
    const std::span<std::int64_t> to(result);
    const std::span<std::int64_t> buffer(in_place);
    test::in_all_forms(
        [&](const char* form) {
          ASSERT_EQ(result, expected) << form << ", " << elements;
          result.assign(elements, -1);
        },
        reduce_scatter_block, world(), from, to, ReduceOp::sum);
    test::in_all_forms(
        [&](const char* form) {
          ASSERT_EQ(begin_of(in_place, elements), expected) << form << " in place, " << elements;
          in_place = vector;
        },
        reduce_scatter_block, world(), buffer, ReduceOp::sum);
  }
}

// Rank i gets 500 i elements.
TEST_F(Reductions, ScatterUnequalBlocks) {
  std::vector<int> counts;
  for (int peer = 0; peer < size(); ++peer) counts.push_back(500 * peer);
  const auto elements = static_cast<std::size_t>(500 * rank());
  const auto first = static_cast<std::size_t>(500 * rank() * (rank() - 1) / 2);
  const Numbers vector = vector_of(static_cast<std::size_t>(500 * size() * (size() - 1) / 2));
  const Numbers expected = sum_of(size(), first, elements);
  Numbers result(elements, -1);
  Numbers in_place = vector;
  const std::span<const std::int64_t> from(vector);
  const std::span<std::int64_t> to(result);
  const std::span<std::int64_t> buffer(in_place);
  test::in_all_forms(
      [&](const char* form) {
        ASSERT_EQ(result, expected) << form;
        result.assign(elements, -1);
      },
      reduce_scatter, world(), from, to, counts, ReduceOp::sum);
  test::in_all_forms(
      [&](const char* form) {
        ASSERT_EQ(begin_of(in_place, elements), expected) << form << " in place";
        in_place = vector;
      },
      reduce_scatter, world(), buffer, counts, ReduceOp::sum);
}

TEST_F(Reductions, OfLowerRanks) {
  for (const std::size_t elements : kLengths) {
    const Numbers vector = vector_of(elements);
    const Numbers inclusive = sum_of(rank() + 1, 0, elements);
    const Numbers exclusive = sum_of(rank(), 0, elements);
    Numbers result(elements, -1);
    const std::span<const std::int64_t> from(vector);
    const std::span<std::int64_t> to(result);
    const auto expect = [&](const Numbers& expected) {
      return [&](const char* form) {
        ASSERT_EQ(result, expected) << form << ", " << elements;
        result = vector;
      };
    };
    test::in_all_forms(expect(inclusive), scan, world(), from, to, ReduceOp::sum);
    test::in_all_forms(expect(inclusive), scan, world(), to, ReduceOp::sum);
    // Nothing comes to rank 0.
    test::in_all_forms(expect(rank() == 0 ? vector : exclusive), exscan, world(), from, to, ReduceOp::sum);
    test::in_all_forms(expect(rank() == 0 ? vector : exclusive), exscan, world(), to, ReduceOp::sum);
  }
}

// On an open line: slot 0 is for the lower neighbour, slot 1 for the higher one.
TEST_F(Exchanges, NeighborsInTheOrderOfTheStandard) {
  const Communicator line = world().cartesian({size()}, {false});
  EXPECT_EQ(neighbor_slots(line).destinations, 2u);
  EXPECT_EQ(neighbor_slots(line).sources, 2u);
  const Numbers send{number_of(rank(), 0, 0), number_of(rank(), 1, 0)};
  Numbers recv(2, -1);
  const bool has_lower = rank() > 0;
  const bool has_higher = rank() + 1 < size();
  const auto expect = [&](int lower_block, int higher_block) {
    return [&recv, lower = has_lower ? number_of(rank() - 1, lower_block, 0) : -1,
            higher = has_higher ? number_of(rank() + 1, higher_block, 0) : -1](const char* form) {
      ASSERT_THAT(recv, testing::ElementsAre(lower, higher)) << form;
      recv.assign(2, -1);
    };
  };
  const std::span<const std::int64_t> from(send);
  const std::span<std::int64_t> to(recv);
  test::in_all_forms(expect(1, 0), neighbor_alltoall, line, from, to);
  test::in_all_forms(expect(0, 0), neighbor_allgather, line, from.first(1), to);

  const Layout element = Layout::contiguous(sizeof(std::int64_t));
  const int ones[] = {1, 1};
  const int places[] = {0, 1};
  const Blocks blocks(element, ones, places);
  test::in_all_forms(expect(1, 0), neighbor_alltoallv, line, send.data(), blocks, recv.data(), blocks);
  test::in_all_forms(expect(0, 0), neighbor_allgatherv, line, send.data(), element, recv.data(), blocks);
}

TEST_F(Exchanges, ErrorsNameCallArgumentAndValue) {
  Numbers data(static_cast<std::size_t>(size()) + 1, 0);
  const std::span<std::int64_t> all(data);
  const std::span<const std::int64_t> from(data);
  std::vector<int> counts(static_cast<std::size_t>(size()) + 1, 1);
  const std::span<const int> ones = std::span<const int>(counts).first(static_cast<std::size_t>(size()));
  const auto ranks = std::to_string(size());
  EXPECT_THAT(test::message_of([&] { alltoall(world(), from.first(1), all); }),
              testing::HasSubstr("alltoall: 1 elements to send"));
  EXPECT_THAT(
      test::message_of([&] { alltoallv(world(), all, Blocks(counts, counts)); }),
      testing::HasSubstr("alltoallv: " + std::to_string(size() + 1) + " blocks; the communicator has " + ranks));
  EXPECT_THAT(test::message_of([&] { reduce_scatter(world(), all, counts, ReduceOp::sum); }),
              testing::HasSubstr("reduce_scatter: " + std::to_string(size() + 1) + " counts; the communicator has"));
  EXPECT_THAT(test::message_of([&] { reduce_scatter(world(), all, ones, ReduceOp::sum); }),
              testing::HasSubstr("reduce_scatter: " + std::to_string(size() + 1) +
                                 " elements to send; the counts add up to " + ranks));
  EXPECT_THAT(test::message_of([&] { reduce_scatter_block(world(), from, all.first(0), ReduceOp::sum); }),
              testing::HasSubstr("reduce_scatter_block: a vector of " + std::to_string(size() + 1)));
  EXPECT_THAT(test::message_of([&] { scan(world(), from.first(1), all, ReduceOp::sum); }),
              testing::HasSubstr("scan: 1 elements to send, " + std::to_string(size() + 1) + " to receive"));
  const Communicator line = world().cartesian({size()}, {false});
  EXPECT_THAT(test::message_of([&] { neighbor_allgather(line, from.first(1), all.first(1)); }),
              testing::HasSubstr("neighbor_allgather: the receive buffer has 1 elements; it needs 2 slots of 1"));
}

}  // namespace
}  // namespace fab
