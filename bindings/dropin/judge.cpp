#include "bindings/dropin/judge.h"

#include <mutex>

#include "bindings/dropin/known.h"
#include "bindings/dropin/next_calls.h"
#include "bindings/dropin/record.h"
#include "bindings/dropin/settings.h"
#include "bindings/dropin/statistics.h"
#include "bindings/mpi/base/failure.h"
#include "bindings/mpi/base/handles.h"
#include "bindings/mpi/bootstrap/meeting.h"
#include "bindings/mpi/datatypes/datatype.h"
#include "bindings/mpi/interception/reach.h"
#include "bindings/mpi/lifecycle/lifecycle.h"

namespace fab::dropin {

namespace {

/// Of a communicator's calls fab leaves so many to MPI, in automatic mode. Programs make communicators for a few calls,
/// and to get to know one, or to open fab for it, takes fab as long as some calls take MPI.
constexpr std::uint32_t kFirstCalls = 16;

/// By the number of calls alone: what most communicators get to see costs no look at them.
bool is_early(const Call& call, const Record& record) {
  const bool at_once = settings().mode != Mode::automatic || call.form == Form::persistent;
  return !at_once && record.calls <= kFirstCalls;
}

/// What can be told before fab knows the communicator.
Fate judge_early(const Call& call, const Shape& shape, Record& record) {
  if (is_early(call, record)) return Fate::early;
  if (record.kind == Record::Kind::unseen) look_at(call.comm, record);
  if (record.kind == Record::Kind::unusable) return Fate::communicator;
  if (!shape.can_reduce) return Fate::operation;
  // Over MPI addresses move in calls of fab's alone, and other calls may lie between a start and its completion.
  if (call.form != Form::blocking && mpi::meeting_is_open()) return Fate::requests;
  return Fate::carried;
}

/// Where MPI_Init has not reached fab, MPI_Finalize may close it before functions of the program's that communicate.
bool has_closed(const Record& record) { return record.attachment != nullptr && !mpi::is_open(); }

// The look at all ranks is made once, and not on large communicators.
void attach(MPI_Comm comm, Record& record) {
  mpi::open_fab();
  record.attachment = &mpi::attachment_of(comm);
  if (!record.one_node)
    record.one_node = record.ranks <= kMostRanksMeasured && record.attachment->core->is_on_one_node();
}

/// Before it is known where the ranks are, a call may pay that pays in either case.
bool may_pay(const Call& call, const Shape& shape, const Record& record) {
  const auto pays_if = [&](bool one_node) { return pays({call.function, call.form, record.ranks, one_node}, shape); };
  return record.one_node ? pays_if(*record.one_node) : pays_if(true) || pays_if(false);
}

/// Whether `mine` holds on all ranks: what a process has loaded, others need not have. Waits for them, as blocking
/// calls and the making of persistent ones may.
bool holds_on_all(MPI_Comm comm, bool mine) {
  int all = mine ? 1 : 0;
  mpi::require(next_pmpi_calls.allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_LAND, comm), "MPI_Allreduce");
  return all != 0;
}

/// Whether fab is open in this process, or opens now; if it cannot, the log says why, once. The other ranks must not
/// wait in fab for this one then.
bool opens() {
  try {
    mpi::open_fab();
    return true;
  } catch (const mpi::Failure&) {
    static std::once_flag said;
    std::call_once(said, [] { static_cast<void>(mpi::log_exception("libfab_dropin")); });
    return false;
  }
}

/// All ranks decide alike. A start may not wait, so a non-blocking call depends on what calls before it have asked.
bool all_hear_of_freed_operations(const Call& call, Record& record) {
  if (!record.all_hear && call.form != Form::non_blocking)
    record.all_hear = holds_on_all(call.comm, opens() && mpi::hears_of_freed_operations());
  return record.all_hear.value_or(false);
}

bool all_complete_persistent(MPI_Comm comm) { return holds_on_all(comm, opens() && mpi::can_complete_persistent()); }

Fate judge_late(const Call& call, const Shape& shape, Record& record) {
  const bool chooses = settings().mode == Mode::automatic;
  if (chooses && !may_pay(call, shape, record)) return Fate::slower;
  if (call.form == Form::persistent && !all_complete_persistent(call.comm)) return Fate::requests;
  if (shape.user_operation && !all_hear_of_freed_operations(call, record)) return Fate::operation;
  if (record.attachment == nullptr) attach(call.comm, record);
  if (needs_topology(call.function) && record.attachment->core->topology() == nullptr) return Fate::topology;
  return chooses && !may_pay(call, shape, record) ? Fate::slower : Fate::carried;
}

/// Neither its type nor its operation can be freed, whose handles could then be those of others.
bool is_permanent(const Outline& outline) {
  switch (outline.kind) {
    case Outline::Kind::unknown:
      return true;
    case Outline::Kind::block:
      return mpi::is_permanent(outline.type);
    case Outline::Kind::reduction:
      return mpi::is_permanent(outline.type) && mpi::is_predefined_operation(outline.op);
  }
  return false;
}

/// Whether all calls of the thread that are like this one will have its fate. Persistent ones ask other ranks each
/// time. While fab opens it may turn out how ranks find each other. With FAB_STATS all calls are counted.
bool is_for_good(const Call& call, const Outline& outline, const Record& record, Fate fate, bool was_open) {
  const bool is_settled = fate == Fate::slower || (fate == Fate::carried && was_open && call.form != Form::persistent);
  return is_settled && record.calls > kFirstCalls && !settings().stats && is_permanent(outline);
}

}  // namespace

mpi::Attachment* judge(const Call& call, const Outline& outline) {
  Record* const record = find_record(call.comm);
  if (record == nullptr) return nullptr;
  ++record->calls;
  const bool was_open = mpi::is_open();
  const Shape shape = shape_of(outline);
  Fate fate = judge_early(call, shape, *record);
  if (fate == Fate::carried) fate = has_closed(*record) ? Fate::communicator : judge_late(call, shape, *record);
  if (fate != Fate::carried || counts_at_once(call.form)) count(call.function, fate);
  mpi::Attachment* const attachment = fate == Fate::carried ? record->attachment : nullptr;
  if (is_for_good(call, outline, *record, fate, was_open))
    place_of(call, outline) = {call, outline, deletions.load(), attachment};
  return attachment;
}

}  // namespace fab::dropin
