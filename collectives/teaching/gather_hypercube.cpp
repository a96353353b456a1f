// Gather on the hypercube, whole blocks (gather_hypercube.h). Rank counts: any. P - 1 steps at the root; rank i passes
// on the blocks of its subtree, so it has scratch for two blocks, however many ranks there are below it.
#include "collectives/teaching/gather_hypercube.h"

#include <algorithm>
#include <bit>

#include "collectives/building_blocks/gathered.h"
#include "collectives/building_blocks/tree.h"
#include "collectives/building_blocks/vector.h"

namespace fab::collectives {

namespace {

/// One rank's part: what passes through it is numbered, block by block from its own on, packet by packet.
class Passage {
 public:
  Passage(std::size_t packet_bytes, ScheduleBuilder& builder, const CollectiveCall& call)
      : builder_(builder),
        call_(call),
        self_(call.relative()),
        packet_bytes_(packet_bytes),
        packets_((call.bytes + packet_bytes - 1) / packet_bytes) {}

  /// To the root, to where the blocks belong.
  void receive_all() {
    const Gathered blocks(builder_, call_);
    std::vector<Vector> rooms;
    for (std::size_t number = packets_; number < numbers(); ++number) {
      const auto room = [&] { return blocks.room(absolute(relative(number))); };
      if (number % packets_ == 0) rooms.push_back(room_for(builder_, room()));
      receive(number, part(rooms.back(), number));
    }
    for (std::size_t i = 0; i < rooms.size(); ++i)
      unpack(builder_, rooms[i], blocks.room(absolute(static_cast<int>(i) + 1)));
  }

  void pass_on(int parent) {
    const Vector own = packed(builder_, own_block(call_));
    const std::size_t longest = std::min(packet_bytes_, call_.bytes);
    const bool has_children = numbers() > packets_;
    const Vector halves[] = {has_children ? scratch_vector(builder_, longest) : Vector{},
                             has_children ? scratch_vector(builder_, longest) : Vector{}};
    const auto place = [&](std::size_t number) {
      return number < packets_ ? part(own, number) : halves[number % 2].part(0, packet_size(number));
    };
    for (std::size_t number = 0; number < numbers(); ++number) {
      const std::size_t next = number + 1;
      if (next >= packets_ && next < numbers()) post_receive(next, place(next));
      builder_.send(absolute(parent), slot(number), place(number));
      builder_.round();
    }
  }

 private:
  [[nodiscard]] int absolute(int relative) const { return (relative + call_.root) % call_.ranks; }
  [[nodiscard]] std::size_t numbers() const {
    return static_cast<std::size_t>(binomial_size(self_, call_.ranks)) * packets_;
  }
  /// Whose block it is.
  [[nodiscard]] int relative(std::size_t number) const { return self_ + static_cast<int>(number / packets_); }
  [[nodiscard]] std::size_t packet_begin(std::size_t number) const { return number % packets_ * packet_bytes_; }
  [[nodiscard]] std::size_t packet_size(std::size_t number) const {
    return std::min(packet_bytes_, call_.bytes - packet_begin(number));
  }
  [[nodiscard]] Block part(const Vector& block, std::size_t number) const {
    return block.part(packet_begin(number), packet_size(number));
  }
  static std::uint32_t slot(std::size_t number) { return slot_of_step(static_cast<int>(number % 256)); }

  void post_receive(std::size_t number, const Block& place) {
    const auto distance = static_cast<unsigned>(relative(number) - self_);
    const unsigned child = std::bit_floor(distance);  // counted from this rank
    builder_.recv(absolute(self_ + static_cast<int>(child)), slot(number - child * packets_), place);
  }
  void receive(std::size_t number, const Block& place) {
    post_receive(number, place);
    builder_.round();
  }

  ScheduleBuilder& builder_;
  const CollectiveCall& call_;
  const int self_;
  const std::size_t packet_bytes_;
  const std::size_t packets_;  ///< of a block
};

}  // namespace

void gather_on_hypercube(std::size_t packet_bytes, ScheduleBuilder& builder, const CollectiveCall& call) {
  Passage passage(packet_bytes, builder, call);
  const auto parent = binomial_tree(call.relative(), call.ranks).parent;
  parent ? passage.pass_on(*parent) : passage.receive_all();
}

void gather_hypercube(ScheduleBuilder& builder, const CollectiveCall& call) {
  gather_on_hypercube(call.bytes, builder, call);
}

}  // namespace fab::collectives
