// All-to-all of short equal blocks (Bruck, Ho, Kipnis, Upfal, Weathersby, Efficient Algorithms for All-to-All
// Communications in Multiport Message-Passing Systems, 1997). Rank counts: any. Block j of rank i goes j - i ranks up,
// which is its distance d; in step k it goes 2^k ranks up if d has bit k. ceil(log2 P) steps, with about half of the
// blocks in each.
#include <bit>
#include <vector>

#include "collectives/building_blocks/vector.h"
#include "collectives/calls/call.h"

namespace fab::collectives {

namespace {

/// All blocks by their distance, twice: a block that is received comes to the half in which the one that is sent for it
/// does not lie.
class Blocks {
 public:
  Blocks(ScheduleBuilder& builder, const CollectiveCall& call)
      : ranks_(call.ranks),
        bytes_(call.bytes),
        first_(builder.scratch(2 * static_cast<std::size_t>(call.ranks) * call.bytes)) {}

  /// Where the block of a distance lies after the steps for the distance's bits below `bit`.
  [[nodiscard]] Block at(int distance, int bit) const {
    return {BufferId::scratch, first_ + displacement(distance, moves_before(distance, bit)),
            Layout::contiguous(bytes_)};
  }
  /// Those that move in the step for `bit`: where they lie, and where what comes in their stead will lie.
  [[nodiscard]] Block sent(int bit) const { return moving(bit, 0); }
  [[nodiscard]] Block received(int bit) const { return moving(bit, 1); }

 private:
  static int moves_before(int distance, int bit) {
    return std::popcount(static_cast<unsigned>(distance) & static_cast<unsigned>(bit - 1));
  }
  [[nodiscard]] std::ptrdiff_t displacement(int distance, int moves) const {
    return static_cast<std::ptrdiff_t>(bytes_) * (distance + moves % 2 * ranks_);
  }
  [[nodiscard]] Block moving(int bit, int moves) const {
    std::vector<std::ptrdiff_t> displacements;
    for (int distance = bit; distance < ranks_; ++distance)
      if ((distance & bit) != 0) displacements.push_back(displacement(distance, moves_before(distance, bit) + moves));
    const std::vector<std::size_t> lengths(displacements.size(), 1);
    return {BufferId::scratch, first_, Layout::indexed(lengths, displacements, Layout::contiguous(bytes_))};
  }

  int ranks_;
  std::size_t bytes_;
  std::ptrdiff_t first_;
};

}  // namespace

void alltoall_bruck(ScheduleBuilder& builder, const CollectiveCall& call) {
  const int ranks = call.ranks;
  const BlockList& from = call.in_place ? call.recv : call.send;
  const BufferId from_buffer = call.in_place ? BufferId::recv : BufferId::send;
  const auto index = [&](int rank) { return static_cast<std::size_t>((rank + ranks) % ranks); };
  const Blocks blocks(builder, call);
  for (int distance = 0; distance < ranks; ++distance)
    builder.copy(from[index(call.rank + distance)].in(from_buffer), blocks.at(distance, 1));
  builder.round();
  int bit = 1;
  for (int step = 0; bit < ranks; ++step, bit *= 2) {
    builder.recv(static_cast<Rank>(index(call.rank - bit)), slot_of_step(step), blocks.received(bit));
    builder.send(static_cast<Rank>(index(call.rank + bit)), slot_of_step(step), blocks.sent(bit));
    builder.round();
  }
  for (int distance = 0; distance < ranks; ++distance)
    builder.copy(blocks.at(distance, bit), call.recv[index(call.rank - distance)].in(BufferId::recv));
}

}  // namespace fab::collectives
