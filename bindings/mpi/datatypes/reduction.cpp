#include "bindings/mpi/datatypes/reduction.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/mpi/base/failure.h"
#include "bindings/mpi/base/handles.h"
#include "bindings/mpi/datatypes/datatype.h"
#include "bindings/mpi/datatypes/element_type.h"
#include "bindings/mpi/datatypes/user_operation.h"

namespace fab::mpi {

namespace {

constexpr std::size_t kLargestElementBytes = 32;

struct NamedOp {
  MPI_Op handle;
  ReduceOp op;
  std::string_view name;
};

/// Null for an operation of the user's.
const NamedOp* find_predefined(MPI_Op op) {
  static const NamedOp all[] = {
      {MPI_SUM, ReduceOp::sum, "MPI_SUM"},
      {MPI_PROD, ReduceOp::product, "MPI_PROD"},
      {MPI_MIN, ReduceOp::min, "MPI_MIN"},
      {MPI_MAX, ReduceOp::max, "MPI_MAX"},
      {MPI_LAND, ReduceOp::logical_and, "MPI_LAND"},
      {MPI_LOR, ReduceOp::logical_or, "MPI_LOR"},
      {MPI_LXOR, ReduceOp::logical_xor, "MPI_LXOR"},
      {MPI_BAND, ReduceOp::bit_and, "MPI_BAND"},
      {MPI_BOR, ReduceOp::bit_or, "MPI_BOR"},
      {MPI_BXOR, ReduceOp::bit_xor, "MPI_BXOR"},
      {MPI_MINLOC, ReduceOp::min_location, "MPI_MINLOC"},
      {MPI_MAXLOC, ReduceOp::max_location, "MPI_MAXLOC"},
  };
  const auto* const found = std::ranges::find(all, op, &NamedOp::handle);
  return found == std::end(all) ? nullptr : found;
}

std::string name_of(MPI_Datatype type) {
  std::array<char, MPI_MAX_OBJECT_NAME> name{};
  int length = 0;
  require(PMPI_Type_get_name(type, name.data(), &length), "MPI_Type_get_name");
  return length == 0 ? "a derived datatype" : std::string(name.data(), static_cast<std::size_t>(length));
}

/// Padding included: what lies between the numbers of a pair travels along.
Layout padded_element(ElementType type) {
  static const std::vector<Layout> by_bytes = [] {
    std::vector<Layout> layouts;
    for (std::size_t bytes = 0; bytes <= kLargestElementBytes; ++bytes) layouts.push_back(Layout::contiguous(bytes));
    return layouts;
  }();
  return by_bytes.at(element_bytes(type));
}

Reducer predefined(const NamedOp& op, MPI_Datatype type) {
  const auto element = element_type_of(type);
  if (!element || !is_defined({op.op, *element}))
    throw Failure(MPI_ERR_OP,
                  fmt::format("{} is not defined on {}; MPI-4.1, 6.9.2 and 6.9.4, list the types of each operation",
                              op.name, name_of(type)));
  return {
      .reduction = {op.op, *element}, .element_bytes = element_bytes(*element), .element = padded_element(*element)};
}

Reducer of_user(MPI_Op op, MPI_Datatype type) {
  int commutative = 0;
  require(PMPI_Op_commutative(op, &commutative), "MPI_Op_commutative");
  const auto operation = std::make_shared<UserOperation>(op, type);
  return {.reduction = {ReduceOp::user, ElementType::byte},
          .element_bytes = operation->element().size(),
          .commutative = commutative != 0,
          .element = operation->element(),
          .user = {UserOperation::apply, operation.get()},
          .operation = operation};
}

}  // namespace

Reducer reducer_of(MPI_Op op, MPI_Datatype type) {
  if (!is_operation(op)) throw BadArgument(MPI_ERR_OP, op == MPI_OP_NULL ? "op is MPI_OP_NULL" : "op is no handle");
  if (op == MPI_REPLACE || op == MPI_NO_OP)
    throw BadArgument(MPI_ERR_OP, fmt::format("op is {}, which is for one-sided communication only",
                                              op == MPI_REPLACE ? "MPI_REPLACE" : "MPI_NO_OP"));
  require_datatype(type);
  const NamedOp* const named = find_predefined(op);
  return named != nullptr ? predefined(*named, type) : of_user(op, type);
}

bool is_predefined_operation(MPI_Op op) { return find_predefined(op) != nullptr; }

bool can_reduce(MPI_Op op, MPI_Datatype type) {
  if (!is_operation(op) || op == MPI_REPLACE || op == MPI_NO_OP || !is_datatype(type)) return false;
  const NamedOp* const named = find_predefined(op);
  if (named == nullptr) return true;
  const auto element = element_type_of(type);
  return element && is_defined({named->op, *element});
}

}  // namespace fab::mpi
