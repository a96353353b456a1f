// Every operation in every form, on buffers of many kinds, with counts of 64 bits.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "fab/fab.h"
#include "native/support/in_all_forms.h"
#include "native/support/on_all_ranks.h"

namespace fab {
namespace {

using test::in_all_forms;
using testing::ElementsAre;
using testing::HasSubstr;

class Forms : public test::OnAllRanks {
 protected:
  static std::int64_t sum_of_ranks() { return std::int64_t{size()} * (size() - 1) / 2; }
  static std::size_t ranks() { return static_cast<std::size_t>(size()); }
};

TEST_F(Forms, OfABarrier) {
  in_all_forms([](const char*) {}, barrier, world());
}

TEST_F(Forms, OfABroadcastOfASingleNumber) {
  for (Rank root = 0; root < size(); ++root) {
    std::int64_t number = rank() == root ? 100 + root : -1;
    in_all_forms(
        [&](const char* form) {
          EXPECT_EQ(number, 100 + root) << form;
          number = rank() == root ? 100 + root : -1;
        },
        bcast, world(), number, Root{root});
  }
  double from_rank_0 = rank() == 0 ? 2.5 : 0;
  bcast(world(), from_rank_0);
  EXPECT_EQ(from_rank_0, 2.5);
}

TEST_F(Forms, OfReductionsOfArrays) {
  for (Rank root = 0; root < size(); ++root) {
    const int mine[2][2] = {{rank(), 1}, {2, rank()}};
    std::array<int, 4> all{-1, -1, -1, -1};
    const auto sum = static_cast<int>(sum_of_ranks());
    in_all_forms(
        [&](const char* form) {
          if (rank() == root) {
            EXPECT_THAT(all, ElementsAre(sum, size(), 2 * size(), sum)) << form;
          }
          all.fill(-1);
        },
        reduce, world(), mine, all, ReduceOp::sum, Root{root});
    int number = rank();
    in_all_forms(
        [&](const char* form) {
          EXPECT_EQ(number, rank() == root ? size() - 1 : rank()) << form;
          number = rank();
        },
        reduce, world(), number, ReduceOp::max, Root{root});
  }
}

TEST_F(Forms, OfAnAllreduceInMemoryOfFabs) {
  Array<double> mine = make_array<double>(3);
  Array<double> all = make_array<double>(3);
  const auto fill = [&] { std::ranges::fill(mine, rank() + 0.5); };
  const double sum = static_cast<double>(sum_of_ranks()) + size() / 2.0;
  fill();
  in_all_forms(
      [&](const char* form) {
        EXPECT_THAT(all, ElementsAre(sum, sum, sum)) << form;
        std::ranges::fill(all, -1);
      },
      allreduce, world(), mine, all, ReduceOp::sum);
  in_all_forms(
      [&](const char* form) {
        EXPECT_THAT(mine, ElementsAre(sum, sum, sum)) << form;
        fill();
      },
      allreduce, world(), mine, ReduceOp::sum);
}

TEST_F(Forms, OfGathersAndScatters) {
  for (Rank root = 0; root < size(); ++root) {
    const bool is_root = rank() == root;
    const std::array<int, 2> mine{rank(), -rank()};
    std::vector<int> everything;
    for (int each = 0; each < size(); ++each) everything.insert(everything.end(), {each, -each});
    const std::vector<int> begun = [&] {
      std::vector<int> only(everything.size(), 77);
      std::ranges::copy(mine, only.begin() + 2 * rank());
      return only;
    }();
    std::vector<int> all(is_root ? everything.size() : 0, 77);
    in_all_forms(
        [&](const char* form) {
          EXPECT_EQ(all, is_root ? everything : std::vector<int>()) << form;
          std::ranges::fill(all, 77);
        },
        gather, world(), mine, all, Root{root});
    const std::vector<int> before = is_root ? begun : std::vector<int>(mine.begin(), mine.end());
    std::vector<int> in_place = before;
    in_all_forms(
        [&](const char* form) {
          EXPECT_EQ(in_place, is_root ? everything : before) << form << " in place";
          in_place = before;
        },
        gather, world(), in_place, Root{root});
    std::array<int, 2> part{77, 77};
    const std::vector<int> source = is_root ? everything : std::vector<int>();
    in_all_forms(
        [&](const char* form) {
          EXPECT_EQ(part, mine) << form;
          part.fill(77);
        },
        scatter, world(), source, part, Root{root});
    std::vector<int> scattered = is_root ? everything : std::vector<int>(2, 77);
    in_all_forms(
        [&](const char* form) {
          EXPECT_EQ(scattered, is_root ? everything : std::vector<int>(mine.begin(), mine.end()))
              << form << " in place";
          if (!is_root) std::ranges::fill(scattered, 77);
        },
        scatter, world(), scattered, Root{root});
  }
}

TEST_F(Forms, OfAllgathers) {
  const std::string mine(3, static_cast<char>('a' + rank()));
  std::string everything;
  for (int each = 0; each < size(); ++each) everything.append(3, static_cast<char>('a' + each));
  std::string all(everything.size(), '?');
  in_all_forms(
      [&](const char* form) {
        EXPECT_EQ(all, everything) << form;
        std::ranges::fill(all, '?');
      },
      allgather, world(), mine, all);
  std::string begun(everything.size(), '?');
  begun.replace(3 * static_cast<std::size_t>(rank()), 3, mine);
  all = begun;
  in_all_forms(
      [&](const char* form) {
        EXPECT_EQ(all, everything) << form << " in place";
        all = begun;
      },
      allgather, world(), all);
}

/// Rank i's block has i + 1 elements, all i.
class Unequal : public Forms {
 protected:
  static PackedBlocks blocks() {
    std::vector<std::int64_t> counts(ranks());
    std::iota(counts.begin(), counts.end(), 1);
    return PackedBlocks(counts);
  }
  static std::vector<short> block_of(Rank each) {
    return std::vector<short>(static_cast<std::size_t>(each) + 1, static_cast<short>(each));
  }
  static std::vector<short> all_blocks() {
    std::vector<short> all;
    for (Rank each = 0; each < size(); ++each) std::ranges::copy(block_of(each), std::back_inserter(all));
    return all;
  }
  /// With this rank's block alone.
  static std::vector<short> begun() {
    std::vector<short> some(all_blocks().size(), -1);
    const PackedBlocks places = blocks();
    std::ranges::copy(block_of(rank()), some.begin() + places.displacements()[static_cast<std::size_t>(rank())]);
    return some;
  }
};

TEST_F(Unequal, BlocksAreGatheredOnAllRanks) {
  const PackedBlocks where = blocks();
  const std::vector<short> mine = block_of(rank());
  const std::vector<short> before = begun();
  std::vector<short> all(where.elements(), -1);
  in_all_forms(
      [&](const char* form) {
        EXPECT_EQ(all, all_blocks()) << form;
        std::ranges::fill(all, static_cast<short>(-1));
      },
      allgatherv, world(), mine, all, where);
  all = before;
  in_all_forms(
      [&](const char* form) {
        EXPECT_EQ(all, all_blocks()) << form << " in place";
        all = before;
      },
      allgatherv, world(), all, where);
}

TEST_F(Unequal, BlocksAreGatheredAndScatteredByOneRank) {
  const PackedBlocks packed = blocks();
  const std::vector<short> mine = block_of(rank());
  for (Rank root = 0; root < size(); ++root) {
    const bool is_root = rank() == root;
    const Blocks where = is_root ? Blocks(packed) : Blocks();
    std::vector<short> all(is_root ? packed.elements() : 0, -1);
    in_all_forms(
        [&](const char* form) {
          EXPECT_EQ(all, is_root ? all_blocks() : std::vector<short>()) << form;
          std::ranges::fill(all, static_cast<short>(-1));
        },
        gatherv, world(), mine, all, where, Root{root});
    std::vector<short> part(mine.size(), -1);
    const std::vector<short> source = is_root ? all_blocks() : std::vector<short>();
    in_all_forms(
        [&](const char* form) {
          EXPECT_EQ(part, mine) << form;
          std::ranges::fill(part, static_cast<short>(-1));
        },
        scatterv, world(), source, where, part, Root{root});
    // In place the root has a form of its own.
    if (is_root) {
      const std::vector<short> before = begun();
      all = before;
      in_all_forms(
          [&](const char* form) {
            EXPECT_EQ(all, all_blocks()) << form << " in place";
            all = before;
          },
          gatherv, world(), all, where, Root{root});
      in_all_forms([](const char*) {}, scatterv, world(), source, where, Root{root});
    } else {
      in_all_forms([](const char*) {}, gatherv, world(), mine, all, where, Root{root});
      in_all_forms(
          [&](const char* form) {
            EXPECT_EQ(part, mine) << form << " from a root in place";
            std::ranges::fill(part, static_cast<short>(-1));
          },
          scatterv, world(), source, where, part, Root{root});
    }
  }
}

TEST_F(Forms, OfExchangesOnARing) {
  const Communicator comm = ring();
  const std::vector<int> out{rank(), 100 + rank()};
  std::vector<int> in{-1, -1};
  const auto expect = [&](std::vector<int>& buffer, const std::vector<int>& before) {
    return [&, before](const char* form) {
      EXPECT_THAT(buffer, ElementsAre(100 + next(), previous())) << form;
      buffer = before;
    };
  };
  const std::vector<int> nothing = in;
  in_all_forms(expect(in, nothing), neighbor_xchg, comm, out, in);
  in = out;
  in_all_forms(expect(in, out), neighbor_xchg, comm, in);

  // The blocks change places in the buffer: block 0 comes last.
  const std::array<std::int64_t, 2> ones{1, 1};
  const std::array<std::int64_t, 2> turned{1, 0};
  const std::array<int, 2> straight{0, 1};
  std::vector<int> crossed{100 + rank(), rank()};
  in = nothing;
  in_all_forms(expect(in, nothing), neighbor_xchgv, comm, crossed, Blocks(ones, turned), in, Blocks(ones, straight));
  const std::vector<int> before = crossed;
  in_all_forms(
      [&](const char* form) {
        EXPECT_THAT(crossed, ElementsAre(previous(), 100 + next())) << form << " in place";
        crossed = before;
      },
      neighbor_xchgv, comm, crossed, Blocks(ones, turned));
}

TEST_F(Forms, OfExchangesInTheOrderOfTheStandard) {
  const Communicator comm = ring();
  // Slot 0 is the previous rank's.
  const std::vector<int> out{rank(), 100 + rank()};
  std::vector<int> in = out;
  const auto expect = [&](const char* form) {
    EXPECT_THAT(in, ElementsAre(100 + previous(), next())) << form;
    in = out;
  };
  in_all_forms(expect, neighbor_alltoall, comm, in);
  const std::array<std::int64_t, 2> ones{1, 1};
  const std::array<std::int64_t, 2> places{0, 1};
  in_all_forms(expect, neighbor_alltoallv, comm, out, Blocks(ones, places), in, Blocks(ones, places));
  in_all_forms(expect, neighbor_alltoallv, comm, in, Blocks(ones, places));
  in_all_forms(
      [&](const char* form) {
        EXPECT_THAT(in, ElementsAre(previous(), next())) << form;
        in = out;
      },
      neighbor_allgatherv, comm, std::span(out).first(1), in, Blocks(ones, places));
}

TEST_F(Forms, OfShifts) {
  const Communicator comm = ring();
  const double mine = rank();
  double theirs = -1;
  in_all_forms(
      [&](const char* form) {
        EXPECT_EQ(theirs, previous()) << form;
        theirs = -1;
      },
      cart_shift_xchg, comm, mine, theirs, Shift{.dimension = Dimension{0}, .displacement = 1});
  theirs = rank();
  in_all_forms(
      [&](const char* form) {
        EXPECT_EQ(theirs, next()) << form << " in place";
        theirs = rank();
      },
      cart_shift_xchg, comm, theirs, Shift{.dimension = Dimension{0}, .displacement = -1});
}

/// A foreign array type, with a gap that its owner knows about.
struct Grid {
  std::vector<float> values = std::vector<float>(6);
  bool packed = true;
};

}  // namespace

template <>
struct BufferTraits<Grid> {
  static std::span<float> elements(Grid& grid) {
    if (!grid.packed) throw Error(Errc::invalid_argument, "the grid has gaps");
    return grid.values;
  }
};

namespace {

TEST_F(Forms, TakeArrayTypesOfTheCallers) {
  Grid grid;
  std::ranges::fill(grid.values, static_cast<float>(rank()));
  allreduce(world(), grid, ReduceOp::max);
  EXPECT_EQ(grid.values, std::vector<float>(6, static_cast<float>(size() - 1)));
  grid.packed = false;
  EXPECT_THROW(allreduce(world(), grid, ReduceOp::max), Error);
}

TEST_F(Forms, OfMessages) {
  const std::string text = "from " + std::to_string(rank());
  std::string room(20, '?');
  Request sent = isend(world(), text, {next(), Tag{4}});
  const MessageInfo info = recv(world(), room, {previous(), Tag{4}});
  sent.wait();
  EXPECT_EQ(room.substr(0, info.count<char>()), "from " + std::to_string(previous()));
  int number = rank();
  sendrecv_replace(world(), number, {next()}, {previous()});
  EXPECT_EQ(number, previous());
}

// All ranks are refused alike, and go on.
TEST_F(Forms, WithoutExceptionsTellFailures) {
  std::vector<double> data(3);
  const std::vector<double> two(2);
  const Status performed = allreduce.try_perform(world(), two, data, ReduceOp::sum);
  EXPECT_EQ(performed.errc(), Errc::invalid_count);
  EXPECT_EQ(performed.message, "allreduce: 2 elements to send, 3 to receive; the numbers must be equal");
  const Result<Request> started = bcast.try_start(world(), data, Root{size()});
  ASSERT_FALSE(started.ok());
  EXPECT_EQ(started.status().errc(), Errc::invalid_rank);
  EXPECT_THAT(started.status().message, HasSubstr("bcast: root " + std::to_string(size())));
  const Result<PersistentExchange> made = neighbor_xchg.try_persistent(world(), data);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.status().errc(), Errc::invalid_topology);
  EXPECT_THROW(static_cast<void>(made.value()), Error);
  const Result<Request> sent = attempt([&] { return isend(world(), data, {size(), Tag{0}}); });
  EXPECT_EQ(sent.status().errc(), Errc::invalid_rank);
  barrier(world());
}

TEST_F(Forms, RefuseBlocksOutsideOfTheirBuffer) {
  std::vector<double> data(ranks());
  const std::vector<std::int64_t> ones(ranks(), 1);
  std::vector<std::int64_t> places(ranks());
  std::iota(places.begin(), places.end(), 0);
  const auto message = [&](const Blocks& blocks) { return alltoallv.try_perform(world(), data, blocks).message; };
  places.back() = static_cast<std::int64_t>(ranks());
  const std::string last = std::to_string(size() - 1);
  EXPECT_THAT(message(Blocks(ones, places)), HasSubstr("alltoallv: block " + last + " has 1 elements from " +
                                                       std::to_string(size()) + " on; the buffer has"));
  places.back() = INT64_MAX;  // whose end is no number
  EXPECT_THAT(message(Blocks(ones, places)), HasSubstr("alltoallv: block " + last));
  places.back() = -1;
  EXPECT_THAT(message(Blocks(ones, places)), HasSubstr("from -1 on"));
  const std::vector<std::size_t> huge(ranks(), SIZE_MAX);
  EXPECT_THAT(message(Blocks(huge, places)), HasSubstr("alltoallv: counts[0] is -1; valid is 0 or more"));
  EXPECT_THAT(message(Blocks(ones, std::span(places).first(0))), HasSubstr("counts and 0 displacements"));
  const BlockShape shape{static_cast<std::ptrdiff_t>(sizeof(double)), Layout::contiguous(data.size() * sizeof(double))};
  const std::vector<BlockShape> shapes(ranks(), shape);
  EXPECT_THAT(message(Blocks(shapes)), HasSubstr("alltoallv: block 0 lies in bytes 8 to"));
  try {
    alltoallv(world(), data.data(), Blocks(ones, ones));
    ADD_FAILURE() << "an address without a layout";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("without the layout of an element"));
  }
  barrier(world());
}

}  // namespace
}  // namespace fab
