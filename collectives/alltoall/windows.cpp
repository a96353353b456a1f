#include "collectives/alltoall/windows.h"

#include <algorithm>
#include <array>
#include <vector>

namespace fab::collectives {

namespace {

using Window = std::vector<Rank>;

std::vector<Window> windows_of(const CollectiveCall& call, std::size_t width) {
  std::vector<Window> windows;
  for (int step = 0; step < call.ranks; ++step) {
    const Rank partner = (step - call.rank + call.ranks) % call.ranks;
    if (partner == call.rank) continue;
    if (windows.empty() || windows.back().size() == width) windows.emplace_back();
    windows.back().push_back(partner);
  }
  return windows;
}

/// What the partners of a window get. In place that is copied aside, while the window before is exchanged.
class Outgoing {
 public:
  Outgoing(ScheduleBuilder& builder, const CollectiveCall& call, const std::vector<Window>& windows)
      : builder_(builder), call_(call) {
    if (!call.in_place) return;
    std::size_t most = 0;
    for (const Window& window : windows) {
      std::size_t bytes = 0;
      for (const Rank partner : window) bytes += call.recv[static_cast<std::size_t>(partner)].bytes();
      most = std::max(most, bytes);
    }
    for (std::ptrdiff_t& area : aside_) area = builder.scratch(most);
  }

  [[nodiscard]] std::vector<Block> of(const Window& window) {
    std::vector<Block> blocks;
    std::ptrdiff_t aside = aside_[windows_++ % aside_.size()];
    for (const Rank partner : window) {
      const auto index = static_cast<std::size_t>(partner);
      if (!call_.in_place) {
        blocks.push_back(call_.send[index].in(BufferId::send));
        continue;
      }
      const Block block = call_.recv[index].in(BufferId::recv);
      blocks.push_back({BufferId::scratch, aside, Layout::contiguous(block.layout.size())});
      builder_.copy(block, blocks.back());
      aside += static_cast<std::ptrdiff_t>(block.layout.size());
    }
    return blocks;
  }

 private:
  ScheduleBuilder& builder_;
  const CollectiveCall& call_;
  std::array<std::ptrdiff_t, 2> aside_{};
  std::size_t windows_ = 0;
};

}  // namespace

void exchange_in_windows(ScheduleBuilder& builder, const CollectiveCall& call, std::size_t width) {
  const auto moves = [&](const Block& block) { return block.layout.size() > 0 || call.checked; };
  const std::vector<Window> windows = windows_of(call, width);
  Outgoing outgoing(builder, call, windows);
  std::vector<Block> blocks;
  if (!windows.empty()) blocks = outgoing.of(windows.front());
  builder.round();
  if (!call.in_place) {
    const auto self = static_cast<std::size_t>(call.rank);
    builder.copy(call.send[self].in(BufferId::send), call.recv[self].in(BufferId::recv));
  }
  for (std::size_t w = 0; w < windows.size(); ++w) {
    for (std::size_t i = 0; i < windows[w].size(); ++i) {
      const Rank partner = windows[w][i];
      const Block incoming = call.recv[static_cast<std::size_t>(partner)].in(BufferId::recv);
      if (moves(incoming)) builder.recv(partner, 0, incoming);
      if (moves(blocks[i])) builder.send(partner, 0, blocks[i]);
    }
    if (w + 1 < windows.size()) blocks = outgoing.of(windows[w + 1]);
    builder.round();
  }
}

}  // namespace fab::collectives
