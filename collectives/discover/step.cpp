#include "collectives/discover/step.h"

#include <fmt/core.h>

#include <string>

#include "collectives/calls/buffers.h"
#include "collectives/calls/call_kinds.h"
#include "collectives/choice/select.h"
#include "collectives/start.h"
#include "core/communicator/refused_call.h"
#include "core/context.h"
#include "core/run/wait.h"

namespace fab::collectives {

namespace {

core::PlanSource source_of(const core::Communicator& communicator, const char* name, const CollectiveCall& step,
                           bool held_back) {
  const CollectiveCall call = made_on(communicator, step);
  const Config& config = communicator.context().config();
  const Algorithm& algorithm = select(call, config);
  ScheduleBuilder builder("discover", call.ranks);
  algorithm.build(builder, call);
  core::PlanSource source(builder.commit(commit_options(algorithm, call, config)), name);
  source.starts_on_hold = held_back;
  return source;
}

core::Run& start(core::Communicator& communicator, DiscoverAlgorithm algorithm, const Discovery& discovery,
                 const CollectiveCall& call, const void* send, void* recv, DiscoverStep::Begin begin) {
  const char* const name = discover_algorithm(algorithm, communicator.size(), discovery.block_bytes).name;
  const std::string words = communicator.compares_calls()
                                ? fmt::format("discover ({}), blocks of {} bytes", name, discovery.block_bytes)
                                : std::string();
  return core::in_order(communicator, [&]() -> core::Run& {
    const core::Lock lock(communicator.engine());
    return communicator.start(
        static_cast<std::uint64_t>(Call::discover),
        [&](core::CallShape& shape) {
          shape.add(static_cast<std::uint64_t>(algorithm));
          shape.add(static_cast<std::uint64_t>(call.bytes));
        },
        buffers(send, recv),
        [&] { return source_of(communicator, name, call, begin == DiscoverStep::Begin::when_released); }, {}, words);
  });
}

}  // namespace

DiscoverStep::DiscoverStep(const std::shared_ptr<core::Communicator>& communicator, DiscoverAlgorithm algorithm,
                           const Discovery& discovery, const CollectiveCall& call, const void* send, void* recv,
                           Begin begin)
    : communicator_(communicator), run_(start(*communicator, algorithm, discovery, call, send, recv, begin)) {
  const core::Lock lock(communicator_->engine());
  place_ = run_.place();
}

DiscoverStep::~DiscoverStep() {
  if (!done()) give_up({make_error_code(Errc::cancelled), "discover: this rank has given up"});
  {
    const core::Lock lock(communicator_->engine());
    run_.let_go();
  }
  communicator_->engine().hand_over_progress();
}

void DiscoverStep::release() {
  const core::Lock lock(communicator_->engine());
  run_.take_off_hold();
}

void DiscoverStep::give_up(const Status& reason) {
  {
    const core::Lock lock(communicator_->engine());
    run_.abandon_for(communicator_->scope().given_up_for, reason);
  }
  core::wait(run_);
}

void DiscoverStep::complete() {
  core::finish(run_);
  if (!done()) throw Error(Errc::cancelled, core::ended_by_fork().message);
  if (const Status& status = run_.status(); !status.ok()) throw Error(status.errc(), status.message);
}

}  // namespace fab::collectives
