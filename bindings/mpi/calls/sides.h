// The sides of a call from its arguments, as MPI's signatures list them.
#pragma once

#include "bindings/mpi/calls/arguments.h"
#include "bindings/mpi/calls/repeating.h"
#include "bindings/mpi/calls/typed_views.h"

namespace fab::mpi {

inline Side equal_side(std::string_view name, const void* buffer, int count, MPI_Datatype type) {
  return {.name = name, .buffer = buffer, .type = type, .count = count};
}

inline Side varied_side(std::string_view name, const void* buffer, const int counts[], const int displacements[],
                        MPI_Datatype type) {
  return {.name = name, .buffer = buffer, .type = type, .counts = counts, .displacements = displacements};
}

inline SaidSide said(const Side& side) { return {side.buffer, side.count, side.type, side.counts, side.displacements}; }

template <class Displacement>
TypedSide<Displacement> sent_side(const void* buffer, const int counts[], const Displacement displacements[],
                                  const MPI_Datatype types[]) {
  return {"send", buffer, counts, displacements, types, &send_views};
}

template <class Displacement>
TypedSide<Displacement> received_side(const void* buffer, const int counts[], const Displacement displacements[],
                                      const MPI_Datatype types[]) {
  return {"recv", buffer, counts, displacements, types, &recv_views};
}

}  // namespace fab::mpi
