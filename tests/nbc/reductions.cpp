// Every reduction against MPI's blocking one.
#include <algorithm>
#include <cstring>

#include "support.h"

namespace fab::test {
namespace {

/// The product of 2 x 2 matrices modulo a prime: associative, and not commutative.
void multiply(void* in, void* inout, int* length, MPI_Datatype*) {
  constexpr unsigned kPrime = 10007;
  const auto* left = static_cast<const unsigned*>(in);
  auto* right = static_cast<unsigned*>(inout);
  for (int i = 0; i < *length; ++i, left += 4, right += 4) {
    const unsigned product[] = {
        (left[0] % kPrime * (right[0] % kPrime) + left[1] % kPrime * (right[2] % kPrime)) % kPrime,
        (left[0] % kPrime * (right[1] % kPrime) + left[1] % kPrime * (right[3] % kPrime)) % kPrime,
        (left[2] % kPrime * (right[0] % kPrime) + left[3] % kPrime * (right[2] % kPrime)) % kPrime,
        (left[2] % kPrime * (right[1] % kPrime) + left[3] % kPrime * (right[3] % kPrime)) % kPrime};
    std::memcpy(right, product, sizeof(product));
  }
}

/// Adds what belongs to elements of gapped_integers().
void add_gapped(void* in, void* inout, int* length, MPI_Datatype*) {
  const auto* lower = static_cast<const unsigned*>(in);
  auto* higher = static_cast<unsigned*>(inout);
  for (int i = 0; i < *length; ++i)
    for (const int j : {5 * i, 5 * i + 2}) higher[j] += lower[j];
}

class Op {
 public:
  Op(MPI_User_function* function, bool commutes) {
    EXPECT_EQ(MPI_Op_create(function, commutes ? 1 : 0, &op_), MPI_SUCCESS);
  }
  Op(const Op&) = delete;
  Op& operator=(const Op&) = delete;
  ~Op() { EXPECT_EQ(MPI_Op_free(&op_), MPI_SUCCESS); }

  operator MPI_Op() const { return op_; }  // NOLINT(google-explicit-constructor): used as the handle

 private:
  MPI_Op op_ = MPI_OP_NULL;
};

class NbcReductionTest : public testing::Test {
 protected:
  /// Calls `test(type, op, count)` for operations whose results have the same bits as MPI's own in every order.
  template <class Test>
  void for_each_operation(Test&& test) {
    const Op product(multiply, false);
    const Op sum(add_gapped, true);
    const Type gapped(gapped_integers());
    MPI_Datatype four = MPI_DATATYPE_NULL;
    ASSERT_EQ(MPI_Type_contiguous(4, MPI_UNSIGNED, &four), MPI_SUCCESS);
    const Type matrix(four);
    for (const int count : {0, 1, 5, 2000}) {
      SCOPED_TRACE("count " + std::to_string(count));
      test(MPI_UNSIGNED, MPI_SUM, count);
      test(MPI_SHORT, MPI_MAX, count);
      test(MPI_BYTE, MPI_BXOR, count);
      test(MPI_2INT, MPI_MINLOC, count);
      test(matrix, product, count);
      test(gapped, sum, count);
    }
  }

