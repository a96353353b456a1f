#include "fault_matrix/operations.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

namespace fab::test {

namespace {

using Bytes = std::vector<std::byte>;

/// What a rank gives in a step, for one of its neighbours or for all.
void fill(Bytes& bytes, Rank rank, int step) {
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] =
        static_cast<std::byte>((i + 31 * static_cast<std::size_t>(rank) + 7 * static_cast<std::size_t>(step)) % 251);
}

bool is_of(std::span<const std::byte> bytes, Rank rank, int step) {
  Bytes expected(bytes.size());
  fill(expected, rank, step);
  return std::ranges::equal(bytes, expected);
}

Rank before(Rank rank) { return (rank + kRanks - 1) % kRanks; }
Rank after(Rank rank) { return (rank + 1) % kRanks; }

/// With both neighbours of the ring, before first.
class Exchange final : public Operation {
 public:
  Exchange(const Case& which, const Communicator& ring)
      : ring_(ring), which_(which), one_(which.bytes), out_(2 * which.bytes), in_(2 * which.bytes) {
    if (which.doing == Doing::persistent || which.doing == Doing::one_sided)
      persistent_ = neighbor_xchg.persistent(ring_, out_.data(), in_.data(), block());
  }

  bool run(int step, const std::function<void()>& moment) override {
    fill(one_, ring_.rank(), step);
    std::ranges::copy(one_, out_.begin());
    std::ranges::copy(one_, out_.begin() + static_cast<std::ptrdiff_t>(one_.size()));
    if (persistent_) {
      moment();
      persistent_->start();
      persistent_->wait();
    } else if (which_.doing == Doing::nonblocking) {
      Request request = neighbor_xchg.start(ring_, out_.data(), in_.data(), block());
      compute();
      moment();
      request.wait();
    } else {
      moment();
      neighbor_xchg(ring_, out_.data(), in_.data(), block());
    }
    const std::span<const std::byte> in(in_);
    return is_of(in.first(which_.bytes), before(ring_.rank()), step) &&
           is_of(in.subspan(which_.bytes), after(ring_.rank()), step);
  }

 private:
  [[nodiscard]] Layout block() const { return Layout::contiguous(which_.bytes); }
  void compute() {
    for (std::uint32_t i = 0; i < 1'000'000; ++i) sum_ = sum_ + i * i;
  }

  const Communicator& ring_;
  Case which_;
  Bytes one_;
  Bytes out_;
  Bytes in_;
  std::optional<PersistentExchange> persistent_;
  volatile std::uint32_t sum_ = 0;
};

class Allreduce final : public Operation {
 public:
  Allreduce(const Case& which, const Communicator& ring)
      : ring_(ring), in_(which.bytes / sizeof(std::int64_t)), out_(in_.size()) {}

  bool run(int step, const std::function<void()>& moment) override {
    std::ranges::fill(in_, (ring_.rank() + 1) * (step + 1));
    moment();
    allreduce(ring_, in_, out_, ReduceOp::sum);
    const std::int64_t expected = kRanks * (kRanks + 1) / 2 * (step + 1);
    return std::ranges::all_of(out_, [expected](std::int64_t value) { return value == expected; });
  }

 private:
  const Communicator& ring_;
  std::vector<std::int64_t> in_;
  std::vector<std::int64_t> out_;
};

/// With both neighbours, in parts. The fault strikes when some of them have left.
class Parts final : public Operation {
 public:
  Parts(const Case& which, const Communicator& ring)
      : ring_(ring), one_(which.bytes), out_(2 * which.bytes), in_(2 * which.bytes) {}

  bool run(int step, const std::function<void()>& moment) override {
    // It is made here, as that waits for the neighbours.
    if (!exchange_) exchange_ = neighbor_xchg.partitioned(ring_, kParts, out_, in_);
    fill(one_, ring_.rank(), step);
    std::ranges::copy(one_, out_.begin());
    std::ranges::copy(one_, out_.begin() + static_cast<std::ptrdiff_t>(one_.size()));
    exchange_->start();
    for (std::size_t part = 0; part < kParts; ++part) {
      if (part == kParts / 2) moment();
      for (const std::size_t side : {0u, 1u}) exchange_->ready(side, part);
    }
    for (const std::size_t side : {0u, 1u}) exchange_->wait_part(side, kParts - 1);
    exchange_->wait();
    const std::span<const std::byte> in(in_);
    return is_of(in.first(one_.size()), before(ring_.rank()), step) &&
           is_of(in.subspan(one_.size()), after(ring_.rank()), step);
  }

 private:
  static constexpr std::size_t kParts = 4;

  const Communicator& ring_;
  Bytes one_;
  Bytes out_;
  Bytes in_;
  std::optional<PartitionedExchange> exchange_;
};

/// Each rank is the root in turn.
class Broadcast final : public Operation {
 public:
  Broadcast(const Case& which, const Communicator& ring) : ring_(ring), data_(which.bytes) {}

  bool run(int step, const std::function<void()>& moment) override {
    const Rank root = step % kRanks;
    fill(data_, ring_.rank(), step);
    moment();
    bcast(ring_, data_.data(), Layout::contiguous(data_.size()), Root{root});
    return is_of(data_, root, step);
  }

 private:
  const Communicator& ring_;
  Bytes data_;
};

/// Along the ring.
class Messages final : public Operation {
 public:
  Messages(const Case& which, const Communicator& ring) : ring_(ring), out_(which.bytes), in_(which.bytes) {}

  bool run(int step, const std::function<void()>& moment) override {
    fill(out_, ring_.rank(), step);
    moment();
    sendrecv(ring_, out_, {after(ring_.rank()), Tag{step}}, in_, {before(ring_.rank()), Tag{step}});
    return is_of(in_, before(ring_.rank()), step);
  }

 private:
  const Communicator& ring_;
  Bytes out_;
  Bytes in_;
};

/// Each rank sends to the next one, and finds the one before.
class Discovery final : public Operation {
 public:
  Discovery(const Case& which, const Communicator& ring) : ring_(ring), out_(which.bytes) {}

  bool run(int step, const std::function<void()>& moment) override {
    const std::vector<Rank> destinations = {after(ring_.rank())};
    fill(out_, ring_.rank(), step);
    moment();
    const auto [sources, blocks] = discover(ring_, destinations, out_, out_.size());
    return sources == std::vector<Rank>{before(ring_.rank())} && is_of(blocks, sources.front(), step);
  }

 private:
  const Communicator& ring_;
  Bytes out_;
};

}  // namespace

std::unique_ptr<Operation> make_operation(const Case& which, const Communicator& ring) {
  switch (which.doing) {
    case Doing::allreduce:
      return std::make_unique<Allreduce>(which, ring);
    case Doing::bcast:
      return std::make_unique<Broadcast>(which, ring);
    case Doing::parts:
      return std::make_unique<Parts>(which, ring);
    case Doing::messages:
      return std::make_unique<Messages>(which, ring);
    case Doing::discover:
      return std::make_unique<Discovery>(which, ring);
    default:
      return std::make_unique<Exchange>(which, ring);
  }
}

}  // namespace fab::test
