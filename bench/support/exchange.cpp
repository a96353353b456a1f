#include "support/exchange.h"

#include <fmt/core.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "support/filling.h"

namespace bench {
namespace {

constexpr std::byte kSpoiledByte{0xdb};

std::vector<std::size_t> bytes_of(const Box& box, std::size_t element_bytes) {
  std::vector<std::size_t> places;
  box.for_each([&](std::size_t index) {
    for (std::size_t i = 0; i < element_bytes; ++i) places.push_back(index * element_bytes + i);
  });
  return places;
}

}  // namespace

Exchange::Exchange(const Neighbors& neighbors, std::size_t bytes_per_neighbor, MemoryKind memory, int thread)
    : neighbors_(neighbors),
      thread_(thread),
      boxes_(neighbors, bytes_per_neighbor),
      send_(allocate(memory, boxes_.array_bytes())),
      receive_(allocate(memory, boxes_.in_one_array() ? 1 : boxes_.array_bytes())) {
  fill();
}

void Exchange::fill() {
  for (std::size_t place = 0; place < boxes_.array_bytes(); ++place)
    send_.get()[place] = byte_of(neighbors_.rank(), place);
  for (int block = 0; block < neighbors_.count(); ++block) {
    for (const std::size_t place : bytes_of(boxes_.received(block, Order::fab), boxes_.element_bytes()))
      receive()[place] = kSpoiledByte;
  }
}

void Exchange::rewrite(Rewrite how) {
  std::byte* const memory = send_.get();
  const std::size_t bytes = boxes_.array_bytes();
  if (how == Rewrite::fill) std::memset(memory, ++times_filled_, bytes);
  if (how != Rewrite::update) return;
  for (std::size_t place = 0; place + sizeof(std::uint64_t) <= bytes; place += sizeof(std::uint64_t)) {
    std::uint64_t number = 0;
    std::memcpy(&number, memory + place, sizeof(number));
    ++number;
    std::memcpy(memory + place, &number, sizeof(number));
  }
}

std::byte Exchange::byte_of(int rank, std::size_t place) const { return byte_at(rank, first_place(thread_) + place); }

bool Exchange::check(Order order, Placement placement, const std::string& what) {
  bool all_in_place = true;
  for (int block = 0; block < neighbors_.count(); ++block) {
    if (neighbors_.source(block, order) == MPI_PROC_NULL) continue;
    const int expected = placement == Placement::whole ? block : neighbors_.opposite(block);
    if (holds(block, expected, order)) continue;
    all_in_place = false;
    if (placement == Placement::either && same_both_ways(block, order) && holds(block, block, order)) continue;
    throw std::runtime_error(fmt::format("{} of {} bytes per neighbour: block {} (from rank {}) is wrong", what,
                                         boxes_.bytes_per_neighbor(), block, neighbors_.source(block, order)));
  }
  return all_in_place;
}

bool Exchange::same_both_ways(int block, Order order) const {
  return neighbors_.is_cartesian() &&
         neighbors_.source(block, order) == neighbors_.source(neighbors_.opposite(block), order);
}

bool Exchange::holds(int block, int sent_block, Order order) {
  const int sender = neighbors_.source(block, order);
  const auto sent = bytes_of(boxes_.sent(sent_block, order), boxes_.element_bytes());
  const auto received = bytes_of(boxes_.received(block, order), boxes_.element_bytes());
  for (std::size_t i = 0; i < sent.size(); ++i) {
    if (receive()[received[i]] != byte_of(sender, sent[i])) return false;
  }
  return true;
}

}  // namespace bench
