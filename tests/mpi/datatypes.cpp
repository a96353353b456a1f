// Derived datatypes of every constructor: what an exchange leaves in memory is what MPI_Sendrecv leaves there.
#include <cstddef>
#include <functional>
#include <string>

#include "communicators.h"

namespace fab::test {
namespace {

/// A datatype by name.
struct TypeCase {
  std::string name;
  std::function<MPI_Datatype()> make;
};

void PrintTo(const TypeCase& type, std::ostream* out) { *out << type.name; }

/// A type that is freed.
class Type {
 public:
  explicit Type(MPI_Datatype type) : type_(type) { EXPECT_EQ(MPI_Type_commit(&type_), MPI_SUCCESS); }
  Type(const Type&) = delete;
  Type& operator=(const Type&) = delete;
  ~Type() { EXPECT_EQ(MPI_Type_free(&type_), MPI_SUCCESS); }
  operator MPI_Datatype() const { return type_; }  // NOLINT(google-explicit-constructor)

 private:
  MPI_Datatype type_;
};

/// `make` fills in its argument.
template <class Make>
MPI_Datatype made(Make&& make) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  EXPECT_EQ(make(&type), MPI_SUCCESS);
  return type;
}

MPI_Datatype vector_of_ints() {
  return made([](MPI_Datatype* type) { return MPI_Type_vector(3, 2, 5, MPI_INT, type); });
}

/// `make` builds on another derived type, which is freed before the new one is used.
template <class Make>
MPI_Datatype built_on(MPI_Datatype inner, Make&& make) {
  const MPI_Datatype type = made([&](MPI_Datatype* outer) { return make(inner, outer); });
  EXPECT_EQ(MPI_Type_free(&inner), MPI_SUCCESS);
  return type;
}

MPI_Datatype subarray(int order) {
  return made([order](MPI_Datatype* type) {
    const int sizes[] = {4, 5, 6};
    const int subsizes[] = {2, 3, 2};
    const int starts[] = {1, 0, 3};
    return MPI_Type_create_subarray(3, sizes, subsizes, starts, order, MPI_SHORT, type);
  });
}

struct Deal {
  int distributions[2];
  int arguments[2];
  int grid[2];
  int rank;
  int order;
};

MPI_Datatype dealt(const Deal& deal) {
  return made([&](MPI_Datatype* type) {
    const int sizes[] = {11, 7};
    return MPI_Type_create_darray(deal.grid[0] * deal.grid[1], deal.rank, 2, sizes, deal.distributions, deal.arguments,
                                  deal.grid, deal.order, MPI_INT, type);
  });
}

constexpr int kDefault = MPI_DISTRIBUTE_DFLT_DARG;
constexpr int kBlock = MPI_DISTRIBUTE_BLOCK;
constexpr int kCyclic = MPI_DISTRIBUTE_CYCLIC;
constexpr int kNone = MPI_DISTRIBUTE_NONE;

struct Record {
  char tag;
  double values[2];
  short last;
};

MPI_Datatype record() {
  return made([](MPI_Datatype* type) {
    const int lengths[] = {1, 2, 1};
    const MPI_Aint displacements[] = {offsetof(Record, tag), offsetof(Record, values), offsetof(Record, last)};
    const MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT};
    return MPI_Type_create_struct(3, lengths, displacements, types, type);
  });
}

