#include "collectives/neighbor/cart_shift_xchg.h"

#include <fmt/core.h>

#include "collectives/calls/buffers.h"
#include "collectives/calls/call_kinds.h"
#include "core/context.h"
#include "fab/error.h"

namespace fab::collectives {

namespace {

constexpr const char* kShiftName = "cart_shift_xchg";

void describe(const BlockView& block, core::CallShape& shape) {
  shape.add(static_cast<std::int64_t>(block.offset));
  shape.add(static_cast<std::uint64_t>(block.count));
  shape.add(*block.element);
}

Block aside(ScheduleBuilder& builder, const Block& block) {
  const std::size_t bytes = block.layout.size();
  const Block copy{BufferId::scratch, builder.scratch(bytes), Layout::contiguous(bytes)};
  builder.copy(block, copy);
  builder.round();
  return copy;
}

/// The slot of a direction, as in a neighbour exchange.
std::uint32_t slot_of(int dimension, int displacement) {
  return static_cast<std::uint32_t>(2 * dimension + (displacement < 0 ? 1 : 0));
}

const Cartesian& grid_of(const core::Communicator& communicator) {
  const Topology* topology = communicator.topology();
  const Cartesian* grid = topology == nullptr ? nullptr : std::get_if<Cartesian>(topology);
  if (grid == nullptr)
    throw Error(Errc::invalid_topology,
                fmt::format("{}: the communicator has {}; a Cartesian topology is needed", kShiftName,
                            topology == nullptr ? "no topology" : to_string(*topology)));
  return *grid;
}

/// What all ranks must agree about, where calls are compared. A block goes along the line that it is for alone.
std::string words_of(const core::Communicator& communicator, const CartShiftXchg& call) {
  if (!communicator.compares_calls()) return {};
  return fmt::format("{}(dimension {}, displacement {})", kShiftName, call.dimension, call.displacement);
}

}  // namespace

Schedule build_cart_shift_xchg(const Cartesian& grid, Rank self, const CartShiftXchg& call,
                               const CommitOptions& options) {
  const Cartesian::ShiftRanks shift = grid.shift(self, Dimension{call.dimension}, call.displacement);
  const std::uint32_t slot = slot_of(call.dimension, call.displacement);
  ScheduleBuilder builder(kShiftName, grid.size());
  const Block target = call.recv.in(BufferId::recv);
  if (shift.destination == self && call.in_place) return builder.commit(options);
  const Block source = !call.in_place      ? call.send.in(BufferId::send)
                       : shift.destination ? aside(builder, target)
                                           : Block{};
  if (shift.destination == self) {
    builder.copy(source, target);
    return builder.commit(options);
  }
  if (shift.source) builder.recv(*shift.source, slot, target);
  if (shift.destination) builder.send(*shift.destination, slot, source);
  return builder.commit(options);
}

core::Persistent make_cart_shift_xchg(std::shared_ptr<core::Communicator> communicator, const void* send, void* recv,
                                      const CartShiftXchg& call) {
  const Cartesian& grid = grid_of(*communicator);
  return {communicator,
          build_cart_shift_xchg(grid, communicator->rank(), call, communicator->commit_options()),
          buffers(send, recv),
          {},
          words_of(*communicator, call)};
}

core::Run& start_cart_shift_xchg(core::Communicator& communicator, const void* send, void* recv,
                                 const CartShiftXchg& call) {
  const Cartesian& grid = grid_of(communicator);
  const Call id = call.in_place ? Call::cart_shift_xchg_in_place : Call::cart_shift_xchg;
  const auto describe_call = [&call](core::CallShape& shape) {
    shape.add(static_cast<std::int64_t>(call.dimension));
    shape.add(static_cast<std::int64_t>(call.displacement));
    if (!call.in_place) describe(call.send, shape);
    describe(call.recv, shape);
  };
  const auto bases = buffers(send, recv);
  return communicator.start(
      static_cast<std::uint64_t>(id), describe_call, bases,
      [&] { return build_cart_shift_xchg(grid, communicator.rank(), call, communicator.commit_options()); }, {},
      words_of(communicator, call));
}

}  // namespace fab::collectives
