// Helpers of the tests of the NBC binding: datatypes to move, and comparisons with MPI's blocking calls.
#pragma once

#include <fab/nbc.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "mpi/communicators.h"
#include "support/fill.h"

namespace fab::test {

using Bytes = std::vector<std::byte>;

inline std::mt19937_64& random_numbers() {
  static std::mt19937_64 random(1234 + static_cast<unsigned>(world_rank()));
  return random;
}

inline Bytes random_bytes(std::size_t count) {
  Bytes bytes(count);
  fill_by_chance(bytes, random_numbers()());
  return bytes;
}

/// Frees what it holds.
class Type {
 public:
  explicit Type(MPI_Datatype type) : type_(type) { EXPECT_EQ(MPI_Type_commit(&type_), MPI_SUCCESS); }
  Type(const Type&) = delete;
  Type& operator=(const Type&) = delete;
  ~Type() { EXPECT_EQ(MPI_Type_free(&type_), MPI_SUCCESS); }

  operator MPI_Datatype() const { return type_; }  // NOLINT(google-explicit-constructor): used as the handle

 private:
  MPI_Datatype type_;
};

/// Two integers with one between them that is none of its own, and room behind.
inline MPI_Datatype gapped_integers() {
  MPI_Datatype vector = MPI_DATATYPE_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  EXPECT_EQ(MPI_Type_vector(2, 1, 2, MPI_INT, &vector), MPI_SUCCESS);
  EXPECT_EQ(MPI_Type_create_resized(vector, 0, 5 * static_cast<MPI_Aint>(sizeof(int)), &type), MPI_SUCCESS);
  EXPECT_EQ(MPI_Type_free(&vector), MPI_SUCCESS);
  return type;
}

inline std::size_t extent_of(MPI_Datatype type) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  EXPECT_EQ(MPI_Type_get_extent(type, &lower, &extent), MPI_SUCCESS);
  return static_cast<std::size_t>(extent);
}

/// A handle of which nothing is known, as a variable of a C program.
inline NBC_Handle stale_handle() {
  NBC_Handle handle;
  auto* bytes = reinterpret_cast<unsigned char*>(&handle);
  for (std::size_t i = 0; i < sizeof(handle); ++i) bytes[i] = 0xa5;
  return handle;
}

/// Both calls get (send, recv), memory of `send_elements` and `recv_elements` elements; recv holds the same before, and
/// must afterwards. The second one gets a handle, too, which is waited for.
template <class Mpi, class Nbc>
void expect_same(MPI_Datatype type, std::size_t send_elements, std::size_t recv_elements, Mpi&& mpi, Nbc&& nbc) {
  Bytes send = random_bytes(send_elements * extent_of(type) + 1);
  Bytes expected = random_bytes(recv_elements * extent_of(type) + 1);
  Bytes actual = expected;
  ASSERT_EQ(mpi(send.data(), expected.data()), MPI_SUCCESS);
  NBC_Handle handle = stale_handle();
  ASSERT_EQ(nbc(send.data(), actual.data(), &handle), NBC_OK);
  ASSERT_EQ(NBC_Wait(&handle), NBC_OK);
  EXPECT_TRUE(actual == expected);
}

/// Calls `test(type, count)` for some of both.
template <class Test>
void for_each_type_and_count(Test&& test) {
  const Type gapped(gapped_integers());
  for (const MPI_Datatype type : {MPI_INT, MPI_DOUBLE, static_cast<MPI_Datatype>(gapped)})
    for (const int count : {0, 1, 3, 3000}) {
      SCOPED_TRACE("count " + std::to_string(count) + (type == gapped ? " of a derived type" : ""));
      test(type, count);
    }
}

}  // namespace fab::test
