// Two patterns that tests of the simulated network run, as plain schedules: any collective would do.
#pragma once

#include <vector>

#include "core/communicator/communicator.h"
#include "fab/schedule.h"

namespace fab::test {

/// Broadcast of the receive buffer along a binary tree: relative rank i receives from (i - 1) / 2.
[[nodiscard]] inline Schedule tree_schedule(Rank self, int ranks, Rank root, std::size_t bytes) {
  const Block block{BufferId::recv, 0, Layout::contiguous(bytes)};
  const auto absolute = [&](int relative) { return (relative + root) % ranks; };
  const int relative = (self - root + ranks) % ranks;
  ScheduleBuilder builder("tree", ranks);
  if (relative > 0) {
    builder.recv(absolute((relative - 1) / 2), 0, block);
    builder.round();
  }
  for (const int child : {2 * relative + 1, 2 * relative + 2})
    if (child < ranks) builder.send(absolute(child), 0, block);
  return builder.commit();
}

/// Exchange with both neighbours on a ring: blocks 0 come from and go to the next rank, blocks 1 the previous one.
[[nodiscard]] inline Schedule ring_schedule(Rank self, int ranks, std::size_t bytes) {
  const auto block = [&](BufferId buffer, std::size_t index) {
    return Block{buffer, static_cast<std::ptrdiff_t>(index * bytes), Layout::contiguous(bytes)};
  };
  const Rank next = (self + 1) % ranks;
  const Rank previous = (self + ranks - 1) % ranks;
  ScheduleBuilder builder("ring", ranks);
  if (ranks == 1) {
    builder.copy(block(BufferId::send, 0), block(BufferId::recv, 1));
    builder.copy(block(BufferId::send, 1), block(BufferId::recv, 0));
    return builder.commit();
  }
  builder.recv(next, 1, block(BufferId::recv, 0));
  builder.recv(previous, 0, block(BufferId::recv, 1));
  builder.send(next, 0, block(BufferId::send, 0));
  builder.send(previous, 1, block(BufferId::send, 1));
  return builder.commit();
}

/// A tree, the data of all its ranks, and what must come of them.
class Tree {
 public:
  Tree(int ranks, Rank root, std::size_t bytes)
      : root_(root), bytes_(bytes), data_(static_cast<std::size_t>(ranks), std::vector<std::byte>(bytes)) {
    for (std::size_t i = 0; i < bytes; ++i) data_[index(root)][i] = static_cast<std::byte>(i * 7 + 1);
  }
  core::Run& start(core::Communicator& communicator) {
    const std::vector<std::byte*> bases{nullptr, data_[index(communicator.rank())].data()};
    const Schedule schedule = tree_schedule(communicator.rank(), communicator.size(), root_, bytes_);
    core::engine_lock.assert_held();
    return communicator.start(std::make_unique<core::RunPool>(communicator, schedule), bases);
  }
  /// The first rank that has not got what the root has; -1 if all have.
  [[nodiscard]] Rank wrong() const {
    for (std::size_t rank = 0; rank < data_.size(); ++rank)
      if (data_[rank] != data_[index(root_)]) return static_cast<Rank>(rank);
    return -1;
  }

 private:
  static std::size_t index(Rank rank) { return static_cast<std::size_t>(rank); }

  Rank root_;
  std::size_t bytes_;
  std::vector<std::vector<std::byte>> data_;
};

/// The same of an exchange on a ring.
class Ring {
 public:
  Ring(int ranks, std::size_t bytes)
      : bytes_(bytes),
        send_(static_cast<std::size_t>(ranks), std::vector<std::byte>(2 * bytes)),
        recv_(static_cast<std::size_t>(ranks), std::vector<std::byte>(2 * bytes)) {
    for (std::size_t rank = 0; rank < send_.size(); ++rank)
      for (std::size_t i = 0; i < 2 * bytes; ++i) send_[rank][i] = static_cast<std::byte>(rank * 31 + i * 5 + 1);
  }
  core::Run& start(core::Communicator& communicator) {
    const Schedule its = schedule(communicator.rank());
    core::engine_lock.assert_held();
    return communicator.start(std::make_unique<core::RunPool>(communicator, its), bases(communicator.rank()));
  }
  [[nodiscard]] Schedule schedule(Rank rank) const {
    return ring_schedule(rank, static_cast<int>(send_.size()), bytes_);
  }
  [[nodiscard]] std::vector<std::byte*> bases(Rank rank) {
    return {send_[static_cast<std::size_t>(rank)].data(), recv_[static_cast<std::size_t>(rank)].data()};
  }
  [[nodiscard]] Rank wrong() const {
    const std::size_t ranks = send_.size();
    const auto middle = static_cast<std::ptrdiff_t>(bytes_);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const auto& next = send_[(rank + 1) % ranks];
      const auto& previous = send_[(rank + ranks - 1) % ranks];
      const auto& got = recv_[rank];
      if (!std::equal(got.begin(), got.begin() + middle, next.begin() + middle) ||
          !std::equal(got.begin() + middle, got.end(), previous.begin()))
        return static_cast<Rank>(rank);
    }
    return -1;
  }

 private:
  std::size_t bytes_;
  std::vector<std::vector<std::byte>> send_;
  std::vector<std::vector<std::byte>> recv_;
};

}  // namespace fab::test