const TypeCase kTypes[] = {
    {"contiguous", [] { return made([](MPI_Datatype* t) { return MPI_Type_contiguous(7, MPI_INT, t); }); }},
    {"dup", [] { return made([](MPI_Datatype* t) { return MPI_Type_dup(MPI_DOUBLE, t); }); }},
    {"dup_of_derived",
     [] { return built_on(vector_of_ints(), [](MPI_Datatype in, MPI_Datatype* t) { return MPI_Type_dup(in, t); }); }},
    {"vector", vector_of_ints},
    {"vector_of_vector",
     [] {
       return built_on(vector_of_ints(),
                       [](MPI_Datatype in, MPI_Datatype* t) { return MPI_Type_vector(2, 1, 2, in, t); });
     }},
    {"hvector", [] { return made([](MPI_Datatype* t) { return MPI_Type_create_hvector(4, 3, 17, MPI_CHAR, t); }); }},
    {"indexed",
     [] {
       return made([](MPI_Datatype* t) {
         const int lengths[] = {2, 0, 1, 3};
         const int displacements[] = {9, 1, 0, 3};
         return MPI_Type_indexed(4, lengths, displacements, MPI_INT, t);
       });
     }},
    {"hindexed",
     [] {
       return made([](MPI_Datatype* t) {
         const int lengths[] = {5, 1, 2};
         const MPI_Aint displacements[] = {40, 3, 11};
         return MPI_Type_create_hindexed(3, lengths, displacements, MPI_CHAR, t);
       });
     }},
    {"indexed_block",
     [] {
       return made([](MPI_Datatype* t) {
         const int displacements[] = {6, 0, 3};
         return MPI_Type_create_indexed_block(3, 2, displacements, MPI_FLOAT, t);
       });
     }},
    {"hindexed_block",
     [] {
       return made([](MPI_Datatype* t) {
         const MPI_Aint displacements[] = {32, 5, 19};
         return MPI_Type_create_hindexed_block(3, 4, displacements, MPI_CHAR, t);
       });
     }},
    {"struct", record},
    {"struct_of_derived",
     [] {
       return built_on(record(), [](MPI_Datatype in, MPI_Datatype* t) {
         const int lengths[] = {2, 3};
         const MPI_Aint displacements[] = {8, 120};
         const MPI_Datatype types[] = {in, MPI_SHORT};
         return MPI_Type_create_struct(2, lengths, displacements, types, t);
       });
     }},
    {"subarray_c", [] { return subarray(MPI_ORDER_C); }},
    {"subarray_fortran", [] { return subarray(MPI_ORDER_FORTRAN); }},
    {"darray_block_cyclic",
     [] {
       return dealt({{kBlock, kCyclic}, {kDefault, kDefault}, {2, 2}, 1, MPI_ORDER_C});
     }},
    {"darray_cyclic_of_blocks",
     [] {
       return dealt({{kCyclic, kCyclic}, {3, 2}, {2, 2}, 2, MPI_ORDER_C});
     }},
    {"darray_fortran",
     [] {
       return dealt({{kCyclic, kBlock}, {2, 4}, {3, 2}, 3, MPI_ORDER_FORTRAN});
     }},
    {"darray_none",
     [] {
       return dealt({{kNone, kBlock}, {kDefault, kDefault}, {1, 3}, 2, MPI_ORDER_C});
     }},
    {"resized_larger",
     [] {
       return built_on(vector_of_ints(),
                       [](MPI_Datatype in, MPI_Datatype* t) { return MPI_Type_create_resized(in, -8, 100, t); });
     }},
    {"resized_smaller",
     [] { return made([](MPI_Datatype* t) { return MPI_Type_create_resized(MPI_DOUBLE, 0, 24, t); }); }},
    {"pair_with_a_gap", [] { return made([](MPI_Datatype* t) { return MPI_Type_contiguous(3, MPI_DOUBLE_INT, t); }); }},
    {"short_pair", [] { return made([](MPI_Datatype* t) { return MPI_Type_contiguous(2, MPI_SHORT_INT, t); }); }},
    {"long_double_pair",
     [] { return made([](MPI_Datatype* t) { return MPI_Type_contiguous(2, MPI_LONG_DOUBLE_INT, t); }); }},
    {"empty", [] { return made([](MPI_Datatype* t) { return MPI_Type_contiguous(0, MPI_INT, t); }); }},
};

constexpr std::size_t kBefore = 256;    ///< for negative lower bounds
constexpr std::size_t kMemory = 16384;  ///< for some elements of any type above
using Memory = std::vector<unsigned char>;

/// Bytes that tell ranks and places apart.
Memory memory_of(int rank) {
  Memory memory(kMemory);
  for (std::size_t i = 0; i < kMemory; ++i)
    memory[i] = static_cast<unsigned char>(i * 7 + i / 251 + static_cast<std::size_t>(rank) * 31);
  return memory;
}

MPI_Aint extent_of(MPI_Datatype type) {
  MPI_Aint lower_bound = 0;
  MPI_Aint extent = 0;
  EXPECT_EQ(MPI_Type_get_extent(type, &lower_bound, &extent), MPI_SUCCESS);
  return extent;
}

/// MPI's own copy of `count` elements from one place to another.
void transfer(const unsigned char* from, unsigned char* to, int count, MPI_Datatype type) {
  ASSERT_EQ(MPI_Sendrecv(from, count, type, 0, 0, to, count, type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE),
            MPI_SUCCESS);
}

class DatatypeTest : public testing::TestWithParam<TypeCase> {};

