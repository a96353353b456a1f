#include "bindings/mpi/datatypes/user_operation.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <mutex>

#include "bindings/mpi/base/failure.h"
#include "bindings/mpi/datatypes/datatype.h"
#include "bindings/mpi/datatypes/flatten.h"
#include "bindings/mpi/interception/next.h"
#include "bindings/mpi/interception/reach.h"

namespace fab::mpi {

namespace {

constexpr std::size_t kCopiedBytes = std::size_t{16} * 1024;  ///< at once, to stay in the first cache

/// Operations that reductions use, by how many; MPI_Op_free of one waits for the last.
class Holds {
 public:
  static Holds& instance() {
    static Holds& holds = *new Holds;
    return holds;
  }

  void hold(MPI_Op op) {
    const std::lock_guard lock(mutex_);
    ++holds_[op].uses;
  }

  /// Returns whether the caller has to free it.
  bool let_go(MPI_Op op) noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = holds_.find(op);
    if (--found->second.uses > 0) return false;
    const bool freed = found->second.freed;
    holds_.erase(found);
    return freed;
  }

  /// Whether it is held; it is then freed later.
  bool free_later(MPI_Op op) noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = holds_.find(op);
    if (found == holds_.end()) return false;
    found->second.freed = true;
    return true;
  }

 private:
  struct Hold {
    std::size_t uses = 0;
    bool freed = false;
  };

  std::mutex mutex_;
  std::map<MPI_Op, Hold> holds_;
};

/// Pairs have padding that no layout of data names, and user functions are used to find them as they are in C.
Layout element_of(MPI_Datatype type) {
  const Layout& data = layout_of(type);
  return is_predefined(type) ? Layout::contiguous(static_cast<std::size_t>(data.extent())) : data;
}

/// Bytes of the user's memory that an element takes, or keeps from the next.
std::size_t reach(const Layout& element) {
  return static_cast<std::size_t>(
      std::max(element.true_upper_bound() - element.true_lower_bound(), std::abs(element.extent())));
}

bool has_gaps(const Layout& element) {
  const bool gapless = element.is_contiguous() && element.true_lower_bound() == 0 &&
                       element.extent() == static_cast<std::ptrdiff_t>(element.size());
  return !gapless && element.size() > 0;
}

}  // namespace

UserOperation::Copies::Copies(const Layout& element, std::size_t elements) {
  const std::ptrdiff_t last = static_cast<std::ptrdiff_t>(elements - 1) * element.extent();
  const std::ptrdiff_t low = element.true_lower_bound() + std::min<std::ptrdiff_t>(last, 0);
  const std::ptrdiff_t high = element.true_upper_bound() + std::max<std::ptrdiff_t>(last, 0);
  constexpr std::ptrdiff_t kAlignment = alignof(std::max_align_t);
  const std::ptrdiff_t before = ((low % kAlignment) + kAlignment) % kAlignment;
  memory_.resize(static_cast<std::size_t>(before + high - low));
  base_ = before - low;
}

UserOperation::UserOperation(MPI_Op op, MPI_Datatype type) : op_(op), type_(type), element_(element_of(type)) {
  require_freeing_of_operations_by_fab();
  if (has_gaps(element_)) {
    copied_elements_ = std::max<std::size_t>(1, kCopiedBytes / reach(element_));
    copies_.assign(2, Copies(element_, copied_elements_));
  }
  if (!is_predefined(type)) require(PMPI_Type_contiguous(1, type, &keeper_), "MPI_Type_contiguous");
  Holds::instance().hold(op);
}

UserOperation::~UserOperation() {
  if (keeper_ != MPI_DATATYPE_NULL && PMPI_Type_free(&keeper_) != MPI_SUCCESS)
    log_error("MPI_Type_free", "cannot free a datatype that a reduction used");
  if (Holds::instance().let_go(op_) && next_pmpi.op_free(&op_) != MPI_SUCCESS)
    log_error("MPI_Op_free", "cannot free an operation that a reduction used");
}

void UserOperation::apply(void* operation, const void* in, void* inout, std::size_t elements) noexcept {
  auto& self = *static_cast<UserOperation*>(operation);
  if (self.copies_.empty())
    self.combine(in, inout, elements);
  else
    self.combine_copies(static_cast<const std::byte*>(in), static_cast<std::byte*>(inout), elements);
}

void UserOperation::combine(const void* in, void* inout, std::size_t elements) const noexcept {
  constexpr std::size_t kMost = std::numeric_limits<int>::max();
  const std::ptrdiff_t extent = element_.extent();
  for (std::size_t done = 0; done < elements;) {
    const std::size_t count = std::min(elements - done, kMost);
    const std::ptrdiff_t offset = static_cast<std::ptrdiff_t>(done) * extent;
    const int code = PMPI_Reduce_local(static_cast<const std::byte*>(in) + offset,
                                       static_cast<std::byte*>(inout) + offset, static_cast<int>(count), type_, op_);
    if (code != MPI_SUCCESS) log_error("MPI_Reduce_local", "cannot apply an operation of the user's");
    done += count;
  }
}

void UserOperation::combine_copies(const std::byte* in, std::byte* inout, std::size_t elements) noexcept {
  const std::size_t bytes = element_.size();
  for (std::size_t done = 0; done < elements;) {
    const std::size_t count = std::min(elements - done, copied_elements_);
    std::byte* const in_copy = copies_[0].base();
    std::byte* const inout_copy = copies_[1].base();
    const auto place = [&](std::size_t i) { return static_cast<std::ptrdiff_t>(i) * element_.extent(); };
    for (std::size_t i = 0; i < count; ++i) {
      element_.unpack(in + (done + i) * bytes, in_copy + place(i));
      element_.unpack(inout + (done + i) * bytes, inout_copy + place(i));
    }
    combine(in_copy, inout_copy, count);
    for (std::size_t i = 0; i < count; ++i) element_.pack(inout_copy + place(i), inout + (done + i) * bytes);
    done += count;
  }
}

namespace {

int free_operation(const Next& next, MPI_Op* op) noexcept {
  if (op == nullptr || !Holds::instance().free_later(*op)) return next.op_free(op);
  *op = MPI_OP_NULL;
  return MPI_SUCCESS;
}

}  // namespace

}  // namespace fab::mpi

extern "C" {
int MPI_Op_free(MPI_Op* op) { return fab::mpi::free_operation(fab::mpi::next_mpi, op); }
int PMPI_Op_free(MPI_Op* op) { return fab::mpi::free_operation(fab::mpi::next_pmpi, op); }
}
