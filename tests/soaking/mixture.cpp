#include "soaking/mixture.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace fab::test {

namespace {

constexpr std::size_t kLongBytes = 200'000;
constexpr std::size_t kPersistentBytes[] = {8, 5000, 100'000};
/// Communicators are few: their numbers are given once.
constexpr std::uint64_t kOperationsPerCommunicator = 20'000;

std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15ull;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
  return value ^ (value >> 31);
}

Communicator ring_of(const Communicator& world) { return world.cartesian({world.size()}, {true}); }

}  // namespace

Mixture::Mixture(const Communicator& world, std::uint64_t seed)
    : world_(world),
      ring_(ring_of(world)),
      rank_(world.rank()),
      ranks_(world.size()),
      state_(seed),
      send_(kLongBytes * 8),
      recv_(kLongBytes * 8) {
  make_persistent();
}

void Mixture::make_persistent() {
  persistent_.clear();
  persistent_send_.resize(kPersistent);
  persistent_recv_.resize(kPersistent);
  for (std::size_t i = 0; i < kPersistent; ++i) {
    persistent_send_[i].resize(2 * kPersistentBytes[i]);
    persistent_recv_[i].resize(2 * kPersistentBytes[i]);
    persistent_.push_back(neighbor_xchg.persistent(ring_, persistent_send_[i].data(), persistent_recv_[i].data(),
                                                   Layout::contiguous(kPersistentBytes[i])));
  }
}

void Mixture::renew() {
  persistent_.clear();
  ring_ = ring_of(world_);
  make_persistent();
}

std::uint64_t Mixture::draw(std::uint64_t bound) { return mix(state_++) % bound; }

// Mostly short ones; a few that take every other way of a message.
std::size_t Mixture::draw_bytes() {
  const std::uint64_t kind = draw(200);
  if (kind == 0) return 1 + draw(kLongBytes);
  if (kind < 10) return 1 + draw(20'000);
  if (kind < 40) return 1 + draw(2000);
  return 1 + draw(100);
}

std::byte Mixture::value(Rank sender, std::size_t position) const {
  const std::uint64_t start = mix(number_ * 1031 + static_cast<std::uint64_t>(sender) + (state_ << 20));
  return static_cast<std::byte>(start + position * 7 + position / 251);
}

void Mixture::fill(std::byte* out, std::size_t bytes, Rank sender, std::size_t first) const {
  const auto start = static_cast<std::uint64_t>(value(sender, 0));
  for (std::size_t i = 0; i < bytes; ++i) out[i] = static_cast<std::byte>(start + (first + i) * 7 + (first + i) / 251);
}

std::uint64_t Mixture::count_wrong(const std::byte* in, std::size_t bytes, Rank sender, std::size_t first) const {
  const auto start = static_cast<std::uint64_t>(value(sender, 0));
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < bytes; ++i)
    wrong += in[i] != static_cast<std::byte>(start + (first + i) * 7 + (first + i) / 251) ? 1u : 0u;
  return wrong;
}

Rank Mixture::neighbor(int direction) const { return (rank_ + direction + ranks_) % ranks_; }

// Block 0 goes to, and comes from, the next rank of the ring, block 1 the one before. What the next rank sends this way
// is its block 1.
std::uint64_t Mixture::count_wrong_blocks(const std::byte* in, std::size_t bytes) const {
  return count_wrong(in, bytes, neighbor(1), bytes) + count_wrong(in + bytes, bytes, neighbor(-1), 0);
}

std::uint64_t Mixture::next() {
  if (++number_ % kOperationsPerCommunicator == 0) renew();
  switch (draw(10)) {
    case 0:
      return exchange(true);
    case 1:
      return exchange(false);
    case 2:
    case 3:
      return exchange_persistently();
    case 4:
      return exchange_several();
    case 5:
      return broadcast();
    case 6:
      return combine();
    case 7:
      return gather();
    case 8:
      return draw(2) == 0 ? transpose() : synchronise();
    default:
      return pass_on();
  }
}

std::uint64_t Mixture::exchange(bool blocking) {
  const std::size_t bytes = draw_bytes();
  const Layout block = Layout::contiguous(bytes);
  fill(send_.data(), 2 * bytes, rank_);
  std::memset(recv_.data(), 0xee, 2 * bytes);
  if (blocking)
    neighbor_xchg(ring_, send_.data(), recv_.data(), block);
  else
    neighbor_xchg.start(ring_, send_.data(), recv_.data(), block).wait();
  return count_wrong_blocks(recv_.data(), bytes);
}

