#include "random_call.h"

#include <cstdlib>
#include <numeric>

namespace fab::test {

namespace {

void require(int code) {
  if (code != MPI_SUCCESS) std::abort();
}

}  // namespace

Bytes random_bytes(std::size_t bytes, Draw& draw) {
  Bytes all(bytes);
  for (unsigned char& byte : all) byte = static_cast<unsigned char>(draw.number(0, 255));
  return all;
}

// Each kind has four numbers of an element, so that any two of them match in pairs of types.
RandomType::RandomType(Draw& draw) {
  switch (draw.number(0, 3)) {
    case 0:
      return;
    case 1:
      require(MPI_Type_contiguous(1, MPI_INT, &type_));
      break;
    case 2: {
      MPI_Datatype with_gap = MPI_DATATYPE_NULL;
      require(MPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), &with_gap));
      require(MPI_Type_dup(with_gap, &type_));
      require(MPI_Type_free(&with_gap));
      break;
    }
    default: {
      const int length = 1;
      const MPI_Aint place = sizeof(int);
      const MPI_Datatype of = MPI_INT;
      MPI_Datatype shifted = MPI_DATATYPE_NULL;
      require(MPI_Type_create_struct(1, &length, &place, &of, &shifted));
      require(MPI_Type_create_resized(shifted, 0, 2 * sizeof(int), &type_));
      require(MPI_Type_free(&shifted));
    }
  }
  derived_ = true;
  require(MPI_Type_commit(&type_));
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
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
