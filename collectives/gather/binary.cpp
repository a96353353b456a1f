#include "collectives/gather/binary.h"

namespace fab::collectives {

namespace {

void append_subtree(Rank rank, int ranks, std::vector<Rank>& list) {
  if (rank >= ranks) return;
  list.push_back(rank);
  append_subtree(2 * rank + 1, ranks, list);
  append_subtree(2 * rank + 2, ranks, list);
}

}  // namespace

std::vector<Rank> gathered_ranks(Rank self, int ranks) {
  std::vector<Rank> list;
  append_subtree(self, ranks, list);
  return list;
}

Schedule build_gather_binary(Rank self, int ranks, const std::function<std::size_t(Rank)>& bytes) {
  ScheduleBuilder builder("gather", ranks);
  std::size_t end = bytes(self);
  for (const int child : {2 * self + 1, 2 * self + 2}) {
    if (child >= ranks) continue;
    std::size_t its_bytes = 0;
    for (const Rank rank : gathered_ranks(child, ranks)) its_bytes += bytes(rank);
    builder.recv(child, 0, {BufferId::recv, static_cast<std::ptrdiff_t>(end), Layout::contiguous(its_bytes)});
    end += its_bytes;
  }
  builder.round();
  if (self > 0) builder.send((self - 1) / 2, 0, {BufferId::recv, 0, Layout::contiguous(end)});
  return builder.commit();
}

}  // namespace fab::collectives
