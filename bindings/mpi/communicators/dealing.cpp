#include "bindings/mpi/communicators/dealing.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <new>

#include "bindings/mpi/base/failure.h"
#include "bindings/mpi/base/handles.h"
#include "core/base/config.h"

namespace fab::mpi {

namespace {

/// An attribute of a communicator that is dealt out. All of its ranks make others from it in the same order, so they
/// count alike.
struct Dealt {
  int number = 0;  ///< modulo the number of engines
  int made = 0;    ///< from it
};

std::atomic<bool> deals{false};

/// MPI calls it on all ranks that duplicate a communicator (MPI-4.1, 7.7.2).
int deal_duplicate(MPI_Comm, int, void*, void* original, void* copy, int* flag) noexcept {
  auto& dealt = *static_cast<Dealt*>(original);
  auto made = std::unique_ptr<Dealt>(new (std::nothrow) Dealt{.number = dealt.number + ++dealt.made});
  if (made == nullptr) return MPI_ERR_NO_MEM;
  *static_cast<void**>(copy) = made.release();
  *flag = 1;
  return MPI_SUCCESS;
}

int forget(MPI_Comm, int, void* value, void*) noexcept {
  delete static_cast<Dealt*>(value);
  return MPI_SUCCESS;
}

int dealing_keyval() {
  static std::mutex mutex;
  static int made = MPI_KEYVAL_INVALID;
  const std::lock_guard lock(mutex);
  if (made == MPI_KEYVAL_INVALID)
    require(PMPI_Comm_create_keyval(deal_duplicate, forget, &made, nullptr), "MPI_Comm_create_keyval");
  return made;
}

/// Null: it was not dealt out.
Dealt* find_dealt(MPI_Comm comm) {
  void* value = nullptr;
  int found = 0;
  require(PMPI_Comm_get_attr(comm, dealing_keyval(), &value, &found), "MPI_Comm_get_attr");
  return found == 0 ? nullptr : static_cast<Dealt*>(value);
}

/// Also null where MPI cannot tell.
Dealt* look_for_dealt(MPI_Comm comm) noexcept try {
  return is_communicator(comm) ? find_dealt(comm) : nullptr;
} catch (...) {
  static_cast<void>(log_exception("MPI_Comm_get_attr"));
  return nullptr;
}

const Dealt& deal(MPI_Comm comm, int number) {
  auto dealt = std::make_unique<Dealt>(Dealt{.number = number});
  require(PMPI_Comm_set_attr(comm, dealing_keyval(), dealt.get()), "MPI_Comm_set_attr");
  return *dealt.release();
}

}  // namespace

// A value that is not valid is reported when fab opens.
void begin_dealing() {
  const auto engines = process_environment("FAB_ENGINES");
  if (!engines || *engines == "1" || find_dealt(MPI_COMM_WORLD) != nullptr) return;
  deal(MPI_COMM_WORLD, 0);
  deals.store(true);
}

void deal_made(MPI_Comm parent, MPI_Comm made) noexcept {
  if (!deals.load(std::memory_order_relaxed)) return;
  try {
    Dealt* const dealt = find_dealt(parent);
    if (dealt == nullptr) return;
    ++dealt->made;
    if (made != MPI_COMM_NULL) deal(made, dealt->number + dealt->made);
  } catch (...) {
    static_cast<void>(log_exception("MPI_Comm_set_attr"));
  }
}

UncountedMaking::UncountedMaking(MPI_Comm parent) noexcept : parent_(parent) {
  if (!deals.load(std::memory_order_relaxed)) return;
  if (const Dealt* const dealt = look_for_dealt(parent)) made_before_ = dealt->made;
}

void UncountedMaking::undo(MPI_Comm made) noexcept {
  if (!deals.load(std::memory_order_relaxed)) return;
  if (Dealt* const dealt = look_for_dealt(parent_)) dealt->made = made_before_;
  if (made != MPI_COMM_NULL && look_for_dealt(made) != nullptr &&
      PMPI_Comm_delete_attr(made, dealing_keyval()) != MPI_SUCCESS)
    log_error("MPI_Comm_create_group", "cannot take back an attribute");
}

int engine_of(MPI_Comm comm, Rank first, int engines) {
  if (engines == 1) return 0;
  const Dealt* const dealt = find_dealt(comm);
  return (dealt != nullptr ? *dealt : deal(comm, first)).number % engines;
}

}  // namespace fab::mpi
