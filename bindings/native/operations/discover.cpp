// discover: looks at the blocks, and hands the call to collectives/discover.
#include "fab/discover.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>

#include "bindings/native/base/access.h"
#include "collectives/discover/discover.h"
#include "core/communicator/refused_call.h"
#include "fab/error.h"

namespace fab {

namespace {

/// Blocks may come from every rank, so that each product below has a value.
void check_block_bytes(std::size_t block_bytes, std::size_t blocks) {
  const std::size_t most = static_cast<std::size_t>(PTRDIFF_MAX) / blocks;
  if (block_bytes > most)
    throw Error(Errc::invalid_count, fmt::format("discover: block_bytes is {}; valid are 0 to {} where there may be {} "
                                                 "blocks",
                                                 block_bytes, most, blocks));
}

void check_blocks(std::span<const std::byte> blocks, std::size_t destinations, std::size_t block_bytes) {
  const std::size_t bytes = destinations * block_bytes;
  if (blocks.size() != bytes)
    throw Error(Errc::invalid_count,
                fmt::format("discover: blocks has {} bytes; valid are {}, {} for each of {} destinations",
                            blocks.size(), bytes, block_bytes, destinations));
  if (blocks.data() == nullptr && bytes > 0)
    throw Error(Errc::invalid_argument,
                fmt::format("discover: blocks is a null pointer; valid is the address of {} bytes", bytes));
}

}  // namespace

std::vector<Rank> discover(const Communicator& communicator, std::span<const Rank> destinations) {
  return collectives::discover(Access::core(communicator), {.destinations = destinations}).sources;
}

Discovered<std::byte> discover(const Communicator& communicator, std::span<const Rank> destinations,
                               std::span<const std::byte> blocks, std::size_t block_bytes) {
  const std::shared_ptr<core::Communicator>& core = Access::core(communicator);
  core::in_order(*core, [&] {
    check_block_bytes(block_bytes, std::max(destinations.size(), static_cast<std::size_t>(communicator.size())));
    check_blocks(blocks, destinations.size(), block_bytes);
  });
  collectives::Discovered found =
      collectives::discover(core, {.destinations = destinations, .blocks = blocks.data(), .block_bytes = block_bytes});
  return {std::move(found.sources), std::move(found.blocks)};
}

}  // namespace fab
