#include "bindings/mpi/communicators/naming.h"

#include <fmt/core.h>
#include <sched.h>

#include <algorithm>
#include <list>
#include <mutex>

#include "bindings/mpi/base/failure.h"
#include "bindings/mpi/bootstrap/meeting.h"
#include "bindings/mpi/interception/next.h"
#include "core/context.h"

namespace fab::mpi {

namespace {

constexpr int kNoNumber = -1;  ///< what rank 0 sends when it has given all away

/// What rank 0 of a communicator sends.
struct Name {
  int number = kNoNumber;
  int engine = 0;  ///< that rank 0 takes it for
};
constexpr int kInts = sizeof(Name) / sizeof(int);

struct Naming {
  std::shared_ptr<core::Communicator> communicator;
  Rank owner = 0;  ///< rank 0 of the communicator, in MPI_COMM_WORLD
  int engine = 0;
  Name name{};
  MPI_Request broadcast = MPI_REQUEST_NULL;
};

/// Communicators without an id. List nodes: the broadcasts write to them.
struct Pending {
  std::mutex mutex;
  std::list<Naming> namings;
};

Pending& pending() {
  static Pending& state = *new Pending;  // MPI may call back until the process ends
  return state;
}

/// MPI calls come back here where MPI's progress calls fab (requests/completed_by_mpi.h).
class Inside {
 public:
  Inside() noexcept { inside_ = true; }
  ~Inside() { inside_ = false; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  [[nodiscard]] static bool already() noexcept { return inside_; }

 private:
  static thread_local bool inside_;
};
thread_local bool Inside::inside_ = false;

int draw_number(core::Context& context) {
  try {
    return static_cast<int>(context.new_context_id().number);
  } catch (const Error&) {
    return kNoNumber;  // every rank of the communicator reports it
  }
}

void conclude(const Naming& naming, int code) {
  core::Communicator& communicator = *naming.communicator;
  if (code != MPI_SUCCESS)
    communicator.refuse_context_id({make_error_code(Errc::transport), "MPI could not broadcast the context id"});
  else if (naming.name.engine != naming.engine)
    communicator.refuse_context_id(
        {make_error_code(Errc::mismatch),
         fmt::format("rank 0 of the communicator deals it out to engine {}, this rank to engine {} (FAB_ENGINES): "
                     "MPI_Init must reach fab on all ranks or on none",
                     naming.name.engine, naming.engine)});
  else if (naming.name.number == kNoNumber)
    communicator.refuse_context_id(
        {make_error_code(Errc::no_resources), "rank 0 of the communicator has named as many as the tags hold"});
  else
    communicator.set_context_id({naming.owner, static_cast<std::uint32_t>(naming.name.number)});
}

bool is_pending(const core::Communicator& communicator) {
  if (!naming_is_pending()) return false;
  const std::lock_guard lock(pending().mutex);
  return std::ranges::any_of(pending().namings,
                             [&](const Naming& naming) { return naming.communicator.get() == &communicator; });
}

template <class Unfinished>
void finish_while(Unfinished&& is_unfinished) {
  for (bool unfinished = true; unfinished;) {
    advance_naming();
    drive_meeting();
    unfinished = is_unfinished();
    process_context().poll_all();  // the ids take effect in a progress
    if (unfinished) ::sched_yield();
  }
}

}  // namespace

void begin_naming(const std::shared_ptr<core::Communicator>& communicator, int engine, MPI_Comm comm) {
  const std::lock_guard lock(pending().mutex);
  Naming& naming = pending().namings.emplace_back(
      Naming{.communicator = communicator, .owner = communicator->world_rank(0), .engine = engine});
  if (communicator->rank() == 0) naming.name = {draw_number(communicator->context()), engine};
  const Inside inside;
  const int code = next_ibcast(&naming.name, kInts, MPI_INT, 0, comm, &naming.broadcast);
  if (code != MPI_SUCCESS) pending().namings.pop_back();
  require(code, "MPI_Ibcast");
  detail::pending_names.fetch_add(1);
}

// Another thread that is here already does the work of this one too.
void advance_naming() {
  if (!naming_is_pending() || Inside::already()) return;
  const Inside inside;
  const std::unique_lock lock(pending().mutex, std::try_to_lock);
  if (!lock) return;
  std::erase_if(pending().namings, [](Naming& naming) {
    int done = 0;
    const int code = next_pmpi.test(&naming.broadcast, &done, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS && done == 0) return false;
    conclude(naming, code);
    detail::pending_names.fetch_sub(1);
    return true;
  });
}

void finish_naming() { finish_while(naming_is_pending); }

void finish_naming(const core::Communicator& communicator) {
  finish_while([&communicator] { return is_pending(communicator); });
}

}  // namespace fab::mpi
