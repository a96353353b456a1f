#include "support/overlap_subject.h"

#include <deque>
#include <stdexcept>

#include "support/batches.h"
#include "support/exchange.h"
#include "support/fab_forms.h"
#include "support/mpi_collectives.h"
#include "support/mpi_forms.h"

namespace bench {
namespace {

class NeighborSubject final : public OverlapSubject {
 public:
  NeighborSubject(const PatternOptions& pattern, MemoryKind memory)
      : neighbors_(pattern), fab_(neighbors_), memory_(memory) {
    if (pattern.pattern == Pattern::faces)
      throw std::runtime_error("--pattern faces: blocks of one shape only are measured here");
  }

  std::string unit() const override { return "bytes per neighbour"; }
  std::optional<FabPath> path() const override { return fab_.path(); }
  Row fields() const override {
    return {{"pattern", name_of(neighbors_.pattern())}, {"neighbors", neighbors_.count()}};
  }
  std::vector<NonblockingCall> calls(std::size_t bytes) override {
    exchange_.emplace(neighbors_, bytes, memory_);
    std::vector<NonblockingCall> all;
    if (auto fab = fab_.nonblocking(*exchange_)) {
      try_out(*fab, Order::fab, Placement::exact);
      all.push_back(*std::move(fab));
    }
    all.push_back(mpi_nonblocking(*exchange_));
    try_out(all.back(), Order::mpi, kCollectivePlacement);
    return all;
  }
  std::set<std::string> ways_taken() override { return fab_.ways_of_native(*exchange_); }

 private:
  void try_out(const NonblockingCall& call, Order order, Placement placement) {
    exchange_->fill();
    meet();
    call.start();
    call.wait();
    exchange_->check(order, placement, call.call);
  }

  Neighbors neighbors_;
  FabForms fab_;
  MemoryKind memory_;
  std::optional<Exchange> exchange_;
};

class CollectiveSubject final : public OverlapSubject {
 public:
  CollectiveSubject(Collective collective, MemoryKind memory, FabCollectives& fab)
      : collective_(collective), memory_(memory), fab_(fab) {}

  std::string unit() const override { return "bytes of the vector, or of the block of one rank"; }
  std::optional<FabPath> path() const override { return fab_.path(); }
  Row fields() const override { return {{"collective", name_of(collective_)}}; }
  std::vector<NonblockingCall> calls(std::size_t bytes) override {
    cases_.clear();
    CollectiveCase& one = cases_.emplace_back(collective_, bytes, memory_, Roots::first);
    std::vector<NonblockingCall> all;
    if (auto fab = fab_.nonblocking(one)) all.push_back(*std::move(fab));
    all.push_back(mpi_nonblocking(one));
    for (const NonblockingCall& call : all) {
      const auto make_call = [&call] {
        call.start();
        call.wait();
      };
      CollectiveCase::try_out(cases_, make_call, call.call);
    }
    return all;
  }
  std::set<std::string> ways_taken() override {
    const auto call = fab_.nonblocking(cases_.front());
    if (!call) return {};
    return fab_.ways_during(collective_, [&call] {
      call->start();
      call->wait();
    });
  }

 private:
  Collective collective_;
  MemoryKind memory_;
  FabCollectives& fab_;
  std::deque<CollectiveCase> cases_;  ///< one, of the latest size
};

}  // namespace

std::unique_ptr<OverlapSubject> neighbor_subject(const PatternOptions& pattern, MemoryKind memory) {
  return std::make_unique<NeighborSubject>(pattern, memory);
}

std::unique_ptr<OverlapSubject> collective_subject(Collective collective, MemoryKind memory, FabCollectives& fab) {
  return std::make_unique<CollectiveSubject>(collective, memory, fab);
}

}  // namespace bench
