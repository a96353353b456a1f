#include "collectives/teaching/array.h"

#include <algorithm>

#include "collectives/building_blocks/gathered.h"
#include "collectives/building_blocks/vector.h"

namespace fab::collectives {

namespace {

/// Whether extent^dimensions <= ranks.
bool fits(int extent, int ranks, int dimensions) {
  std::int64_t product = 1;
  for (int i = 0; i < dimensions; ++i) product *= extent;
  return product <= ranks;
}

/// Lines of `extent` places; in each place are `unit` ranks, whose blocks lie together.
struct Line {
  int extent;
  int unit;
};

void exchange_along(const Line& line, ScheduleBuilder& builder, const CollectiveCall& call, const Gathered& blocks) {
  const int place = call.rank / line.unit % line.extent;
  const int start = call.rank / line.unit / line.extent * line.extent * line.unit;
  const bool has_left = place > 0;
  const bool has_right = place + 1 < line.extent;
  const auto exists = [&](int other) { return other >= 0 && other < line.extent; };
  const auto first = [&](int other) { return start + other * line.unit; };
  const auto recv = [&](bool side, Rank from, int step, int other) {
    if (side && exists(other)) builder.recv(from, slot_of_step(step), blocks.room(first(other), line.unit));
    builder.round();
  };
  const auto send = [&](bool side, Rank to, int step, int other) {
    if (side && exists(other)) builder.send(to, slot_of_step(step), blocks.held(first(other), line.unit));
    builder.round();
  };
  const Rank left = call.rank - line.unit;
  const Rank right = call.rank + line.unit;
  const bool black = place % 2 == 1;
  for (int step = 1; step < line.extent; ++step) {
    if (black) recv(has_left, left, step, place - step);
    send(has_right, right, step, place - step + 1);
    if (!black) recv(has_left, left, step, place - step);
    if (black) recv(has_right, right, step, place + step);
    send(has_left, left, step, place + step - 1);
    if (!black) recv(has_right, right, step, place + step);
  }
}

}  // namespace

std::vector<int> array_extents(int ranks, int dimensions) {
  if (dimensions == 1) return {ranks};
  int extent = 2;
  while (fits(extent + 1, ranks, dimensions)) ++extent;
  for (; extent > 1; --extent) {
    if (ranks % extent != 0 || !fits(extent, ranks, dimensions)) continue;
    std::vector<int> others = array_extents(ranks / extent, dimensions - 1);
    if (others.empty()) continue;
    others.insert(std::upper_bound(others.begin(), others.end(), extent), extent);
    return others;
  }
  return {};
}

void allgather_on_array(int dimensions, ScheduleBuilder& builder, const CollectiveCall& call) {
  const Gathered blocks(builder, call);
  const std::vector<int> extents = array_extents(call.ranks, dimensions);
  int unit = 1;
  for (auto extent = extents.rbegin(); extent != extents.rend(); ++extent) {
    exchange_along({*extent, unit}, builder, call, blocks);
    unit *= *extent;
  }
}

}  // namespace fab::collectives
