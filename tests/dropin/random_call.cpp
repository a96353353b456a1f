#include "random_call.h"

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <span>

#include "support/fill.h"

namespace fab::test {

namespace {

void require(int code) {
  if (code != MPI_SUCCESS) std::abort();
}

}  // namespace

Bytes random_bytes(std::size_t bytes, Draw& draw) {
  Bytes all(bytes);
  fill_by_chance(std::as_writable_bytes(std::span(all)),
                 static_cast<std::uint64_t>(draw.number(0, std::numeric_limits<int>::max())));
  return all;
}

MPI_Datatype random_base(Draw& alike) {
  const std::vector<MPI_Datatype> all{MPI_CHAR, MPI_SHORT, MPI_INT, MPI_DOUBLE, MPI_DOUBLE_INT};
  return all.at(static_cast<std::size_t>(alike.number(0, 4)));
}

// Each kind has the same data in an element, so that any two of them match.
RandomType::RandomType(Draw& draw, MPI_Datatype base) : type_(base) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  require(MPI_Type_get_extent(base, &lower, &extent));
  const int kind = draw.number(0, 5);
  const int one = 1;
  MPI_Datatype inner = MPI_DATATYPE_NULL;
  switch (kind) {
    case 0:
      break;
    case 1:
      require(MPI_Type_contiguous(1, base, &type_));
      break;
    case 2:
      require(MPI_Type_create_resized(base, 0, 3 * extent, &inner));
      require(MPI_Type_dup(inner, &type_));
      break;
    case 3: {
      const int all = 3;
      require(MPI_Type_create_subarray(1, &all, &one, &one, MPI_ORDER_C, base, &type_));
      break;
    }
    case 4: {
      const int place = 2;
      require(MPI_Type_create_indexed_block(1, 1, &place, base, &inner));
      require(MPI_Type_create_resized(inner, 0, 4 * extent, &type_));
      break;
    }
    default:
      require(MPI_Type_create_struct(1, &one, &extent, &base, &inner));
      require(MPI_Type_create_resized(inner, 0, 2 * extent, &type_));
  }
  if (inner != MPI_DATATYPE_NULL) require(MPI_Type_free(&inner));
  derived_ = kind > 0;
  if (derived_) require(MPI_Type_commit(&type_));
  require(MPI_Type_get_extent(type_, &lower, &extent));
  extent_ = static_cast<std::size_t>(extent);
}

RandomType::~RandomType() {
  if (derived_) require(MPI_Type_free(&type_));
}

std::vector<int> displacements_of(const std::vector<int>& counts) {
  std::vector<int> all;
  int next = 1;
  for (const int count : counts) {
    all.push_back(next);
    next += count + 1;
  }
  return all;
}

std::size_t reach_of(const std::vector<int>& counts) {
  return static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), 1)) + counts.size();
}

}  // namespace fab::test
