// Discovery by a personalised exchange (PEX: Hoefler, Siebert, Lumsdaine, PPoPP 2010, section 4.1). Rank counts: any.
// An alltoall, in which each rank's block for another one begins with a byte that says whether that is a destination.
// Time and memory grow with P; on few ranks no other way is faster.
#include <algorithm>

#include "collectives/calls/exchange_calls.h"
#include "collectives/discover/discover.h"
#include "collectives/discover/step.h"

namespace fab::collectives {

namespace {

/// One record for each rank: whether there is a block, and the block.
class Records {
 public:
  Records(int ranks, std::size_t block_bytes)
      : record_bytes_(block_bytes + 1), bytes_(static_cast<std::size_t>(ranks) * record_bytes_) {}

  void put(Rank rank, const std::byte* block) {
    std::byte* const record = bytes_.data() + static_cast<std::size_t>(rank) * record_bytes_;
    *record = std::byte{1};
    std::copy_n(block, record_bytes_ - 1, record + 1);
  }
  /// Null: there is none.
  [[nodiscard]] const std::byte* find(Rank rank) const {
    const std::byte* const record = bytes_.data() + static_cast<std::size_t>(rank) * record_bytes_;
    return *record == std::byte{0} ? nullptr : record + 1;
  }

  [[nodiscard]] std::byte* data() noexcept { return bytes_.data(); }

 private:
  std::size_t record_bytes_;
  std::vector<std::byte> bytes_;
};

}  // namespace

Discovered discover_exchange(const std::shared_ptr<core::Communicator>& communicator, const Discovery& call) {
  const int ranks = communicator->size();
  Records out(ranks, call.block_bytes);
  Records in(ranks, call.block_bytes);
  for (std::size_t i = 0; i < call.destinations.size(); ++i) out.put(call.destinations[i], call.block(i));
  const Layout record = Layout::contiguous(call.block_bytes + 1);
  DiscoverStep step(communicator, DiscoverAlgorithm::exchange, call, alltoall_call(record, ranks, false), out.data(),
                    in.data());
  step.complete();
  Discovered found;
  for (Rank rank = 0; rank < ranks; ++rank)
    if (const std::byte* const block = in.find(rank)) found.add(rank, block, call.block_bytes);
  return found;
}

}  // namespace fab::collectives
