#include "core/communicator.h"

#include <fmt/format.h>

#include "core/context.h"

namespace fab::core {

Communicator::Communicator(std::shared_ptr<Context> context, Group group, Rank rank, std::optional<ContextId> id)
    : context_(std::move(context)),
      group_(std::move(group)),
      rank_(rank),
      next_sequence_(context_->config().sequence_start),
      plans_(context_->config().plan_cache) {
  if (!id) return;
  id_ = id;
  context_tag_ = context_->tags().context(*id);
}

Engine& Communicator::engine() const noexcept { return context_->engine(); }

void Communicator::set_topology(Topology topology) {
  neighborhood_ = fab::neighborhood(topology, rank_);
  topology_ = std::move(topology);
}

void Communicator::set_context_id(ContextId id) {
  engine().enqueue([self = shared_from_this(), id] {
    self->id_ = id;
    self->context_tag_ = self->context().tags().context(id);
  });
}

void Communicator::refuse_context_id(Status reason) {
  engine().enqueue([self = shared_from_this(), reason = std::move(reason)] { self->refusal_ = reason; });
}

FrameWord Communicator::call_word(const Schedule& schedule) const noexcept {
  return core::call_word(schedule.name(), context_->config().check);
}

CommitOptions Communicator::commit_options() const {
  return {.combine_bytes = context_->config().combine_bytes,
          .combines = [this](Rank peer) { return !context_->peers().is_near(world_rank(peer)); }};
}

void Communicator::check_open(const Plan& plan) const {
  if (context_->closed())
    throw Error(Errc::cancelled, fmt::format("{}: the context is closed", plan.schedule().name()));
}

Run& Communicator::make_lasting(Schedule schedule, std::span<std::byte* const> bases) {
  const std::uint64_t limit = context_->tags().max_in_flight();
  if (lasting_ >= limit)
    throw Error(
        Errc::no_resources,
        fmt::format("{}: this communicator has {} persistent exchanges; at most {} can be told apart: free some "
                    "first, or duplicate it",
                    schedule.name(), lasting_, limit));
  auto plan = std::make_unique<Plan>(*this, std::move(schedule));
  Run& run = plan->acquire();
  run.prepare(bases, context_->tags().lasting(next_lasting_++));
  plans_.retire(std::move(plan));
  ++lasting_;
  return run;
}

void Communicator::give_back_lasting(Run& run) noexcept {
  --lasting_;
  run.let_go();
}

void Communicator::start_lasting(Run& run) {
  check_open(run.plan());
  ++in_flight_;
  run.start();
}

Run& Communicator::start(Plan& plan, std::span<std::byte* const> bases) {
  check_open(plan);
  const std::uint64_t limit = context_->tags().max_in_flight();
  if (in_flight_ >= limit)
    throw Error(Errc::no_resources,
                fmt::format("{}: {} calls are in flight on this communicator; at most {} can be told "
                            "apart: complete some first",
                            plan.schedule().name(), in_flight_, limit));
  Run& run = plan.acquire();
  ++in_flight_;
  run.prepare(bases, context_->tags().sequence(next_sequence_++));
  run.start();
  return run;
}

Run& Communicator::start(std::unique_ptr<Plan> plan, std::span<std::byte* const> bases) {
  Run& run = start(*plan, bases);
  plans_.retire(std::move(plan));
  return run;
}

}  // namespace fab::core
