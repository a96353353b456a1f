#include "bindings/mpi/bootstrap/meeting.h"

#include <mpi.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <utility>

#include "bindings/mpi/base/failure.h"
#include "bindings/mpi/bootstrap/mpi_carrier.h"
#include "bindings/mpi/bootstrap/world_job.h"
#include "bindings/mpi/interception/next.h"
#include "core/base/config.h"
#include "core/base/log.h"
#include "core/bootstrap/carried_values.h"
#include "core/bootstrap/launcher.h"

namespace fab::mpi {

namespace {

using Clock = std::chrono::steady_clock;

/// After which rank 0 says whom it waits for.
constexpr std::chrono::seconds kLongInit{10};

struct Meeting {
  WorldJob world;
  std::shared_ptr<CarriedValues> values;
};

/// Set in MPI_Init; null again in MPI_Finalize.
constinit std::atomic<Meeting*> meeting{nullptr};

/// For what this rank has asked others, in MPI_Finalize. Longer than any answer takes of a rank that gives one.
constexpr std::chrono::seconds kLongestAnswer{5};

/// Of each thread, where nothing is urgent.
constexpr std::chrono::microseconds kBetweenTurns{100};
thread_local Clock::time_point next_turn;

Meeting* current() noexcept { return meeting.load(std::memory_order_acquire); }

void say_who_is_missing() {
  int rank = 0;
  require(PMPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  if (rank == 0)
    Log(LogLevel::warn, rank)
        .write(LogLevel::warn,
               "MPI_Init waits for all processes of MPI_COMM_WORLD to load libfab_mpi: without PMIx they find "
               "each other over MPI, which takes all of them");
}

/// Waits with a word where it takes long: a program without fab among the others' never comes.
MPI_Comm duplicate_world() {
  MPI_Comm world = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  require(PMPI_Comm_idup(MPI_COMM_WORLD, &world, &request), "MPI_Comm_idup");
  const Clock::time_point start = Clock::now();
  bool said = false;
  for (int done = 0; done == 0;) {
    require(next_pmpi.test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0) break;
    ::sched_yield();
    if (said || Clock::now() - start < kLongInit) continue;
    said = true;
    say_who_is_missing();
  }
  require(PMPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  return world;
}

}  // namespace

bool needs_meeting() noexcept {
  int size = 0;
  if (PMPI_Comm_size(MPI_COMM_WORLD, &size) != MPI_SUCCESS || size < 2) return false;
  return !process_environment(kPmixNamespaceVariable) || find_other_launcher_variable(process_environment);
}

void open_meeting() {
  const MPI_Comm comm = duplicate_world();
  auto opened = std::make_unique<Meeting>();
  opened->world = read_world_job(comm);
  const JobInfo& job = opened->world.job;
  opened->values = std::make_shared<CarriedValues>(job.rank, job.size, make_mpi_carrier(comm));
  meeting.store(opened.release(), std::memory_order_release);
}

bool meeting_is_open() noexcept { return current() != nullptr; }

std::unique_ptr<Store> open_meeting_store() {
  const WorldJob& world = current()->world;
  return open_carried_store(current()->values, world.job,
                            [order = world.order, size = world.job.size] { return order.list(size); });
}

bool meeting_is_urgent() noexcept { return current() != nullptr && current()->values->is_urgent(); }

bool meeting_is_due() noexcept {
  return current() != nullptr && (current()->values->is_urgent() || Clock::now() >= next_turn);
}

void drive_meeting() noexcept {
  if (current() == nullptr) return;
  current()->values->drive();
  next_turn = Clock::now() + kBetweenTurns;
}

// A store that something keeps alive has its share of the values, and the carrier with them, which is MPI's no more.
void close_meeting() noexcept {
  const std::unique_ptr<Meeting> closed(current());
  if (closed == nullptr) return;
  const Clock::time_point start = Clock::now();
  while (!closed->values->part(Clock::now() - start >= kLongestAnswer)) ::sched_yield();
  meeting.store(nullptr, std::memory_order_release);
  closed->values->end();
}

}  // namespace fab::mpi
