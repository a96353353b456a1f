#include "collectives/bcast_binary.h"

#include "collectives/buffers.h"
#include "collectives/calls.h"

namespace fab::collectives {

Schedule build_bcast_binary(Rank self, int ranks, Rank root, std::size_t bytes) {
  const Block block{BufferId::recv, 0, Layout::contiguous(bytes)};
  const auto absolute = [&](int relative) { return (relative + root) % ranks; };
  const int relative = (self - root + ranks) % ranks;
  ScheduleBuilder builder("bcast", ranks);
  if (relative > 0) {
    builder.recv(absolute((relative - 1) / 2), 0, block);
    builder.round();
  }
  for (const int child : {2 * relative + 1, 2 * relative + 2})
    if (child < ranks) builder.send(absolute(child), 0, block);
  return builder.commit();
}

core::Run& start_bcast(core::Communicator& communicator, void* buffer, std::size_t bytes, Rank root) {
  core::CallShape& shape = communicator.shape_for(static_cast<std::uint64_t>(Call::bcast));
  shape.add(static_cast<std::uint64_t>(bytes));
  shape.add(static_cast<std::int64_t>(root));
  const auto bases = buffers(nullptr, buffer);
  return communicator.start(bases,
                            [&] { return build_bcast_binary(communicator.rank(), communicator.size(), root, bytes); });
}

}  // namespace fab::collectives
