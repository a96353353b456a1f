// MPI's operations and datatypes as fab's reductions, against MPI_Reduce_local.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>

#include "bindings/mpi/base/failure.h"
#include "bindings/mpi/datatypes/reduction.h"
#include "bindings/mpi/lifecycle/lifecycle.h"
#include "communicators.h"
#include "support/reduction_oracle.h"

namespace fab::test {
namespace {

using mpi::Reducer;
using mpi::reducer_of;

/// Families of MPI-4.1, 6.9.2.
enum class Family { integer, floating, complex, logical, byte, pair, none };

struct TypeCase {
  std::string name;
  MPI_Datatype type;
  Family family;
};

std::vector<TypeCase> predefined_types() {
  std::vector<TypeCase> types;
#define FAB_TYPE(family, type) types.push_back({#type, type, Family::family})
  FAB_TYPE(integer, MPI_CHAR);
  FAB_TYPE(integer, MPI_SIGNED_CHAR);
  FAB_TYPE(integer, MPI_UNSIGNED_CHAR);
  FAB_TYPE(integer, MPI_SHORT);
  FAB_TYPE(integer, MPI_UNSIGNED_SHORT);
  FAB_TYPE(integer, MPI_INT);
  FAB_TYPE(integer, MPI_UNSIGNED);
  FAB_TYPE(integer, MPI_LONG);
  FAB_TYPE(integer, MPI_UNSIGNED_LONG);
  FAB_TYPE(integer, MPI_LONG_LONG);
  FAB_TYPE(integer, MPI_LONG_LONG_INT);
  FAB_TYPE(integer, MPI_UNSIGNED_LONG_LONG);
  FAB_TYPE(integer, MPI_INT8_T);
  FAB_TYPE(integer, MPI_INT16_T);
  FAB_TYPE(integer, MPI_INT32_T);
  FAB_TYPE(integer, MPI_INT64_T);
  FAB_TYPE(integer, MPI_UINT8_T);
  FAB_TYPE(integer, MPI_UINT16_T);
  FAB_TYPE(integer, MPI_UINT32_T);
  FAB_TYPE(integer, MPI_UINT64_T);
  FAB_TYPE(integer, MPI_AINT);
  FAB_TYPE(integer, MPI_OFFSET);
  FAB_TYPE(integer, MPI_COUNT);
  FAB_TYPE(integer, MPI_INTEGER);
  FAB_TYPE(integer, MPI_INTEGER1);
  FAB_TYPE(integer, MPI_INTEGER2);
  FAB_TYPE(integer, MPI_INTEGER4);
  FAB_TYPE(integer, MPI_INTEGER8);
  FAB_TYPE(floating, MPI_FLOAT);
  FAB_TYPE(floating, MPI_DOUBLE);
  FAB_TYPE(floating, MPI_LONG_DOUBLE);
  FAB_TYPE(floating, MPI_REAL);
  FAB_TYPE(floating, MPI_DOUBLE_PRECISION);
  FAB_TYPE(floating, MPI_REAL4);
  FAB_TYPE(floating, MPI_REAL8);
  FAB_TYPE(floating, MPI_REAL16);
  FAB_TYPE(complex, MPI_C_COMPLEX);
  FAB_TYPE(complex, MPI_C_FLOAT_COMPLEX);
  FAB_TYPE(complex, MPI_C_DOUBLE_COMPLEX);
  FAB_TYPE(complex, MPI_C_LONG_DOUBLE_COMPLEX);
  FAB_TYPE(complex, MPI_CXX_FLOAT_COMPLEX);
  FAB_TYPE(complex, MPI_CXX_DOUBLE_COMPLEX);
  FAB_TYPE(complex, MPI_CXX_LONG_DOUBLE_COMPLEX);
  FAB_TYPE(complex, MPI_COMPLEX);
  FAB_TYPE(complex, MPI_DOUBLE_COMPLEX);
  FAB_TYPE(complex, MPI_COMPLEX8);
  FAB_TYPE(complex, MPI_COMPLEX16);
  FAB_TYPE(complex, MPI_COMPLEX32);
  FAB_TYPE(logical, MPI_C_BOOL);
  FAB_TYPE(logical, MPI_CXX_BOOL);
  FAB_TYPE(logical, MPI_LOGICAL);
#ifdef MPI_LOGICAL1  // not in MPI's standard, and not in MPICH
  FAB_TYPE(logical, MPI_LOGICAL1);
  FAB_TYPE(logical, MPI_LOGICAL2);
  FAB_TYPE(logical, MPI_LOGICAL4);
  FAB_TYPE(logical, MPI_LOGICAL8);
#endif
  FAB_TYPE(byte, MPI_BYTE);
  FAB_TYPE(pair, MPI_FLOAT_INT);
  FAB_TYPE(pair, MPI_DOUBLE_INT);
  FAB_TYPE(pair, MPI_LONG_INT);
  FAB_TYPE(pair, MPI_2INT);
  FAB_TYPE(pair, MPI_SHORT_INT);
  FAB_TYPE(pair, MPI_LONG_DOUBLE_INT);
  FAB_TYPE(pair, MPI_2REAL);
  FAB_TYPE(pair, MPI_2DOUBLE_PRECISION);
  FAB_TYPE(pair, MPI_2INTEGER);
  FAB_TYPE(none, MPI_CHARACTER);
  FAB_TYPE(none, MPI_WCHAR);
  FAB_TYPE(none, MPI_PACKED);
#undef FAB_TYPE
  return types;
}

struct OpCase {
  std::string name;
  MPI_Op op;
  std::vector<Family> families;
};

std::vector<OpCase> predefined_ops() {
  using enum Family;
  return {{"MPI_SUM", MPI_SUM, {integer, floating, complex}},
          {"MPI_PROD", MPI_PROD, {integer, floating, complex}},
          {"MPI_MIN", MPI_MIN, {integer, floating}},
          {"MPI_MAX", MPI_MAX, {integer, floating}},
          {"MPI_LAND", MPI_LAND, {integer, logical}},
          {"MPI_LOR", MPI_LOR, {integer, logical}},
          {"MPI_LXOR", MPI_LXOR, {integer, logical}},
          {"MPI_BAND", MPI_BAND, {integer, byte}},
          {"MPI_BOR", MPI_BOR, {integer, byte}},
          {"MPI_BXOR", MPI_BXOR, {integer, byte}},
          {"MPI_MINLOC", MPI_MINLOC, {pair}},
          {"MPI_MAXLOC", MPI_MAXLOC, {pair}}};
}

/// Errors of MPI's come back, as fab's binding is what is asked.
class ReducerTest : public testing::Test {
 protected:
  void SetUp() override {
    mpi::open_fab();
    ASSERT_EQ(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), MPI_SUCCESS);
    ASSERT_EQ(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN), MPI_SUCCESS);
  }
  void TearDown() override {
    ASSERT_EQ(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL), MPI_SUCCESS);
    ASSERT_EQ(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL), MPI_SUCCESS);
  }
};

