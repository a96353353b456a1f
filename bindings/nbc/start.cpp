// The calls that build and start users' schedules (NBC_Sched_..., NBC_Start).
#include <cstdlib>
#include <memory>
#include <mutex>

#include "bindings/mpi/lifecycle/lifecycle.h"
#include "bindings/mpi/requests/idle.h"
#include "bindings/nbc/instance.h"
#include "bindings/nbc/schedule.h"
#include "core/plan/plan.h"

namespace fab::nbc {

namespace {

/// Guards the numbers of handles that own schedules.
std::mutex& owners_mutex() {
  static std::mutex& mutex = *new std::mutex;
  return mutex;
}

/// A start of a schedule: a share in it, and the place in its list of the user's operations.
class Started {
 public:
  explicit Started(NBC_Schedule* schedule) : schedule_(schedule) {
    const std::lock_guard lock(owners_mutex());
    ++(*schedule)->handles;
  }
  Started(const Started&) = delete;
  Started& operator=(const Started&) = delete;
  ~Started() {
    const std::lock_guard lock(owners_mutex());
    if (--(*schedule_)->handles > 0) return;
    delete *schedule_;
    std::free(schedule_);
  }

  [[nodiscard]] const UserSchedule& schedule() const noexcept { return **schedule_; }
  /// What a run calls for each user reduction, in the order of the schedule.
  [[nodiscard]] UserReduction reduction() noexcept {
    return {[](void* self, const void* in, void* inout, std::size_t elements) {
              static_cast<Started*>(self)->apply_next(in, inout, elements);
            },
            this};
  }

 private:
  void apply_next(const void* in, void* inout, std::size_t elements) {
    (*schedule_)->apply(next_++, in, inout, elements);
  }

  NBC_Schedule* schedule_;
  std::size_t next_ = 0;
};

core::Run& start_schedule(core::Communicator& core, Started& started) {
  Schedule schedule = started.schedule().build(core.rank(), core.size());
  const core::Lock lock(core.engine());
  auto plan = std::make_unique<core::RunPool>(core, std::move(schedule));
  return core.start(std::move(plan), {}, started.reduction());
}

/// Datatypes and operations need fab to be open.
UserSchedule& open_schedule(NBC_Schedule* schedule) {
  if (schedule == nullptr || *schedule == nullptr) throw Failure(MPI_ERR_ARG, "schedule is a null pointer");
  mpi::open_fab();
  return **schedule;
}

/// The body of a call that adds something to a schedule.
template <class Add>
int adding(const char* call, NBC_Schedule* schedule, Add&& add) noexcept {
  return guarded(call, [&] {
    add(open_schedule(schedule));
    return NBC_OK;
  });
}

}  // namespace

}  // namespace fab::nbc

using namespace fab::nbc;

int NBC_Sched_create(NBC_Schedule* schedule) {
  return guarded("NBC_Sched_create", [&] {
    if (schedule == nullptr) throw Failure(MPI_ERR_ARG, "schedule is a null pointer");
    *schedule = new fab_nbc_schedule;
    return NBC_OK;
  });
}

int NBC_Sched_send(const void* buf, int count, MPI_Datatype datatype, int dest, NBC_Schedule* schedule) {
  return adding("NBC_Sched_send", schedule,
                [&](UserSchedule& to) { to.send(dest, block_of("", buf, count, datatype)); });
}

int NBC_Sched_recv(void* buf, int count, MPI_Datatype datatype, int source, NBC_Schedule* schedule) {
  return adding("NBC_Sched_recv", schedule,
                [&](UserSchedule& to) { to.recv(source, block_of("", buf, count, datatype)); });
}

int NBC_Sched_op(void* tgt, const void* src1, const void* src2, int count, MPI_Datatype datatype, MPI_Op op,
                 NBC_Schedule* schedule) {
  return adding("NBC_Sched_op", schedule,
                [&](UserSchedule& to) { to.combine(combination_of(tgt, src1, src2, count, datatype, op)); });
}

int NBC_Sched_copy(const void* src, int srccount, MPI_Datatype srctype, void* tgt, int tgtcount, MPI_Datatype tgttype,
                   NBC_Schedule* schedule) {
  return adding("NBC_Sched_copy", schedule, [&](UserSchedule& to) {
    to.copy(block_of("src", src, srccount, srctype), block_of("tgt", tgt, tgtcount, tgttype));
  });
}

int NBC_Sched_barrier(NBC_Schedule* schedule) {
  return adding("NBC_Sched_barrier", schedule, [](UserSchedule& to) { to.barrier(); });
}

int NBC_Sched_commit(NBC_Schedule* schedule) {
  return adding("NBC_Sched_commit", schedule, [](UserSchedule& to) { to.commit(); });
}

int NBC_Start(NBC_Handle* handle, MPI_Comm comm, NBC_Schedule* schedule) {
  return guarded("NBC_Start", [&] {
    check_handle(handle);
    handle->fab_active = 0;
    static_cast<void>(open_schedule(schedule));
    const auto started = std::make_shared<Started>(schedule);
    hold(*handle, Instance("NBC_Start", started));
    fab::mpi::Attachment& attachment = fab::mpi::attachment_of(comm);
    fab::core::Run& run = fab::core::in_order(*attachment.core, [&]() -> fab::core::Run& {
      if (!started->schedule().committed())
        throw fab::Error(fab::Errc::invalid_schedule, "the schedule is not committed");
      return start_schedule(*attachment.core, *started);
    });
    fab::mpi::hand_over_progress(attachment.core->engine());
    instance_of(*handle)->started(attachment, run);
    return NBC_OK;
  });
}
