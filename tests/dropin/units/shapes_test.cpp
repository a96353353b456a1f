// The bytes by which ranks decide, from types that some ranks may use and others not.
#include "bindings/dropin/shapes.h"

#include <gtest/gtest.h>

#include <cstddef>

namespace fab::dropin {
namespace {

constexpr int kGiB = 1 << 30;

class Shapes : public testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_EQ(MPI_Init(nullptr, nullptr), MPI_SUCCESS); }
  static void TearDownTestSuite() { ASSERT_EQ(MPI_Finalize(), MPI_SUCCESS); }
};

/// So many of another type, one after the other.
class Contiguous {
 public:
  Contiguous(int count, MPI_Datatype of) { EXPECT_EQ(MPI_Type_contiguous(count, of, &type), MPI_SUCCESS); }
  ~Contiguous() { EXPECT_EQ(MPI_Type_free(&type), MPI_SUCCESS); }
  Contiguous(const Contiguous&) = delete;
  Contiguous& operator=(const Contiguous&) = delete;

  MPI_Datatype type = MPI_DATATYPE_NULL;
};

TEST_F(Shapes, BytesAreTheSameForTheSameSignature) {
  const Contiguous gib(kGiB, MPI_BYTE);
  for (const int count : {1, 2, 3, 4, 5}) {  // 2 GiB is the first that an int does not hold, 4 GiB is 0 modulo 2^32
    const Contiguous whole(count, gib.type);
    EXPECT_EQ(bytes_of(1, whole.type), static_cast<std::size_t>(count) * kGiB);
    EXPECT_EQ(bytes_of(count, gib.type), bytes_of(1, whole.type));
  }
}

TEST_F(Shapes, BytesAreUnknownWhereNoNumberHoldsThem) {
  const Contiguous gib(kGiB, MPI_BYTE);
  const Contiguous huge(kGiB, gib.type);
  EXPECT_EQ(bytes_of(15, huge.type), std::size_t{15} << 60);
  EXPECT_EQ(bytes_of(16, huge.type), kUnknownBytes);  // 2^64
  EXPECT_EQ(bytes_of(17, huge.type), kUnknownBytes);
}

TEST_F(Shapes, WrongArgumentsHaveNoBytes) {
  EXPECT_EQ(bytes_of(-1, MPI_INT), 0U);
  EXPECT_EQ(bytes_of(0, MPI_INT), 0U);
  EXPECT_EQ(bytes_of(3, MPI_DATATYPE_NULL), 0U);
  EXPECT_EQ(bytes_of(3, MPI_INT), 3 * sizeof(int));
}

}  // namespace
}  // namespace fab::dropin