std::uint64_t Mixture::exchange_persistently() {
  const std::size_t which = draw(100) == 0 ? 2 : draw(2);
  fill(persistent_send_[which].data(), 2 * kPersistentBytes[which], rank_);
  persistent_[which].start();
  persistent_[which].wait();
  return count_wrong_blocks(persistent_recv_[which].data(), kPersistentBytes[which]);
}

std::uint64_t Mixture::exchange_several() {
  const std::size_t bytes = 1 + draw(3000);
  const Layout block = Layout::contiguous(bytes);
  std::vector<Request> requests;
  for (std::size_t i = 0; i < kInFlight; ++i) {
    fill(send_.data() + i * 2 * bytes, 2 * bytes, rank_, i * 13);
    requests.push_back(neighbor_xchg.start(ring_, send_.data() + i * 2 * bytes, recv_.data() + i * 2 * bytes, block));
  }
  std::uint64_t wrong = 0;
  for (std::size_t i = kInFlight; i-- > 0;) {
    requests[i].wait();
    const std::byte* in = recv_.data() + i * 2 * bytes;
    wrong += count_wrong(in, bytes, neighbor(1), i * 13 + bytes) + count_wrong(in + bytes, bytes, neighbor(-1), i * 13);
  }
  return wrong;
}

std::uint64_t Mixture::broadcast() {
  const std::size_t bytes = draw_bytes();
  const auto root = static_cast<Rank>(draw(static_cast<std::uint64_t>(ranks_)));
  if (rank_ == root)
    fill(recv_.data(), bytes, root);
  else
    std::memset(recv_.data(), 0xee, bytes);
  bcast(world_, recv_.data(), Layout::contiguous(bytes), Root{root});
  return count_wrong(recv_.data(), bytes, root);
}

std::uint64_t Mixture::combine() {
  const std::size_t elements = 1 + draw(200);
  std::vector<unsigned long> in(elements);
  std::vector<unsigned long> out(elements);
  const auto term = [this](Rank rank, std::size_t i) {
    return mix(number_ * 64 + static_cast<std::uint64_t>(rank) + i);
  };
  for (std::size_t i = 0; i < elements; ++i) in[i] = term(rank_, i);
  allreduce(world_, in.data(), out.data(), Layout::contiguous(elements * sizeof(in[0])),
            Operator::of<unsigned long>(ReduceOp::sum));
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < elements; ++i) {
    unsigned long sum = 0;
    for (Rank rank = 0; rank < ranks_; ++rank) sum += term(rank, i);
    if (out[i] != sum) wrong += sizeof(sum);
  }
  return wrong;
}

std::uint64_t Mixture::gather() {
  const std::size_t bytes = std::min(draw_bytes(), recv_.size() / static_cast<std::size_t>(ranks_));
  fill(send_.data(), bytes, rank_);
  allgather(world_, send_.data(), recv_.data(), Layout::contiguous(bytes));
  std::uint64_t wrong = 0;
  for (Rank rank = 0; rank < ranks_; ++rank)
    wrong += count_wrong(recv_.data() + static_cast<std::size_t>(rank) * bytes, bytes, rank);
  return wrong;
}

std::uint64_t Mixture::transpose() {
  const std::size_t bytes = 1 + draw(2000);
  fill(send_.data(), bytes * static_cast<std::size_t>(ranks_), rank_);
  alltoall(world_, send_.data(), recv_.data(), Layout::contiguous(bytes));
  std::uint64_t wrong = 0;
  for (Rank rank = 0; rank < ranks_; ++rank)
    wrong += count_wrong(recv_.data() + static_cast<std::size_t>(rank) * bytes, bytes, rank,
                         static_cast<std::size_t>(rank_) * bytes);
  return wrong;
}

std::uint64_t Mixture::pass_on() {
  const std::size_t bytes = draw_bytes();
  const Tag tag = static_cast<Tag>(draw(3));
  fill(send_.data(), bytes, rank_);
  Request request = isend(world_, std::span<const std::byte>(send_.data(), bytes), {neighbor(1), tag});
  const MessageInfo info = recv(world_, std::span<std::byte>(recv_.data(), bytes), {neighbor(-1), tag});
  request.wait();
  return count_wrong(recv_.data(), bytes, neighbor(-1)) + (info.bytes == bytes ? 0 : bytes);
}

std::uint64_t Mixture::synchronise() {
  barrier(world_);
  return 0;
}

}  // namespace fab::test
