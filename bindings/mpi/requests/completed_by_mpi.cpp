#include "bindings/mpi/requests/completed_by_mpi.h"

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "bindings/mpi/base/failure.h"
#include "bindings/mpi/base/process_context.h"
#include "bindings/mpi/bootstrap/meeting.h"
#include "bindings/mpi/communicators/naming.h"
#include "bindings/mpi/requests/room_for_fortran.h"
#include "core/run/watch.h"

namespace fab::mpi {

namespace {

/// Belongs to MPI, which gives it back by the function that frees a request's state.
struct Awaited {
  const char* call;
  core::Run* run;
  std::shared_ptr<Attachment> attachment;
  Kept kept;
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_SUCCESS;  ///< how it ended

  [[nodiscard]] core::Engine& engine() const noexcept { return attachment->core->engine(); }
};

struct Awaiting {
  std::mutex mutex;
  std::vector<Awaited*> all;
  std::vector<core::Pending*> runs;  ///< of `all`, in its order
  std::optional<core::Watch> watch;  ///< of `runs`, since it last changed; from the first of them on

  /// With the mutex.
  void changed() {
    watch.emplace(runs, process_context());
    detail::awaited_requests.store(static_cast<int>(all.size()), std::memory_order_relaxed);
  }
};

Awaiting& awaiting() {
  static Awaiting& state = *new Awaiting;  // MPI may call back until the process ends
  return state;
}

/// MPI's question how the exchange ended.
int query(void* state, MPI_Status* status) noexcept {
  status->MPI_SOURCE = MPI_ANY_SOURCE;
  status->MPI_TAG = MPI_ANY_TAG;
  int code = PMPI_Status_set_elements(status, MPI_BYTE, 0);
  if (code == MPI_SUCCESS) code = PMPI_Status_set_cancelled(status, 0);
  return code == MPI_SUCCESS ? static_cast<const Awaited*>(state)->code : code;
}

int release(void* state) noexcept {
  delete static_cast<Awaited*>(state);
  return MPI_SUCCESS;
}

// Exchanges cannot be cancelled, as collectives cannot.
int cancel(void*, int) noexcept { return MPI_SUCCESS; }

#if defined(MPICH_VERSION)
int poll(void*, MPI_Status*) noexcept {
  static_cast<void>(poll_within_mpi());
  return MPI_SUCCESS;
}

int start_request(Awaited& awaited) {
  return MPIX_Grequest_start(query, release, cancel, poll, nullptr, &awaited, &awaited.request);
}
#else
int start_request(Awaited& awaited) {
  [[maybe_unused]] static const bool large = (enlarge_generalized_requests(), true);
  return PMPI_Grequest_start(query, release, cancel, &awaited, &awaited.request);
}
#endif

/// Only MPI still has it.
void end(Awaited& awaited) {
  const Status status = awaited.run->status();
  awaited.run->over(false);
  if (!status.ok()) {
    note_failure();
    log_error(awaited.call, status.message);
    awaited.code = error_class_of(status.errc());
  }
  {
    const core::Lock lock(awaited.engine());
    awaited.run->let_go();
  }
  awaited.kept.reset();
  awaited.attachment.reset();
  if (PMPI_Grequest_complete(awaited.request) != MPI_SUCCESS)
    log_error(awaited.call, "MPI cannot complete the request");
}

/// Whether operations in flight, or answers to peers that wait for a call which this rank has refused, depend on
/// callers for progress.
bool fab_needs_callers() noexcept {
  return is_open() && !process_engine().has_thread() && process_context().any_active();
}

thread_local bool polling = false;

std::vector<Awaited*> take_ended() {
  Awaiting& state = awaiting();
  std::vector<Awaited*> ended;
  const std::lock_guard lock(state.mutex);
  for (std::size_t i = 0; i < state.all.size();) {
    if (!state.runs[i]->done()) {
      ++i;
      continue;
    }
    ended.push_back(state.all[i]);
    state.all.erase(state.all.begin() + static_cast<std::ptrdiff_t>(i));
    state.runs.erase(state.runs.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (ended.empty())
    state.watch->check();
  else
    state.changed();
  return ended;
}

}  // namespace

MPI_Request make_request_for_mpi(const char* call, Attachment& attachment, core::Run& run, Kept kept) {
  auto awaited = std::make_unique<Awaited>(Awaited{call, &run, attachment.shared_from_this(), std::move(kept)});
  Awaiting& state = awaiting();
  const std::lock_guard lock(state.mutex);
  state.all.reserve(state.all.size() + 1);
  state.runs.reserve(state.runs.size() + 1);
  require(start_request(*awaited), "MPI_Grequest_start");
  const MPI_Request request = awaited->request;
  state.all.push_back(awaited.release());
  state.runs.push_back(&run);
  state.changed();
  return request;
}

int complete_requests() {
  if (!requests_await_mpi()) return 0;
  process_context().poll_all();
  const std::vector<Awaited*> ended = take_ended();
  for (Awaited* each : ended) end(*each);
  return static_cast<int>(ended.size());
}

// The MPI calls in here make progress, too, and so come back.
int poll_within_mpi() noexcept {
  const bool drives = fab_needs_callers();
  if (!drives && !naming_is_pending() && !requests_await_mpi() && !meeting_is_due()) return 0;
  if (polling) return 0;
  polling = true;
  int completed = 0;
  static_cast<void>(guarded("MPI", MPI_COMM_NULL, [drives, &completed] {
    advance_naming();
    drive_meeting();
    if (drives && !requests_await_mpi()) process_context().poll_all();
    completed = complete_requests();
  }));
  polling = false;
  return completed;
}

}  // namespace fab::mpi
