#include "bindings/mpi/lifecycle/lifecycle.h"

#include <fmt/core.h>
#include <mpi.h>

#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "bindings/mpi/base/failure.h"
#include "bindings/mpi/base/private_comm.h"
#include "bindings/mpi/bootstrap/meeting.h"
#include "bindings/mpi/communicators/attachment.h"
#include "bindings/mpi/communicators/dealing.h"
#include "bindings/mpi/communicators/naming.h"
#include "bindings/mpi/datatypes/datatype.h"
#include "bindings/mpi/interception/mpi_progress.h"
#include "bindings/mpi/lifecycle/library.h"
#include "bindings/mpi/lifecycle/shutdown_handshake.h"
#include "bindings/mpi/requests/completed_by_mpi.h"
#include "bindings/mpi/requests/exchange.h"
#include "bindings/mpi/requests/idle.h"
#include "bindings/native/context/open_context.h"
#include "core/bootstrap/store.h"

namespace fab::mpi {

namespace {

/// A peer may not know of this rank then, and never come.
constexpr double kFinalizeAfterAFailure_s = 5;

/// Ranks that have made no call of fab's tell no statistics.
constexpr double kStatisticsTimeout_s = 5;

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

[[noreturn]] void refuse_to_come_late() {
  throw Failure(
      MPI_ERR_OTHER,
      "the launcher offers no PMIx server, so fab's processes find each other over MPI, from MPI_Init on; but "
      "MPI_Init did not reach fab. Remedy: name libfab_mpi before the MPI library when linking, or name it in "
      "LD_PRELOAD, or use a launcher with PMIx");
}

// Processes that find each other over MPI have one store, and so one engine.
std::shared_ptr<core::Context> open_context_at_meeting() {
  Config config = read_config();
  if (config.engines > 1)
    log_info("MPI_Init", "FAB_ENGINES has no effect, since the launcher offers no PMIx server: there is one engine");
  config.engines = 1;
  return open_context(config, open_meeting_store());
}

std::shared_ptr<core::Context> open_context_of_job() {
  if (meeting_is_open()) return open_context_at_meeting();
  if (needs_meeting()) refuse_to_come_late();
  return open_context();
}

/// Owns the context of this process.
class Lifecycle {
 public:
  /// Never destroyed: MPI may call back until the process ends.
  static Lifecycle& instance() noexcept {
    static Lifecycle& lifecycle = *new Lifecycle;
    return lifecycle;
  }

  void prepare();
  void open();
  void before_closing(void (*hook)() noexcept);

 private:
  enum class State { unopened, open, failed, closed };

  Lifecycle() = default;
  void close();
  void close_parts() noexcept;
  void close_at_finalize();
  void close_all();
  static int closing(MPI_Comm, int, void* lifecycle, void*) noexcept;

  std::mutex mutex_;
  State state_ = State::unopened;
  std::string failure_;  ///< why opening failed
  bool closes_at_finalize_ = false;
  void (*before_closing_)() noexcept = nullptr;
  std::shared_ptr<core::Context> context_;
};

void open_parts() {
  open_private_comm();
  open_idle();
  open_attachments();
  open_exchanges();
  open_datatypes();
  join_mpi_progress(poll_within_mpi);
}

// A tool may call a second function to initialize from within the first.
void Lifecycle::prepare() {
  const std::lock_guard lock(mutex_);
  if (!is_own_library()) return;
  close_at_finalize();
  if (!meeting_is_open() && needs_meeting()) open_meeting();
}

void Lifecycle::open() {
  const std::lock_guard lock(mutex_);
  if (state_ == State::open) return;
  compare_libraries();
  if (state_ == State::closed || !mpi_is_usable())
    throw Failure(MPI_ERR_OTHER, "called before MPI_Init or after MPI_Finalize");
  if (state_ == State::failed) throw Failure(MPI_ERR_OTHER, failure_);
  try {
    context_ = open_context_of_job();
    compare_jobs(context_->job());
    open_parts();
    close_at_finalize();
  } catch (const std::exception& error) {
    context_.reset();
    failure_ = fmt::format("fab cannot be opened: {}", error.what());
    state_ = State::failed;
    throw Failure(MPI_ERR_OTHER, failure_);
  }
  state_ = State::open;
  publish_context(context_.get());
}

void Lifecycle::before_closing(void (*hook)() noexcept) {
  const std::lock_guard lock(mutex_);
  before_closing_ = hook;
  close_at_finalize();
}

// An attribute of MPI_COMM_SELF: MPI_Finalize begins with the delete functions of these, the latest first (MPI-4.1,
// 11.2.4). So fab's is set in MPI_Init, and comes after those of the program, which may still communicate, or open fab.
// Open MPI does not call one that is set while it does so.
void Lifecycle::close_at_finalize() {
  if (closes_at_finalize_) return;
  closes_at_finalize_ = true;
  int keyval = MPI_KEYVAL_INVALID;
  require(PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, closing, &keyval, this), "MPI_Comm_create_keyval");
  require(PMPI_Comm_set_attr(MPI_COMM_SELF, keyval, this), "MPI_Comm_set_attr");
  require(PMPI_Comm_free_keyval(&keyval), "MPI_Comm_free_keyval");
}

int Lifecycle::closing(MPI_Comm, int, void* lifecycle, void*) noexcept {
  return guarded("MPI_Finalize", MPI_COMM_NULL, [lifecycle] { static_cast<Lifecycle*>(lifecycle)->close_all(); });
}

// Other ranks may need this one's addresses longer than it needs theirs, be it to find that it has closed fab.
void Lifecycle::close_all() {
  if (context_ != nullptr && context_->engine().halted()) return;  // a child of fork(): MPI_Finalize is its parent's
  if (before_closing_ != nullptr) std::exchange(before_closing_, nullptr)();
  close();
  close_meeting();
  leave_launcher_to_mpi();
}

void Lifecycle::close() {
  if (context_ == nullptr) return;  // opening failed
  finish_naming();
  context_->stop_listening();
  static_cast<void>(context_->drain(std::numeric_limits<double>::infinity(), next_idle_hook()));
  static_cast<void>(complete_requests());  // those that the user let go of
  const bool tells = context_->config().stats;
  if (tells) context_->tell_statistics(core::Context::kStatisticsKey);
  context_->write_trace();
  for (int engine = 0; engine < context_->engines(); ++engine)
    finalize(context_->of_engine(engine).shared_from_this(), has_failed() ? kFinalizeAfterAFailure_s : 0);
  if (tells) context_->report_statistics(kStatisticsTimeout_s, next_idle_hook());
  const std::lock_guard lock(mutex_);
  state_ = State::closed;
  publish_context(nullptr);
  close_parts();
  context_->leave_launcher();
  context_.reset();
}

// The requests go before the attachments that they share.
void Lifecycle::close_parts() noexcept {
  close_exchanges();
  leave_mpi_progress();
  close_attachments();
  close_idle();
  close_private_comm();
}

}  // namespace

void mpi_is_initialized() noexcept {
  try {
    if (is_own_library()) begin_dealing();
    Lifecycle::instance().prepare();
  } catch (...) {
    static_cast<void>(log_exception("MPI_Init"));
  }
}

void before_closing(void (*hook)() noexcept) { Lifecycle::instance().before_closing(hook); }

namespace detail {
void open_fab_now() { Lifecycle::instance().open(); }
}  // namespace detail

}  // namespace fab::mpi