TEST_P(DatatypeTest, ArrivesAsMpiWouldDeliverIt) {
  const Comm comm = ring();
  const Type type(GetParam().make());
  for (const int count : {1, 2}) {
    const MPI_Aint block = count * extent_of(type);
    const Memory send = memory_of(world_rank());
    Memory recv(kMemory, 0xEE);
    ASSERT_EQ(MPI_Neighbor_xchg(&send[kBefore], count, type, &recv[kBefore], count, type, comm), MPI_SUCCESS);

    Memory expected(kMemory, 0xEE);
    const Memory right = memory_of(right_of(world_rank()));
    const Memory left = memory_of(left_of(world_rank()));
    transfer(&right[kBefore] + block, &expected[kBefore], count, type);
    transfer(&left[kBefore], &expected[kBefore] + block, count, type);
    EXPECT_TRUE(recv == expected) << count;
  }
}

TEST_P(DatatypeTest, InPlaceArrivesToo) {
  const Comm comm = ring();
  const Type type(GetParam().make());
  Memory buffer = memory_of(world_rank());
  Memory expected = buffer;
  ASSERT_EQ(MPI_Neighbor_xchg(MPI_IN_PLACE, 0, MPI_BYTE, &buffer[kBefore], 1, type, comm), MPI_SUCCESS);
  const Memory right = memory_of(right_of(world_rank()));
  const Memory left = memory_of(left_of(world_rank()));
  transfer(&right[kBefore] + extent_of(type), &expected[kBefore], 1, type);
  transfer(&left[kBefore], &expected[kBefore] + extent_of(type), 1, type);
  EXPECT_TRUE(buffer == expected);
}

TEST_P(DatatypeTest, CanBeReceivedAsBytes) {
  const Comm comm = ring();
  const Type type(GetParam().make());
  int size = 0;
  ASSERT_EQ(MPI_Type_size(type, &size), MPI_SUCCESS);
  const Memory send = memory_of(world_rank());
  Memory recv(kMemory, 0xEE);
  ASSERT_EQ(MPI_Neighbor_xchg(&send[kBefore], 1, type, recv.data(), size, MPI_BYTE, comm), MPI_SUCCESS);
  Memory expected(kMemory, 0xEE);
  const Memory right = memory_of(right_of(world_rank()));
  int position = 0;
  ASSERT_EQ(MPI_Pack(&right[kBefore] + extent_of(type), 1, type, expected.data(), size, &position, MPI_COMM_SELF),
            MPI_SUCCESS);
  ASSERT_EQ(position, size);
  const Memory left = memory_of(left_of(world_rank()));
  ASSERT_EQ(MPI_Pack(&left[kBefore], 1, type, expected.data(), 2 * size, &position, MPI_COMM_SELF), MPI_SUCCESS);
  EXPECT_TRUE(recv == expected);
}

INSTANTIATE_TEST_SUITE_P(Constructors, DatatypeTest, testing::ValuesIn(kTypes),
                         [](const auto& param_info) { return param_info.param.name; });

TEST(AbsoluteAddressTest, BottomIsTheBaseOfAbsoluteAddresses) {
  const Comm comm = ring();
  int send[2] = {world_rank() * 2, world_rank() * 2 + 1};
  int recv[2] = {-1, -1};
  const auto at = [](int* place) {
    return made([place](MPI_Datatype* type) {
      const int length = 2;
      MPI_Aint address = 0;
      EXPECT_EQ(MPI_Get_address(place, &address), MPI_SUCCESS);
      return MPI_Type_create_hindexed(1, &length, &address, MPI_INT, type);
    });
  };
  const Type sendtype(at(send));
  const Type recvtype(at(recv));
  ASSERT_EQ(MPI_Cart_shift_xchg(MPI_BOTTOM, 1, sendtype, MPI_BOTTOM, 1, recvtype, 0, 1, comm), MPI_SUCCESS);
  EXPECT_EQ(recv[0], left_of(world_rank()) * 2);
  EXPECT_EQ(recv[1], left_of(world_rank()) * 2 + 1);
}

TEST(DatatypeReuseTest, NewTypeAtAnOldHandleIsANewType) {
  const Comm comm = ring();
  for (int length = 1; length <= 20; ++length) {
    const Type type(made([length](MPI_Datatype* t) { return MPI_Type_contiguous(length, MPI_INT, t); }));
    const std::vector<int> send(static_cast<std::size_t>(2 * length), world_rank());
    std::vector<int> recv(send.size() + 1, -1);
    ASSERT_EQ(MPI_Neighbor_xchg(send.data(), 1, type, recv.data(), 1, type, comm), MPI_SUCCESS);
    EXPECT_EQ(recv.front(), right_of(world_rank()));
    EXPECT_EQ(recv[send.size() - 1], left_of(world_rank()));
    EXPECT_EQ(recv.back(), -1);
  }
}

}  // namespace
}  // namespace fab::test