void expect_failure(int error_class, const std::string& part, MPI_Op op, MPI_Datatype type) {
  try {
    static_cast<void>(reducer_of(op, type));
    ADD_FAILURE() << "no failure that says '" << part << "'";
  } catch (const mpi::Failure& failure) {
    EXPECT_EQ(failure.error_class(), error_class) << failure.what();
    EXPECT_NE(std::string(failure.what()).find(part), std::string::npos) << failure.what();
  }
}

/// Open MPI 4.1 takes Fortran's real(16) for long double, and file offsets for unsigned numbers.
bool is_wrong_in_open_mpi([[maybe_unused]] MPI_Datatype type, [[maybe_unused]] MPI_Op op) {
#if defined(OPEN_MPI)
  if (type == MPI_REAL16 || type == MPI_COMPLEX32) return true;
  return type == MPI_OFFSET && (op == MPI_MIN || op == MPI_MAX);
#else
  return false;
#endif
}

void expect_mpis_results(const TypeCase& type, const OpCase& op, std::mt19937_64& random) {
  constexpr std::size_t kCount = 50;
  const Reducer reducer = reducer_of(op.op, type.type);
  const ElementType element = reducer.reduction.type;
  std::vector<std::byte> in(kCount * reducer.element_bytes);
  std::vector<std::byte> inout(in.size());
  for (std::size_t i = 0; i < in.size(); i += reducer.element_bytes) {
    draw(element, Values::tame, random, nullptr, &in[i]);
    draw(element, Values::tame, random, &in[i], &inout[i]);
  }
  std::vector<std::byte> expected = inout;
  ASSERT_EQ(PMPI_Reduce_local(in.data(), expected.data(), kCount, type.type, op.op), MPI_SUCCESS);
  reduce_elements(reducer.reduction, in.data(), inout.data(), kCount);
  for (std::size_t i = 0; i < in.size(); i += reducer.element_bytes)
    if (!same(element, &inout[i], &expected[i])) FAIL() << "at byte " << i << " of " << to_string(reducer.reduction);
}