  int rank_ = world_rank();
  int ranks_ = world_size();
  int last_ = ranks_ - 1;
  MPI_Comm comm_ = MPI_COMM_WORLD;
};

std::size_t elements(int count) { return static_cast<std::size_t>(count); }

TEST_F(NbcReductionTest, Reduce) {
  for_each_operation([&](MPI_Datatype type, MPI_Op op, int count) {
    const bool is_root = rank_ == last_;
    expect_same(
        type, elements(count), elements(count),
        [&](void* send, void* recv) { return MPI_Reduce(send, recv, count, type, op, last_, comm_); },
        [&](void* send, void* recv, NBC_Handle* handle) {
          return NBC_Ireduce(send, is_root ? recv : nullptr, count, type, op, last_, comm_, handle);
        });
    expect_same(
        type, elements(count), elements(count),
        [&](void* send, void* recv) {
          return MPI_Reduce(is_root ? MPI_IN_PLACE : send, recv, count, type, op, last_, comm_);
        },
        [&](void* send, void* recv, NBC_Handle* handle) {
          return NBC_Ireduce(is_root ? MPI_IN_PLACE : send, recv, count, type, op, last_, comm_, handle);
        });
  });
}

using Blocking = int(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);
using NonBlocking = int(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm, NBC_Handle*);

void expect_same_vectors(MPI_Datatype type, MPI_Op op, int count, bool in_place, Blocking* mpi, NonBlocking* nbc) {
  const auto from = [&](void* send) { return in_place ? MPI_IN_PLACE : send; };
  expect_same(
      type, elements(count), elements(count),
      [&](void* send, void* recv) { return mpi(from(send), recv, count, type, op, MPI_COMM_WORLD); },
      [&](void* send, void* recv, NBC_Handle* handle) {
        return nbc(from(send), recv, count, type, op, MPI_COMM_WORLD, handle);
      });
}

TEST_F(NbcReductionTest, AllreduceAndPrefixes) {
  for_each_operation([&](MPI_Datatype type, MPI_Op op, int count) {
    for (const bool in_place : {false, true}) {
      expect_same_vectors(type, op, count, in_place, MPI_Allreduce, NBC_Iallreduce);
      expect_same_vectors(type, op, count, in_place, MPI_Scan, NBC_Iscan);
      expect_same_vectors(type, op, count, in_place, MPI_Exscan, NBC_Iexscan);
    }
  });
}

TEST_F(NbcReductionTest, ReduceScatter) {
  for_each_operation([&](MPI_Datatype type, MPI_Op op, int count) {
    std::vector<int> counts;
    int all = 0;
    for (int i = 0; i < ranks_; ++i) all += counts.emplace_back((i % 3) * count);
    for (const bool in_place : {false, true}) {
      const auto from = [&](void* send) { return in_place ? MPI_IN_PLACE : send; };
      // In place MPI may use the memory behind its block as it likes.
      const std::size_t kept = elements(counts[static_cast<std::size_t>(rank_)]) * extent_of(type);
      Bytes send = random_bytes(elements(all) * extent_of(type) + 1);
      Bytes expected = send;
      Bytes actual = send;
      ASSERT_EQ(MPI_Reduce_scatter(from(send.data()), expected.data(), counts.data(), type, op, comm_), MPI_SUCCESS);
      NBC_Handle handle = stale_handle();
      ASSERT_EQ(NBC_Ireduce_scatter(from(send.data()), actual.data(), counts.data(), type, op, comm_, &handle), NBC_OK);
      ASSERT_EQ(NBC_Wait(&handle), NBC_OK);
      EXPECT_TRUE(std::equal(actual.begin(), actual.begin() + static_cast<std::ptrdiff_t>(kept), expected.begin()));
    }
  });
}

TEST_F(NbcReductionTest, ReduceScatterBlock) {
  for_each_operation([&](MPI_Datatype type, MPI_Op op, int count) {
    for (const bool in_place : {false, true}) {
      const auto from = [&](void* send) { return in_place ? MPI_IN_PLACE : send; };
      const std::size_t kept = elements(count) * extent_of(type);
      Bytes send = random_bytes(elements(count * ranks_) * extent_of(type) + 1);
      Bytes expected = send;
      Bytes actual = send;
      ASSERT_EQ(MPI_Reduce_scatter_block(from(send.data()), expected.data(), count, type, op, comm_), MPI_SUCCESS);
      NBC_Handle handle = stale_handle();
      ASSERT_EQ(NBC_Ireduce_scatter_block(from(send.data()), actual.data(), count, type, op, comm_, &handle), NBC_OK);
      ASSERT_EQ(NBC_Wait(&handle), NBC_OK);
      EXPECT_TRUE(std::equal(actual.begin(), actual.begin() + static_cast<std::ptrdiff_t>(kept), expected.begin()));
    }
  });
}

/// Type and operation are the operation's own meanwhile.
TEST_F(NbcReductionTest, HandlesMayBeFreedAtOnce) {
  MPI_Op op = MPI_OP_NULL;
  ASSERT_EQ(MPI_Op_create(add_gapped, 1, &op), MPI_SUCCESS);
  MPI_Datatype type = gapped_integers();
  ASSERT_EQ(MPI_Type_commit(&type), MPI_SUCCESS);
  const std::vector<unsigned> send = {1, 7, 10, 7, 7};
  std::vector<unsigned> recv(5);
  NBC_Handle handle;
  ASSERT_EQ(NBC_Iallreduce(send.data(), recv.data(), 1, type, op, comm_, &handle), NBC_OK);
  ASSERT_EQ(MPI_Op_free(&op), MPI_SUCCESS);
  ASSERT_EQ(MPI_Type_free(&type), MPI_SUCCESS);
  ASSERT_EQ(NBC_Wait(&handle), NBC_OK);
  const auto ranks = static_cast<unsigned>(ranks_);
  EXPECT_EQ(recv, (std::vector<unsigned>{ranks, 0, 10 * ranks, 0, 0}));
}

}  // namespace
}  // namespace fab::test
