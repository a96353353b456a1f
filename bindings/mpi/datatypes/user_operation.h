// Operations of MPI_Op_create, run by MPI on fab's scratch memory.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "fab/layout.h"

namespace fab::mpi {

/// A user's operation on a datatype, for one reduction at a time. The user may free both handles while this lives, as
/// MPI lets him during a reduction. Made and destroyed in MPI calls.
class UserOperation {
 public:
  /// Throws Failure(MPI_ERR_TYPE) for derived types that are not committed.
  UserOperation(MPI_Op op, MPI_Datatype type);
  ~UserOperation();
  UserOperation(const UserOperation&) = delete;
  UserOperation& operator=(const UserOperation&) = delete;

  /// One element in the user's memory, padding included; in fab's memory elements lie without gaps.
  [[nodiscard]] const Layout& element() const noexcept { return element_; }

  /// UserReduction::Function on a UserOperation. Where the type has gaps, the user's function sees copies that have
  /// them, some elements a time. Memory is aligned as the user's numbers need it.
  static void apply(void* operation, const void* in, void* inout, std::size_t elements) noexcept;

 private:
  /// Room for some elements with their gaps.
  class Copies {
   public:
    Copies(const Layout& element, std::size_t elements);
    [[nodiscard]] std::byte* base() noexcept { return memory_.data() + base_; }

   private:
    std::vector<std::byte> memory_;
    std::ptrdiff_t base_ = 0;  ///< mostly inside the memory, and aligned for any type
  };

  void combine(const void* in, void* inout, std::size_t elements) const noexcept;
  void combine_copies(const std::byte* in, std::byte* inout, std::size_t elements) noexcept;

  MPI_Op op_;
  MPI_Datatype type_;
  Layout element_;
  std::size_t copied_elements_ = 0;          ///< that there is room for; 0 where the type has no gaps
  std::vector<Copies> copies_;               ///< of `in` and `inout`
  MPI_Datatype keeper_ = MPI_DATATYPE_NULL;  ///< made of type_, which MPI keeps for its sake
};

}  // namespace fab::mpi
