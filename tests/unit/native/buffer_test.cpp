// The buffers that typed calls accept, and those that must not compile.
#include "fab/buffer.h"

#include <gmock/gmock.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fab/fab.h"

namespace fab {
namespace {

template <class Operation, class... Arguments>
concept Compiles = requires(const Operation& operation, const Communicator& world, Arguments&&... arguments) {
  operation(world, std::forward<Arguments>(arguments)...);
};
template <class Operation, class... Arguments>
concept Starts = requires(const Operation& operation, const Communicator& world, Arguments&&... arguments) {
  operation.start(world, std::forward<Arguments>(arguments)...);
  operation.persistent(world, std::forward<Arguments>(arguments)...);
  operation.try_start(world, std::forward<Arguments>(arguments)...);
};

using Vector = std::vector<double>;

// Named ranges, and views of them, on both sides.
static_assert(Compiles<Allreduce, const Vector&, Vector&, ReduceOp>);
static_assert(Compiles<Allreduce, Vector&, std::array<double, 3>&, ReduceOp>);
static_assert(Compiles<Allreduce, double (&)[3], std::span<double>, ReduceOp>);
static_assert(Compiles<Allreduce, const double (&)[2][3], fab::Array<double>&, ReduceOp>);
static_assert(Compiles<Allreduce, const double&, double&, ReduceOp>);
static_assert(Starts<Allreduce, std::span<const double>, const std::span<double>&, ReduceOp>);
static_assert(Starts<Bcast, std::string&>);
static_assert(Starts<Bcast, std::string&, Root>);

// Temporaries that own their elements are gone before an operation is complete.
static_assert(!Compiles<Allreduce, const Vector&, Vector, ReduceOp>);
static_assert(!Compiles<Allreduce, Vector, Vector&, ReduceOp>);
static_assert(!Starts<Allreduce, Vector, Vector&, ReduceOp>);
static_assert(!Compiles<Allreduce, Vector, ReduceOp>);
static_assert(!Compiles<Allreduce, double, ReduceOp>);
static_assert(!Compiles<Bcast, std::string>);
static_assert(!Starts<NeighborXchg, const Vector&, std::array<double, 2>>);

// Nothing is received in const elements.
static_assert(!Compiles<Allreduce, Vector&, const Vector&, ReduceOp>);
static_assert(!Compiles<Allreduce, const Vector&, ReduceOp>);
static_assert(!Compiles<Bcast, const double&>);
static_assert(!Compiles<NeighborXchg, Vector&, std::span<const double>>);

// Both sides have the same elements.
static_assert(!Compiles<Allreduce, std::vector<float>&, Vector&, ReduceOp>);
static_assert(!Compiles<Alltoall, std::vector<int>&, std::vector<unsigned>&>);

// Elements are bytes that mean the same elsewhere, in one piece.
static_assert(!Compiles<Bcast, std::vector<std::string>&>);
static_assert(!Compiles<Bcast, std::vector<double*>&>);
static_assert(!Compiles<Bcast, std::vector<std::string_view>&>);
static_assert(!Compiles<Bcast, std::vector<bool>&>);
static_assert(!Compiles<Bcast, double*&>);
static_assert(!Compiles<Bcast, std::unique_ptr<double>&>);

// What combines must be defined for the elements.
struct Pair {
  int first;
  int second;
};
static_assert(Compiles<Bcast, Pair&>);
static_assert(Compiles<Bcast, std::vector<Pair>&>);
static_assert(!Compiles<Allreduce, std::vector<Pair>&, ReduceOp>);
static_assert(Compiles<Allreduce, std::vector<Pair>&, Operator>);

// A rank is no root, nor are two numbers a shift.
static_assert(!Compiles<Bcast, Vector&, int>);
static_assert(!Compiles<Reduce, Vector&, Vector&, ReduceOp, int>);
static_assert(!Compiles<Gather, Vector&, Vector&, int>);
static_assert(Compiles<Gather, Vector&, Vector&, Root>);
static_assert(!Compiles<CartShiftXchg, Vector&, int, int>);
static_assert(Compiles<CartShiftXchg, Vector&, Shift>);

// Neither a tag nor a dimension can take the place of another number.
template <class Aggregate, class First, class Second>
concept MadeOf = requires(First first, Second second) {
  Aggregate{first, second};
};
static_assert(MadeOf<Destination, Rank, Tag> && !MadeOf<Destination, Tag, Rank> && !MadeOf<Destination, Rank, int>);
static_assert(MadeOf<Source, Rank, Tag> && !MadeOf<Source, Tag, Rank> && !MadeOf<Source, Rank, int>);
static_assert(MadeOf<Shift, Dimension, int> && !MadeOf<Shift, int, Dimension> && !MadeOf<Shift, int, int>);
static_assert(std::is_invocable_v<decltype(&Cartesian::shift), Cartesian, Rank, Dimension, int>);
static_assert(!std::is_invocable_v<decltype(&Cartesian::shift), Cartesian, Dimension, Rank, int>);
static_assert(!std::is_invocable_v<decltype(&Cartesian::shift), Cartesian, Rank, int, int>);

// Counts of all widths, and no other types.
static_assert(Compiles<Alltoallv, Vector&, Blocks>);
static_assert(Compiles<Alltoallv, Vector&, PackedBlocks&>);
static_assert(std::is_constructible_v<Blocks, std::vector<int>&, std::vector<std::int64_t>&>);
static_assert(std::is_constructible_v<Blocks, std::vector<std::size_t>&, std::array<long long, 4>&>);
static_assert(!std::is_constructible_v<Integers, std::vector<double>&>);
static_assert(!std::is_constructible_v<Integers, std::vector<unsigned>&>);
static_assert(!std::is_constructible_v<Integers, std::vector<short>&>);
static_assert(Compiles<ReduceScatter, Vector&, Vector&, std::vector<std::int64_t>&, ReduceOp>);

// There is no neighbour that a rank's own block comes from.
static_assert(!Compiles<NeighborAllgather, Vector&>);
static_assert(Compiles<NeighborAlltoall, Vector&>);

// Messages.
template <class Buffer>
concept Received = requires(const Communicator& world, Buffer&& buffer) {
  irecv(world, std::forward<Buffer>(buffer));
};
static_assert(Received<Vector&>);
static_assert(!Received<Vector>);
static_assert(!Received<const Vector&>);

/// As std::mdspan is, of two dimensions.
struct Plane {
  using reference = float&;
  struct Mapping {
    [[nodiscard]] std::size_t required_span_size() const { return 6; }
  };
  [[nodiscard]] float* data_handle() const { return memory; }
  [[nodiscard]] Mapping mapping() const { return {}; }
  [[nodiscard]] bool is_exhaustive() const { return exhaustive; }

