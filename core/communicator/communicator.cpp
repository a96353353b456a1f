#include "core/communicator/communicator.h"

#include <fmt/core.h>

#include <limits>
#include <new>
#include <optional>
#include <set>
#include <utility>

#include "core/one_sided/one_sided.h"

namespace fab::core {

namespace {

/// One for messages, one for what one-sided messages need to know beforehand, and one for comparing calls.
constexpr std::uint64_t tags_of_persistent(bool compares_calls) noexcept { return compares_calls ? 3 : 2; }

/// Null: the context is closed, which is no matter of arguments.
std::optional<std::string> reason_of_refusal() {
  try {
    throw;
  } catch (const Error& error) {
    return error.errc() == Errc::cancelled ? std::nullopt : std::optional<std::string>(error.what());
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "unknown exception";
  }
}

}  // namespace

Communicator::Communicator(std::shared_ptr<Context> context, Group group, Rank rank, std::optional<ContextId> id)
    : Membership(*context, std::move(group), rank, id),
      context_(std::move(context)),
      next_sequence_(context_->config().sequence_start),
      compares_calls_(context_->config().check && size() > 1),
      plans_(context_->config().plan_cache) {}

// Perhaps under the engine's lock, and perhaps not: so that is left to the engine's next progress.
Communicator::~Communicator() {
  engine_lock.assert_held();  // no thread uses it any more
  if (match_queues() == nullptr || engine().halted()) return;
  try {
    engine().enqueue([context = context_.get(), id = context_id()] {
      engine_lock.assert_held();
      context->point_to_point().communicator_ended(id);
    });
  } catch (const std::bad_alloc&) {
    // The queues stay until the context ends.
  }
}

std::shared_ptr<Communicator> Communicator::world(std::shared_ptr<Context> context) {
  const JobInfo& job = context->job();
  return std::make_shared<Communicator>(std::move(context), Group::range(0, job.size), job.rank, ContextId{0, 0});
}

void Communicator::set_topology(Topology topology) {
  neighborhood_ = fab::neighborhood(topology, rank());
  topology_ = std::move(topology);
}

void Communicator::set_context_id(ContextId id) {
  engine().enqueue([self = shared_from_this(), this, id] {
    engine_lock.assert_held();
    name(id);
    for (const auto& [place, reason] : take_refused()) refuse_call(place, reason);
  });
}

// Peers need not be told of refused calls: theirs fail as well.
void Communicator::refuse_context_id(Status reason) {
  engine().enqueue([self = shared_from_this(), this, reason = std::move(reason)] {
    engine_lock.assert_held();
    refuse(reason);
    static_cast<void>(take_refused());
  });
}

CommitOptions Communicator::commit_options() const {
  return {.combine_bytes = context_->config().combine_bytes, .combine_bytes_of = [this](Rank peer) {
            const bool near = context_->peers().is_near(world_rank(peer));
            return near ? std::size_t{0} : std::numeric_limits<std::size_t>::max();
          }};
}

void Communicator::check_open(const Plan& plan) const {
  if (context_->closed())
    throw Error(Errc::cancelled, fmt::format("{}: the context is closed", plan.schedule().name()));
}

Run& Communicator::compare(const CalledAs& call) {
  if (call_check_ == nullptr) call_check_ = std::make_unique<CallCheck>(*this);
  Run& run = call_check_->prepare(call);
  run_started();
  run.start();
  return run;
}

void Communicator::compare(const CalledAs& call, Run& run) {
  Run& check = compare(call);
  Run& closing = call_check_->prepare_closing(call.sequence_tag);
  run_started();  // until it has ended
  run.begin_after(check, closing, *call_check_);
}

void Communicator::call_refused(Order order) noexcept try {
  const std::optional<std::string> reason = reason_of_refusal();
  if (!reason) return;
  {
    const Lock lock(engine());
    if (context_->closed() || std::exchange(call_again_, false)) return;
    if (order == Order::persistent) {
      refuse_call(
          persistent_place(std::exchange(next_persistent_, next_persistent_ + tags_of_persistent(compares_calls_))),
          *reason);
    } else if (compares_calls_) {
      compare({.words = *reason,
               .place = fmt::format("call {}", ++calls_),
               .sequence_tag = context_->tags().sequence(next_sequence_++),
               .refused = true})
          .let_go();
      ++next_sequence_;
    } else {
      refuse_call(next_sequence_++, *reason);
    }
  }
  engine().hand_over_progress();
} catch (const std::exception& error) {
  context_->log().write(LogLevel::warn, "a call was refused, and this rank cannot tell its peers: {}", error.what());
}

void Communicator::refuse_call(std::uint64_t place, const std::string& reason) {
  if (size() == 1) return;
  if (has_context_id()) return context_->refusals().add({context_id(), place}, reason);
  if (refused_.empty()) {
    engine().activated();
  }
  refused_.emplace_back(place, reason);
}

Communicator::RefusedCalls Communicator::take_refused() {
  if (refused_.empty()) return {};
  engine().deactivated();
  return std::exchange(refused_, {});
}

Run& Communicator::make_persistent(PlanSource source, std::span<std::byte* const> bases, const UserReduction& user,
                                   std::string_view words) {
  const std::uint64_t limit = context_->tags().max_in_flight() / tags_of_persistent(compares_calls_);
  call_again_ = persistent_ >= limit;
  if (call_again_)
    throw Error(Errc::no_resources,
                fmt::format("{}: this communicator has {} persistent exchanges; the maximum is {}: free some first, or "
                            "duplicate the communicator",
                            source.schedule.name(), persistent_, limit));
  const TagFormat& tags = context_->tags();
  const std::uint64_t number = std::exchange(next_persistent_, next_persistent_ + tags_of_persistent(compares_calls_));
  std::string name(words.empty() ? source.schedule.name() : words);
  Run& run = make_retired(std::move(source), Plan::Use::persistent_run, bases, tags.persistent(number), user);
  run.place_at(persistent_place(number));
  try {
    run.hold_memory();
    if (compares_calls_)
      run.call_as({.words = std::move(name),
                   .place = fmt::format("persistent exchange {}", number / tags_of_persistent(compares_calls_) + 1),
                   .sequence_tag = tags.persistent(number + 2)});
    if (run.plan().channel_count() > 0)
      run.set_written_messages(std::make_unique<OneSided>(
          run, tags.persistent(number + 1),
          [this](Schedule control_messages, std::uint64_t tag, const std::function<void(Run&)>& fill) {
            engine_lock.assert_held();
            Run& telling = make_retired(std::move(control_messages), Plan::Use::runs, {}, tag);
            fill(telling);
            start_persistent(telling);
          }));
    make_contact(run.plan(), number);
  } catch (...) {
    run.let_go();
    next_persistent_ = number;  // call_refused uses it up
    throw;
  }
  ++persistent_;
  return run;
}

Run& Communicator::prepare_persistent(Schedule schedule, std::span<std::byte* const> bases) {
  if (context_->closed()) throw Error(Errc::cancelled, fmt::format("{}: the context is closed", schedule.name()));
  Run& run =
      make_retired(std::move(schedule), Plan::Use::runs, bases, context_->tags().persistent(next_persistent_ + 1));
  run.place_at(persistent_place(next_persistent_));
  start_persistent(run);
  return run;
}

// Providers connect with the first message, which takes some of them seconds. So a message without bytes goes along
// each edge to another node, unless memory is told along it anyway. No caller waits for them, or learns how they end.
// Where a peer refuses the exchange they do not come.
void Communicator::make_contact(const Plan& plan, std::uint64_t number) {
  const Schedule& schedule = plan.schedule();
  std::set<std::pair<OperationKind, Rank>> edges;
  for (std::size_t round = 0; round < plan.round_count(); ++round)
    for (const PlannedOperation& operation : plan.messages(round)) {
      if (operation.channel != PlannedOperation::kNoChannel) continue;
      if (context_->peers().is_near(operation.peer->world_rank)) continue;
      edges.emplace(operation.kind, schedule.peers()[operation.record->peer]);
    }
  if (edges.empty() || context_->closed()) return;
  ScheduleBuilder builder(fmt::format("{}, first contact", schedule.name()), size());
  const Block nothing{BufferId::scratch, 0, Layout()};
  for (const auto& [kind, rank] : edges)
    kind == OperationKind::send ? builder.send(rank, 0, nothing) : builder.recv(rank, 0, nothing);
  Run& run = make_retired(builder.commit(), Plan::Use::runs, {}, context_->tags().persistent(number + 1));
  run.place_at(persistent_place(number));
  start_persistent(run);
  run.let_go();
}

Run& Communicator::make_retired(PlanSource source, Plan::Use use, std::span<std::byte* const> bases,
                                std::uint64_t sequence_tag, const UserReduction& user) {
  auto pool = std::make_unique<RunPool>(*this, std::move(source), use);
  Run& run = pool->acquire();
  run.prepare(bases, sequence_tag, user);
  plans_.retire(std::move(pool));
  return run;
}

void Communicator::give_back_persistent(Run& run) noexcept {
  --persistent_;
  run.let_go();
}

void Communicator::start_persistent(Run& run) {
  check_open(run.plan());
  if (const CalledAs* call = run.called_as()) compare(*call, run);
  run_started();
  run.start();
}

Run& Communicator::start(RunPool& pool, std::span<std::byte* const> bases, const UserReduction& user,
                         std::string_view words) {
  check_open(pool.plan());
  const TagFormat& tags = context_->tags();
  const std::uint64_t limit = tags.max_in_flight();
  call_again_ = in_flight() >= limit;
  if (call_again_)
    throw Error(Errc::no_resources, fmt::format("{}: {} calls are in flight on this communicator; the maximum is {}: "
                                                "complete some first",
                                                pool.plan().schedule().name(), in_flight(), limit));
  Run& run = pool.acquire();
  if (compares_calls_)
    compare({.words = std::string(words.empty() ? pool.plan().schedule().name() : words),
             .place = fmt::format("call {}", ++calls_),
             .sequence_tag = tags.sequence(next_sequence_++)},
            run);
  run_started();
  run.place_at(next_sequence_);
  run.prepare(bases, tags.sequence(next_sequence_++), user);
  run.start();
  return run;
}

Run& Communicator::start(std::unique_ptr<RunPool> pool, std::span<std::byte* const> bases, const UserReduction& user,
                         std::string_view words) {
  Run& run = start(*pool, bases, user, words);
  plans_.retire(std::move(pool));
  return run;
}

}  // namespace fab::core
