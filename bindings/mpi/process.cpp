#include "bindings/mpi/process.h"

#include <fmt/format.h>

#include <limits>

#include "bindings/mpi/attachment.h"
#include "bindings/mpi/completed_by_mpi.h"
#include "bindings/mpi/datatype.h"
#include "bindings/mpi/exchange.h"
#include "bindings/mpi/failure.h"
#include "bindings/mpi/farewell.h"
#include "bindings/mpi/hook.h"
#include "bindings/mpi/idle.h"
#include "bindings/mpi/library.h"
#include "bindings/mpi/naming.h"
#include "bindings/native/open_context.h"

namespace fab::mpi {

namespace {

/// Both libraries must mean the same job, or ranks would be mixed up.
void compare_jobs(const JobInfo& job) {
  int rank = 0;
  int size = 0;
  require(PMPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  require(PMPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
  if (job.rank != rank || job.size != size)
    throw Failure(MPI_ERR_OTHER, fmt::format("fab found its job by {}: rank {} of {}; MPI_COMM_WORLD is rank {} of {}. "
                                             "fab needs the processes of one launch in the launcher's order",
                                             job.origin, job.rank, job.size, rank, size));
}

}  // namespace

Process& Process::instance() noexcept {
  static Process& process = *new Process;
  return process;
}

void Process::open_now() {
  const std::lock_guard lock(mutex_);
  if (state_.load() == State::open) return;
  compare_libraries();
  if (state_.load() == State::closed || !mpi_is_usable())
    throw Failure(MPI_ERR_OTHER, "called before MPI_Init or after MPI_Finalize");
  if (state_.load() == State::failed) throw Failure(MPI_ERR_OTHER, failure_);
  try {
    context_ = open_context();
    compare_jobs(context_->job());
    open_mpi_side();
  } catch (const std::exception& error) {
    context_.reset();
    failure_ = fmt::format("fab cannot be opened: {}", error.what());
    state_.store(State::failed);
    throw Failure(MPI_ERR_OTHER, failure_);
  }
  state_.store(State::open, std::memory_order_release);
}

// An attribute of MPI_COMM_SELF: its delete function is the first thing that MPI_Finalize calls (MPI-4.1, 11.2.4).
void Process::open_mpi_side() {
  require(PMPI_Comm_group(MPI_COMM_WORLD, &world_group_), "MPI_Comm_group");
  require(PMPI_Comm_dup(MPI_COMM_SELF, &private_comm_), "MPI_Comm_dup");
  require(PMPI_Comm_set_errhandler(private_comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  open_idle();
  open_attachments();
  open_exchanges();
  open_datatypes();
  open_hook();
  int keyval = MPI_KEYVAL_INVALID;
  require(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, closing, &keyval, this), "MPI_Comm_create_keyval");
  require(PMPI_Comm_set_attr(MPI_COMM_SELF, keyval, this), "MPI_Comm_set_attr");
  require(PMPI_Comm_free_keyval(&keyval), "MPI_Comm_free_keyval");
}

int Process::closing(MPI_Comm, int, void* process, void*) noexcept {
  return guarded("MPI_Finalize", MPI_COMM_NULL, [process] { static_cast<Process*>(process)->close(); });
}

void Process::close() {
  if (engine().halted()) return;  // a child of fork(): MPI_Finalize is its parent's to call
  finish_naming(engine());
  {
    const core::Lock lock(engine().mutex);
    context_->refusals().stop_listening();
  }
  static_cast<void>(context_->drain(std::numeric_limits<double>::infinity(), next_idle_hook()));
  static_cast<void>(complete_requests());  // those that the user let go of
  say_farewell(context_, failed_.load());
  const std::lock_guard lock(mutex_);
  state_.store(State::closed);
  close_exchanges();
  close_hook();
  close_attachments();
  close_mpi_side();
  context_->leave_launcher();
  context_.reset();
}

void Process::close_mpi_side() noexcept {
  close_idle();
  if (PMPI_Group_free(&world_group_) != MPI_SUCCESS) log_error("MPI_Finalize", "cannot free a group");
  if (PMPI_Comm_free(&private_comm_) != MPI_SUCCESS) log_error("MPI_Finalize", "cannot free a communicator");
}

}  // namespace fab::mpi
