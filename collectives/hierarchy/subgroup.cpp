#include "collectives/hierarchy/subgroup.h"

#include <algorithm>
#include <limits>

#include "collectives/choice/select.h"

namespace fab::collectives {

namespace {

/// The messages of three steps have different slots, where none of them has more.
constexpr std::uint32_t kSlotsOfStep = 85;

/// Rules see the bytes of all subgroups that share a node's network, but not more than these: for more they choose
/// algorithms with many steps, whose parts would be short here.
constexpr std::size_t kMostShared = 512 << 10;

std::size_t seen_by_rules(std::size_t bytes, int at_once) {
  if (bytes >= kMostShared) return bytes;
  return std::min(bytes * static_cast<std::size_t>(at_once), kMostShared);
}

PartPlace::Begin begin_of(const Vector& vector) { return {vector.buffer, vector.offset}; }

}  // namespace

void Subgroup::perform(CollectiveCall step, const PartPlace::Begin& send, const PartPlace::Begin& recv) {
  step.rank = ranks_.self;
  step.ranks = ranks_.count;
  step.one_node = ranks_.one_node;
  step.checked = call_.checked;
  step.rules = call_.rules;
  if (step.bytes == 0 && step.collective != Collective::barrier) return;
  ScheduleBuilder part(to_string(step.collective), step.ranks);
  CollectiveCall seen = step;
  seen.bytes = seen_by_rules(step.bytes, ranks_.at_once);
  select_by_rules(seen).build(part, step);
  builder_.append(
      part, {.rank_of = ranks_.rank_of,
             .first_slot = steps_++ * kSlotsOfStep,
             .send = send,
             .recv = recv,
             .most_segment_bytes = ranks_.one_node ? kNodeSegmentBytes : std::numeric_limits<std::size_t>::max()});
}

void Subgroup::perform(Collective collective, int root, const Vector& own, const Vector& result) {
  const Layout vector = Layout::contiguous(own.bytes);
  perform({.collective = collective,
           .root = root,
           .in_place = own == result,
           .bytes = own.bytes,
           .send = BlockList::regular(vector, 1, 1),
           .recv = BlockList::regular(vector, 1, 1),
           .operation = call_.operation},
          begin_of(own), begin_of(result));
}

void Subgroup::barrier() { perform({.collective = Collective::barrier}, {}, {}); }

void Subgroup::bcast(int root, const Vector& data) { perform(Collective::bcast, root, data, data); }

void Subgroup::reduce(int root, const Vector& own, const Vector& result) {
  perform(Collective::reduce, root, own, result);
}

void Subgroup::allreduce(const Vector& own, const Vector& result) { perform(Collective::allreduce, 0, own, result); }

void Subgroup::scan(const Vector& own, const Vector& result) { perform(Collective::scan, 0, own, result); }

void Subgroup::exscan(const Vector& own, const Vector& result) { perform(Collective::exscan, 0, own, result); }

}  // namespace fab::collectives
