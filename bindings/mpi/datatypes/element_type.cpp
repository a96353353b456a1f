#include "bindings/mpi/datatypes/element_type.h"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <limits>
#include <vector>

#include "bindings/mpi/base/failure.h"
#include "bindings/mpi/datatypes/flatten.h"

namespace fab::mpi {

namespace {

using enum ElementType;
using Candidates = std::initializer_list<ElementType>;

// How long a type of C or Fortran is depends on compilers and their options, so MPI is asked: of numbers of one kind
// the one with the type's extent is meant.
constexpr Candidates kSigned = {int8, int16, int32, int64};
constexpr Candidates kUnsigned = {uint8, uint16, uint32, uint64};
constexpr Candidates kReal = {float16, float32, float64, float128};
constexpr Candidates kComplex = {float32_complex, float64_complex, float128_complex};
constexpr Candidates kLogical = {logical8, logical16, logical32, logical64};
constexpr Candidates kLongDouble = {long_double};
constexpr Candidates kLongDoubleComplex = {long_double_complex};
constexpr Candidates kRealPair = {float32_float32, float64_float64};

std::size_t extent_in_bytes(MPI_Datatype type) {
  MPI_Aint lower_bound = 0;
  MPI_Aint extent = 0;
  require(PMPI_Type_get_extent(type, &lower_bound, &extent), "MPI_Type_get_extent");
  return static_cast<std::size_t>(extent);
}

std::optional<ElementType> choose(Candidates candidates, std::size_t extent) {
  const auto* const found = std::ranges::find(candidates, extent, element_bytes);
  return found == candidates.end() ? std::nullopt : std::optional(*found);
}

/// Handles of named types, sorted.
class NamedTypes {
 public:
  NamedTypes() {
    add_c();
    add_fortran();
    std::ranges::sort(rows_, std::less<>(), &Row::type);
  }

  [[nodiscard]] std::optional<ElementType> find(MPI_Datatype type) const {
    const auto row = std::ranges::lower_bound(rows_, type, std::less<>(), &Row::type);
    return row == rows_.end() || row->type != type ? std::nullopt : std::optional(row->element);
  }

 private:
  struct Row {
    MPI_Datatype type;
    ElementType element;
  };

  void add(Candidates candidates, std::initializer_list<MPI_Datatype> types) {
    for (MPI_Datatype type : types) {
      if (type == MPI_DATATYPE_NULL) continue;  // this MPI library does not have it
      if (const auto element = choose(candidates, extent_in_bytes(type))) rows_.push_back({type, *element});
    }
  }
  void add_c();
  void add_fortran();

  std::vector<Row> rows_;
};

void NamedTypes::add_c() {
  add(std::numeric_limits<char>::is_signed ? kSigned : kUnsigned, {MPI_CHAR});
  add(kSigned, {MPI_SIGNED_CHAR, MPI_SHORT, MPI_INT, MPI_LONG, MPI_LONG_LONG});
  add(kSigned, {MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_AINT, MPI_OFFSET, MPI_COUNT});
  add(kUnsigned, {MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG});
  add(kUnsigned, {MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T});
  add(kReal, {MPI_FLOAT, MPI_DOUBLE});
  add(kComplex, {MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_CXX_FLOAT_COMPLEX, MPI_CXX_DOUBLE_COMPLEX});
  add(kLongDouble, {MPI_LONG_DOUBLE});
  add(kLongDoubleComplex, {MPI_C_LONG_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX});
  add(kLogical, {MPI_C_BOOL, MPI_CXX_BOOL});
  add({byte}, {MPI_BYTE});
  add({int16_int32}, {MPI_SHORT_INT});
  add({int32_int32}, {MPI_2INT});
  add({int32_int32, int64_int32}, {MPI_LONG_INT});
  add({float32_int32}, {MPI_FLOAT_INT});
  add({float64_int32}, {MPI_DOUBLE_INT});
  add({long_double_int32}, {MPI_LONG_DOUBLE_INT});
}

// Logical values are 1 and 0, as gfortran writes them.
void NamedTypes::add_fortran() {
  add(kSigned, {MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8});
  add(kReal, {MPI_REAL, MPI_DOUBLE_PRECISION, MPI_REAL4, MPI_REAL8});
  add(kComplex, {MPI_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX8, MPI_COMPLEX16});
  add(kLogical, {MPI_LOGICAL});
  add(kRealPair, {MPI_2REAL, MPI_2DOUBLE_PRECISION});
  add({int32_int32}, {MPI_2INTEGER});
  // What MPI libraries may leave out.
#if defined(MPI_LOGICAL1)
  add(kLogical, {MPI_LOGICAL1});
#endif
#if defined(MPI_LOGICAL2)
  add(kLogical, {MPI_LOGICAL2});
#endif
#if defined(MPI_LOGICAL4)
  add(kLogical, {MPI_LOGICAL4});
#endif
#if defined(MPI_LOGICAL8)
  add(kLogical, {MPI_LOGICAL8});
#endif
#if defined(MPI_REAL2)
  add(kReal, {MPI_REAL2});
#endif
#if defined(MPI_REAL16)
  add(kReal, {MPI_REAL16});
#endif
#if defined(MPI_COMPLEX32)
  add(kComplex, {MPI_COMPLEX32});
#endif
}

/// Whether the digits that MPI_Type_create_f90_real or _complex was asked for are those of long double. The extent does
/// not tell: on x86 that of float128 is the same.
bool fits_long_double(MPI_Datatype type) {
  return Contents(type).integers.at(0) <= std::numeric_limits<long double>::digits10;
}

/// What MPI_Type_create_f90_real and its like give (MPI-4.1, 19.1.5): named by digits instead of by a handle.
std::optional<ElementType> parameterized(MPI_Datatype type) {
  const std::size_t extent = extent_in_bytes(type);
  switch (combiner_of(type)) {
    case MPI_COMBINER_F90_INTEGER:
      return choose(kSigned, extent);
    case MPI_COMBINER_F90_REAL:
      return choose(extent == sizeof(long double) && fits_long_double(type) ? kLongDouble : kReal, extent);
    case MPI_COMBINER_F90_COMPLEX:
      return choose(extent == 2 * sizeof(long double) && fits_long_double(type) ? kLongDoubleComplex : kComplex,
                    extent);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<ElementType> element_type_of(MPI_Datatype type) {
  static const NamedTypes named;
  if (const auto element = named.find(type)) return element;
  return parameterized(type);
}

}  // namespace fab::mpi
