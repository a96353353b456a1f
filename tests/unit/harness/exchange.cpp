#include "unit/harness/exchange.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "collectives/neighbor/neighbor_xchg.h"
#include "support/fill.h"

namespace fab::test {

Exchange::Exchange(InProcessJob::Communicators communicators, const ExchangeOptions& options)
    : communicators_(std::move(communicators)), options_(options) {
  for (Rank rank = 0; rank < static_cast<Rank>(communicators_.size()); ++rank) {
    send_.push_back(make_side(options_.seed + 2 * static_cast<std::uint32_t>(rank)));
    recv_.push_back(make_side(options_.seed + 2 * static_cast<std::uint32_t>(rank) + 1));
    for (const Edge& edge : edges(rank).destinations)
      send_.back().blocks->add(edge_bytes(rank, edge), options_.most_pieces);
    for (const Edge& edge : edges(rank).sources)
      recv_.back().blocks->add(edge_bytes(edge.peer, {rank, edge.slot}), options_.most_pieces);
  }
  reset(0);
}

Exchange::Side Exchange::make_side(std::uint32_t seed) const {
  return {std::make_unique<ScatteredBlocks>(seed), {}, {}};
}

const Neighborhood& Exchange::edges(Rank rank) const {
  return communicators_[static_cast<std::size_t>(rank)]->neighborhood();
}

// The same at both ends; every fifth block is empty.
std::size_t Exchange::edge_bytes(Rank from, const Edge& edge) const {
  if (options_.in_place) return options_.longest_bytes;
  const std::uint64_t value = hash(options_.seed + 1000003ull * static_cast<unsigned>(from) +
                                   1009ull * static_cast<unsigned>(edge.peer) + edge.slot);
  return value % 5 == 0 ? 0 : 1 + value % options_.longest_bytes;
}

std::vector<std::byte> Exchange::data(Rank from, std::size_t block, std::size_t bytes) const {
  std::vector<std::byte> result(bytes);
  fill_by_chance(result,
                 generation_ + (static_cast<std::uint64_t>(from) << 48) + (static_cast<std::uint64_t>(block) << 32));
  return result;
}

const Exchange::Side& Exchange::sent(Rank rank) const {
  return options_.in_place ? recv_[static_cast<std::size_t>(rank)] : send_[static_cast<std::size_t>(rank)];
}

void Exchange::fill(Rank rank) {
  Side& side = const_cast<Side&>(sent(rank));
  const auto& blocks = side.blocks->blocks();
  for (std::size_t block = 0; block < blocks.size(); ++block)
    blocks[block].put(data(rank, block, blocks[block].bytes), side.buffer);
}

void Exchange::reset(std::uint32_t generation) {
  generation_ = generation;
  for (std::vector<Side>* sides : {&send_, &recv_})
    for (Side& side : *sides) side.buffer.assign(side.blocks->buffer_bytes(), kUntouched);
  for (Rank rank = 0; rank < static_cast<Rank>(communicators_.size()); ++rank) fill(rank);
  for (std::vector<Side>* sides : {&send_, &recv_})
    for (Side& side : *sides) side.before = side.buffer;
}

core::Run& Exchange::start(Rank rank) {
  const auto index = static_cast<std::size_t>(rank);
  const std::vector<BlockShape> send_shapes = send_[index].blocks->shapes();
  const std::vector<BlockShape> recv_shapes = recv_[index].blocks->shapes();
  return start_locked(*communicators_[index], [&](core::Communicator& communicator) -> core::Run& {
    core::engine_lock.assert_held();
    return collectives::start_neighbor_xchg(communicator, options_.in_place ? nullptr : send_[index].buffer.data(),
                                            recv_[index].buffer.data(),
                                            {.send = collectives::BlockList::general(send_shapes),
                                             .recv = collectives::BlockList::general(recv_shapes),
                                             .in_place = options_.in_place});
  });
}

void Exchange::check(Rank rank) const {
  const auto index = static_cast<std::size_t>(rank);
  std::vector<std::byte> expected = recv_[index].before;
  const auto& sources = edges(rank).sources;
  for (std::size_t block = 0; block < sources.size(); ++block) {
    const auto& destinations = edges(sources[block].peer).destinations;
    const auto other_end = std::find(destinations.begin(), destinations.end(), Edge{rank, sources[block].slot});
    ASSERT_NE(other_end, destinations.end());
    const ScatteredBlock& received = recv_[index].blocks->blocks()[block];
    const auto sent = static_cast<std::size_t>(other_end - destinations.begin());
    received.put(data(sources[block].peer, sent, received.bytes), expected);
  }
  EXPECT_TRUE(same(recv_[index].buffer, expected)) << "what rank " << rank << " received is not what was sent";
  EXPECT_TRUE(same(send_[index].buffer, send_[index].before)) << "the send buffer of rank " << rank << " has changed";
}

void Exchange::run(InProcessJob& job) {
  std::vector<core::Run*> runs;
  for (Rank rank = 0; rank < job.size(); ++rank) runs.push_back(&start(rank));
  ASSERT_NO_FATAL_FAILURE(job.finish(runs));
  for (Rank rank = 0; rank < job.size(); ++rank) {
    const Status status = release(*runs[static_cast<std::size_t>(rank)]);
    ASSERT_TRUE(status.ok()) << "rank " << rank << ": " << status.message;
    check(rank);
  }
}

}  // namespace fab::test