  float* memory;
  bool exhaustive;
};
static_assert(RecvBuffer<Plane>);
static_assert(std::is_same_v<ElementOf<Plane>, float>);

TEST(Buffer, OfAViewIsItsWholeMemory) {
  std::array<float, 6> memory{};
  Plane plane{memory.data(), true};
  const std::span<float> elements = detail::elements_of(plane);
  EXPECT_EQ(elements.data(), memory.data());
  EXPECT_EQ(elements.size(), 6u);
  plane.exhaustive = false;
  EXPECT_THROW(static_cast<void>(detail::elements_of(plane)), Error);
}

TEST(Buffer, OfAnArrayOfArraysIsFlat) {
  int cube[2][3][4] = {};
  const std::span<int> elements = detail::elements_of(cube);
  EXPECT_EQ(elements.data(), &cube[0][0][0]);
  EXPECT_EQ(elements.size(), 24u);
}

TEST(Integers, OfBothWidthsReadTheSame) {
  const std::vector<int> narrow{1, -2, 3};
  const std::vector<long long> wide{1, -2, 1ll << 40};
  const std::vector<std::size_t> sizes{1, SIZE_MAX};
  const Integers few(narrow);
  const Integers many(wide);
  EXPECT_EQ(few.size(), 3u);
  EXPECT_EQ(few[1], -2);
  EXPECT_EQ(many[1], -2);
  EXPECT_EQ(many[2], 1ll << 40);
  EXPECT_EQ(Integers(sizes)[1], -1);
  EXPECT_TRUE(Integers().empty());
}

TEST(PackedBlocks, HaveNoGaps) {
  const std::vector<std::size_t> counts{3, 0, 1ull << 33, 1};
  const PackedBlocks blocks(counts);
  EXPECT_THAT(blocks.displacements(), testing::ElementsAre(0, 3, 3, 3 + (1ll << 33)));
  EXPECT_EQ(blocks.elements(), 4 + (1ull << 33));
  EXPECT_EQ(Blocks(blocks).counts()[2], 1ll << 33);
}

TEST(Array, OwnsItsMemory) {
  Array<int> first = make_array<int>(4);
  EXPECT_THAT(first, testing::Each(0));
  first[3] = 7;
  Array<int> second = std::move(first);
  EXPECT_TRUE(first.empty());
  EXPECT_EQ(second.size(), 4u);
  first = std::move(second);
  EXPECT_EQ(first[3], 7);
}

TEST(Result, HasAValueOrAReason) {
  Result<int> value = 3;
  EXPECT_TRUE(value);
  EXPECT_EQ(*value, 3);
  EXPECT_TRUE(value.status().ok());
  const Result<int> none = Status{make_error_code(Errc::truncated), "too long"};
  EXPECT_FALSE(none.ok());
  try {
    static_cast<void>(none.value());
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.errc(), Errc::truncated);
    EXPECT_THAT(error.what(), testing::StartsWith("too long"));
  }
  // An Error and a Status that tell of one failure have one text.
  const Status status = attempt([] { throw Error(Errc::mismatch, "they differ"); });
  EXPECT_EQ(status.errc(), Errc::mismatch);
  EXPECT_EQ(status.message, "they differ");
  EXPECT_EQ(attempt([] { return 5; }).value(), 5);
}

}  // namespace
}  // namespace fab
