#include "core/run/run_pool.h"

namespace fab::core {

RunPool::RunPool(Membership& membership, PlanSource source, Plan::Use use, Clock::time_point begun)
    : RunOwner(source.starts_on_hold),
      plan_(membership, std::move(source.schedule), use),
      ledger_(membership.runtime().ledger()),
      made_ns_(static_cast<std::uint64_t>(std::chrono::nanoseconds(Clock::now() - begun).count())),
      row_(ledger_.begin(*this, membership.in_ledger(), plan_.schedule().name(), source.algorithm, plan_.peers())) {}

RunPool::~RunPool() { ledger_.end(*this, row_); }

void RunPool::release(Run& run) noexcept {
  runs_.give_back(run);
  if (keeper_ != nullptr && !in_use()) keeper_->drop(*this);
}

void RunPool::add_to(OperationSums& sums) const noexcept {
  const PlannedAmounts amounts = plan_.amounts();
  sums.calls += starts;
  sums.ways.add(ways);
  sums.sent.add(amounts.sent, starts);
  sums.packed.add(amounts.packed, starts);
  sums.written.add(amounts.written, starts);
  sums.received.add(amounts.received, starts);
  sums.unpacked.add(amounts.unpacked, starts);
  ++sums.plans;
  sums.plans_ns += made_ns_;
  sums.longest_plan_ns = std::max(sums.longest_plan_ns, made_ns_);
  sums.waited.add(waited);
}

void RunPool::visit_received(const Ledger::VisitReceived& visit) const {
  plan_.visit_received([&visit, times = starts](const Peer& peer, const MessageAmounts& each) {
    MessageAmounts all;
    all.add(each, times);
    visit(peer.world_rank, all);
  });
}

}  // namespace fab::core
