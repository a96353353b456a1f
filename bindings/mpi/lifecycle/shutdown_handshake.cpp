#include "bindings/mpi/lifecycle/shutdown_handshake.h"

#include <set>
#include <vector>

#include "bindings/mpi/requests/idle.h"
#include "core/communicator/communicator.h"
#include "core/progress/driver.h"
#include "core/run/watch.h"

namespace fab::mpi {

namespace {

/// Empty messages both ways, on the communicator of all ranks, which MPI communicators never are.
Schedule handshake(const JobInfo& job, const std::set<Rank>& peers) {
  ScheduleBuilder builder("shutdown handshake", job.size);
  for (const Rank peer : peers) {
    builder.recv(peer, 0, {BufferId::recv, 0, Layout()});
    builder.send(peer, 0, {BufferId::send, 0, Layout()});
  }
  return builder.commit();
}

// Both ends of an edge have to count it, or one would wait for ever for the other. A rank that refused a call has no
// schedule for it, but has been asked by those that waited.
core::Run& start(core::Context& context, core::Communicator& world) {
  const core::Lock lock(context.engine());
  const std::vector<Rank> in_schedules = context.peers().in_schedules(context.job().rank);
  std::set<Rank> peers(in_schedules.begin(), in_schedules.end());
  peers.insert(context.refusals().askers().begin(), context.refusals().askers().end());
  return world.start(std::make_unique<core::RunPool>(world, handshake(context.job(), peers)), {});
}

}  // namespace

void finalize(const std::shared_ptr<core::Context>& context, double timeout_s) {
  const std::shared_ptr<core::Communicator> world = core::Communicator::world(context);
  world->compare_no_calls();  // ranks that no other rank has reached take no part
  core::Run& run = start(*context, *world);
  core::Pending* const runs[] = {&run};
  const double configured_s = context->config().wait_timeout_s;
  core::Watch watch(runs, *context, configured_s > 0 ? configured_s : timeout_s);
  core::Driver driver(context->engine(), next_idle_hook());
  while (!run.done()) {
    if (driver.step()) continue;
    watch.check();
    if (!run.done()) driver.rest();
  }
  if (!run.status().ok()) context->log().write(LogLevel::info, "closing: {}", run.status().message);
  const core::Lock lock(context->engine());
  run.let_go();
}

}  // namespace fab::mpi