/// Open MPI refuses logical operations on some of Fortran's integers.
bool is_known_to_mpi(MPI_Datatype type, MPI_Op op) {
  char in = 0;
  char inout = 0;
  return PMPI_Reduce_local(&in, &inout, 0, type, op) == MPI_SUCCESS;
}

TEST_F(ReducerTest, PredefinedOperationsAreThoseOfMpi) {
  std::mt19937_64 random(4711);
  std::size_t compared = 0;
  for (const TypeCase& type : predefined_types()) {
    if (type.type == MPI_DATATYPE_NULL) continue;  // this library leaves it out
    for (const OpCase& op : predefined_ops()) {
      SCOPED_TRACE(op.name + " on " + type.name);
      if (std::ranges::find(op.families, type.family) == op.families.end()) {
        expect_failure(MPI_ERR_OP, op.name + " is not defined on MPI_", op.op, type.type);
      } else if (is_known_to_mpi(type.type, op.op) && !is_wrong_in_open_mpi(type.type, op.op)) {
        expect_mpis_results(type, op, random);
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 300u);
}

TEST_F(ReducerTest, NumbersOfSixteenBytesAreFortrans) {
  EXPECT_EQ(reducer_of(MPI_SUM, MPI_REAL16).reduction.type, ElementType::float128);
  EXPECT_EQ(reducer_of(MPI_SUM, MPI_COMPLEX32).reduction.type, ElementType::float128_complex);
  EXPECT_EQ(reducer_of(MPI_SUM, MPI_LONG_DOUBLE).reduction.type, ElementType::long_double);
  EXPECT_EQ(reducer_of(MPI_MIN, MPI_OFFSET).reduction.type, ElementType::int64);
}

TEST_F(ReducerTest, ElementsAreThoseOfTheUsersMemory) {
  const Reducer reducer = reducer_of(MPI_MAXLOC, MPI_DOUBLE_INT);
  EXPECT_EQ(reducer.reduction, (Reduction{ReduceOp::max_location, ElementType::float64_int32}));
  EXPECT_EQ(reducer.element_bytes, sizeof(Located<double>));
  EXPECT_EQ(reducer.element, Layout::contiguous(sizeof(Located<double>)));
  EXPECT_TRUE(reducer.commutative);
  EXPECT_EQ(reducer.user.function, nullptr);
}

TEST_F(ReducerTest, ParameterizedTypesGoByTheirDigits) {
  MPI_Datatype real = MPI_DATATYPE_NULL;
  ASSERT_EQ(MPI_Type_create_f90_real(15, 300, &real), MPI_SUCCESS);
  EXPECT_EQ(reducer_of(MPI_SUM, real).reduction.type, ElementType::float64);
  ASSERT_EQ(MPI_Type_create_f90_real(18, MPI_UNDEFINED, &real), MPI_SUCCESS);
  EXPECT_EQ(reducer_of(MPI_SUM, real).reduction.type, ElementType::long_double);
  MPI_Datatype complex = MPI_DATATYPE_NULL;
  ASSERT_EQ(MPI_Type_create_f90_complex(6, 30, &complex), MPI_SUCCESS);
  EXPECT_EQ(reducer_of(MPI_PROD, complex).reduction.type, ElementType::float32_complex);
  MPI_Datatype integer = MPI_DATATYPE_NULL;
  ASSERT_EQ(MPI_Type_create_f90_integer(9, &integer), MPI_SUCCESS);
  EXPECT_EQ(reducer_of(MPI_BOR, integer).reduction.type, ElementType::int32);
}

TEST_F(ReducerTest, WhatCannotBeIsAnError) {
  expect_failure(MPI_ERR_OP, "op is MPI_OP_NULL", MPI_OP_NULL, MPI_INT);
  expect_failure(MPI_ERR_OP, "MPI_REPLACE, which is for one-sided", MPI_REPLACE, MPI_INT);
  expect_failure(MPI_ERR_OP, "MPI_NO_OP, which is for one-sided", MPI_NO_OP, MPI_INT);
  expect_failure(MPI_ERR_TYPE, "MPI_DATATYPE_NULL", MPI_SUM, MPI_DATATYPE_NULL);
  MPI_Datatype derived = MPI_DATATYPE_NULL;
  ASSERT_EQ(MPI_Type_contiguous(2, MPI_INT, &derived), MPI_SUCCESS);
  expect_failure(MPI_ERR_OP, "MPI_SUM is not defined on a derived datatype", MPI_SUM, derived);
  ASSERT_EQ(MPI_Type_free(&derived), MPI_SUCCESS);
}

/// What user functions below saw.
struct Seen {
  std::size_t elements = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};
Seen seen;

void note(const int* length, const MPI_Datatype* type) {
  seen.elements += static_cast<std::size_t>(*length);
  seen.type = *type;
}

void append(void* in, void* inout, int* length, MPI_Datatype* type) {
  note(length, type);
  const int* lower = static_cast<const int*>(in);
  int* higher = static_cast<int*>(inout);
  for (int i = 0; i < *length; ++i) higher[i] = 10 * lower[i] + higher[i];
}

void larger_value(void* in, void* inout, int* length, MPI_Datatype* type) {
  note(length, type);
  const auto* lower = static_cast<const Located<double>*>(in);
  auto* higher = static_cast<Located<double>*>(inout);
  for (int i = 0; i < *length; ++i)
    if (lower[i].value > higher[i].value) higher[i] = lower[i];
}

/// An operation that is freed.
class Op {
 public:
  Op(MPI_User_function* function, bool commutative) {
    EXPECT_EQ(MPI_Op_create(function, commutative ? 1 : 0, &op_), MPI_SUCCESS);
  }
  Op(const Op&) = delete;
  Op& operator=(const Op&) = delete;
  ~Op() { free(); }

  operator MPI_Op() const { return op_; }  // NOLINT(google-explicit-constructor)
  void free() {
    if (op_ == MPI_OP_NULL) return;
    EXPECT_EQ(MPI_Op_free(&op_), MPI_SUCCESS);
    EXPECT_EQ(op_, MPI_OP_NULL);
  }

 private:
  MPI_Op op_ = MPI_OP_NULL;
};

void run(const Reducer& reducer, const void* in, void* inout, std::size_t elements) {
  ASSERT_EQ(reducer.reduction.op, ReduceOp::user);
  ASSERT_NE(reducer.user.function, nullptr);
  seen = {};
  reducer.user.function(reducer.user.context, in, inout, elements);
  EXPECT_EQ(seen.elements, elements);
}

TEST_F(ReducerTest, AUsersOperationSeesTheUsersDatatype) {
  const Op op(append, false);
  const Reducer reducer = reducer_of(op, MPI_INT);
  EXPECT_FALSE(reducer.commutative);
  EXPECT_EQ(reducer.element_bytes, sizeof(int));
  const std::vector<int> in = {1, 2, 3};
  std::vector<int> inout = {4, 5, 6};
  run(reducer, in.data(), inout.data(), 3);
  EXPECT_EQ(inout, (std::vector<int>{14, 25, 36}));
  EXPECT_EQ(seen.type, MPI_INT);
}

TEST_F(ReducerTest, AUsersOperationSeesPairsAsTheyAreInC) {
  const Op op(larger_value, true);
  const Reducer reducer = reducer_of(op, MPI_DOUBLE_INT);
  EXPECT_TRUE(reducer.commutative);
  const std::vector<Located<double>> in = {{1.5, 1}, {7.5, 2}};
  std::vector<Located<double>> inout = {{2.5, 3}, {3.5, 4}};
  run(reducer, in.data(), inout.data(), 2);
  EXPECT_EQ(inout, (std::vector<Located<double>>{{2.5, 3}, {7.5, 2}}));
}

// A struct with a gap, that also begins behind where elements begin and ends before where they end.
MPI_Datatype gapped() {
  const int lengths[] = {1, 2};
  const MPI_Aint displacements[] = {-8, 16};
  const MPI_Datatype types[] = {MPI_DOUBLE, MPI_DOUBLE};
  MPI_Datatype inner = MPI_DATATYPE_NULL;
  EXPECT_EQ(MPI_Type_create_struct(2, lengths, displacements, types, &inner), MPI_SUCCESS);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  EXPECT_EQ(MPI_Type_create_resized(inner, -16, 64, &type), MPI_SUCCESS);
  EXPECT_EQ(MPI_Type_free(&inner), MPI_SUCCESS);
  EXPECT_EQ(MPI_Type_commit(&type), MPI_SUCCESS);
  return type;
}

void combine_gapped(void* in, void* inout, int* length, MPI_Datatype* type) {
  note(length, type);
  for (int i = 0; i < *length; ++i) {
    const double* lower = static_cast<const double*>(in) + i * 8;
    double* higher = static_cast<double*>(inout) + i * 8;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(higher) % alignof(double), 0u);
    higher[-1] -= 2 * lower[-1];
    for (int j = 2; j < 4; ++j) higher[j] = higher[j] * 3 + lower[j];
  }
}

/// Doubles, as elements lie in user memory of the type above: some elements from the third element's place on.
using Memory = std::vector<double>;
constexpr std::size_t kElements = 1000;  ///< more than are copied at once

Memory memory_of(double seed) {
  Memory memory(8 * (kElements + 2));
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = seed + static_cast<double>(i % 97);
  return memory;
}

TEST_F(ReducerTest, AUsersOperationSeesTheGapsOfDerivedTypes) {
  const Op op(combine_gapped, true);
  MPI_Datatype type = gapped();
  const Reducer reducer = reducer_of(op, type);
  EXPECT_EQ(reducer.element_bytes, 3 * sizeof(double));
  const Memory in = memory_of(1);
  Memory inout = memory_of(5);
  Memory expected = inout;
  ASSERT_EQ(PMPI_Reduce_local(&in[8], &expected[8], kElements, type, op), MPI_SUCCESS);

  std::vector<std::byte> packed_in(reducer.element_bytes * kElements);
  std::vector<std::byte> packed(reducer.element_bytes * kElements);
  const Layout all = reducer.element.repeated(kElements);
  all.pack(&in[8], packed_in.data());
  all.pack(&inout[8], packed.data());
  run(reducer, packed_in.data(), packed.data(), kElements);
  EXPECT_EQ(seen.type, type);
  all.unpack(packed.data(), &inout[8]);
  EXPECT_EQ(inout, expected);
  ASSERT_EQ(MPI_Type_free(&type), MPI_SUCCESS);
}

TEST_F(ReducerTest, HandlesMayBeFreedMeanwhile) {
  Op op(combine_gapped, true);
  MPI_Datatype type = gapped();
  const std::vector<Reducer> two = {reducer_of(op, type), reducer_of(op, type)};
  ASSERT_EQ(MPI_Type_free(&type), MPI_SUCCESS);
  op.free();
  for (const Reducer& reducer : two) {
    const std::vector<double> in = {1, 2, 3, 4, 5, 6};
    std::vector<double> inout = {10, 20, 30, 40, 50, 60};
    run(reducer, in.data(), inout.data(), 2);
    EXPECT_EQ(inout, (std::vector<double>{8, 62, 93, 32, 155, 186}));
  }
}

TEST_F(ReducerTest, ATypeMustBeCommitted) {
  const Op op(append, false);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  ASSERT_EQ(MPI_Type_vector(2, 1, 3, MPI_INT, &type), MPI_SUCCESS);
  expect_failure(MPI_ERR_TYPE, "not committed", op, type);
  ASSERT_EQ(MPI_Type_free(&type), MPI_SUCCESS);
}

}  // namespace
}  // namespace fab::test
