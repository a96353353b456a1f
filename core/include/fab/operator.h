// Operators: the functions with which reductions combine elements.
#pragma once

#include <cstddef>

#include "fab/error.h"
#include "fab/reducible.h"
#include "fab/reduction.h"

namespace fab {

/// An associative operation on elements of one type: one of fab's own, or a function of the caller's. If the operation
/// does not commute, its operands are combined in the order of ranks.
struct Operator {
  Reduction reduction{};          ///< the operation, and the type on which it is defined
  std::size_t element_bytes = 0;  ///< size of an element
  bool commutative = true;        ///< whether the order of operands does not matter
  UserReduction user{};           ///< for ReduceOp::user; its context must live until the reduction is complete

  /// Throws Error(invalid_argument) if the operation is not defined on the type.
  static Operator of(ReduceOp op, ElementType type) {
    if (!is_defined({op, type}))
      throw Error(Errc::invalid_argument, "reduction: " + to_string(Reduction{op, type}) + " is not defined");
    return {{op, type}, fab::element_bytes(type), commutes(op)};
  }
  /// `op` on elements of type T. Throws Error(invalid_argument) if it is not defined on them.
  template <Reducible T>
  static Operator of(ReduceOp op) {
    return of(op, element_type_of<T>());
  }

  /// The caller's function on elements of `element_bytes` bytes. Throws Error(invalid_argument) if the function is
  /// null, or if element_bytes is 0.
  static Operator of(const UserReduction& user, std::size_t element_bytes, bool commutative) {
    if (user.function == nullptr || element_bytes == 0)
      throw Error(Errc::invalid_argument, "reduction: a function, and elements of at least one byte, are needed");
    return {{ReduceOp::user, ElementType::byte}, element_bytes, commutative, user};
  }
  /// The caller's `T combine(const T& lower, const T& higher)`. It must live until the reduction is complete, and must
  /// not throw. T needs no stricter alignment than std::max_align_t.
  template <class T, class Combine>
  static Operator of(const Combine& combine, bool commutative) {
    const auto apply = [](void* context, const void* in, void* inout, std::size_t elements) {
      const Combine& call = *static_cast<const Combine*>(context);
      const T* lower = static_cast<const T*>(in);
      T* higher = static_cast<T*>(inout);
      for (std::size_t i = 0; i < elements; ++i) higher[i] = call(lower[i], higher[i]);
    };
    return of(UserReduction{apply, const_cast<Combine*>(&combine)}, sizeof(T), commutative);
  }
};

}  // namespace fab
