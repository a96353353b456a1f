// Random sizes around every length at which fab changes the way of a message, other ones in each direction.
//
// Both ends of an edge draw its size from the same numbers. --gtest_random_seed=N draws others; a failure names it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "fab/fab.h"
#include "native/support/on_all_ranks.h"
#include "support/fill.h"

namespace fab {
namespace {

/// Inside of a cell's first line, and of the cell; what libfabric's net, tcp and shm inject; mapped; packed or in
/// place; combined; copied, read, in chunks, pipelined; the ring's bulk memory; what is read at once.
constexpr std::array<std::size_t, 14> kThresholds = {
    0, 40, 64, 104, 128, 512, 4096, 8192, 16 * 1024, 32 * 1024, 64 * 1024, 128 * 1024, 256 * 1024, 1024 * 1024};
constexpr std::size_t kNear = 48;  ///< bytes; a frame and a cell's head are shorter
constexpr std::byte kGuard{0xEE};
constexpr std::size_t kGuardBytes = 64;

/// What both ends of an edge know.
struct Edge {
  int exchange = 0;
  int sender = 0;
  int block = 0;

  [[nodiscard]] std::mt19937 numbers(int purpose) const {
    std::seed_seq seed{GTEST_FLAG_GET(random_seed), exchange, sender, block, purpose};
    return std::mt19937(seed);
  }
  [[nodiscard]] std::size_t bytes() const {
    std::mt19937 random = numbers(0);
    // The longest come seldom: they take their time.
    std::size_t number = random() % kThresholds.size();
    if (number + 2 >= kThresholds.size()) number = random() % kThresholds.size();
    const std::size_t threshold = kThresholds[number];
    const std::size_t below = std::min(threshold, kNear);
    switch (random() % 4) {
      case 0:
        return threshold;
      case 1:
        return threshold + 1;
      case 2:
        return threshold - std::min<std::size_t>(threshold, 1);
      default:
        return threshold - below + random() % (below + kNear);
    }
  }
  [[nodiscard]] std::vector<std::byte> data(int iteration) const {
    std::vector<std::byte> result(bytes());
    std::uint64_t seed = 0;
    for (const int each : {sender, block, exchange, iteration}) seed = test::hash(seed + static_cast<unsigned>(each));
    test::fill_by_chance(result, seed);
    return result;
  }
};

/// The blocks of one side, in pieces at places of its own, with guards around each piece; every other exchange's in
/// memory of fab's.
class Side {
 public:
  Side(std::span<const Edge> edges, int rank, int purpose) : edges_(edges.begin(), edges.end()) {
    for (const Edge& edge : edges_) {
      std::mt19937 random = edge.numbers(100 + 2 * rank + purpose);
      add(edge.bytes(), random() % 3 == 0 ? 2 + random() % 30 : 1, random);
    }
    end_ += kGuardBytes;
    if (edges_.front().exchange % 2 == 0)
      mapped_ = make_array<std::byte>(end_);
    else
      heap_.resize(end_);
    memory_ = mapped_.empty() ? std::span(heap_) : std::span(mapped_);
  }

  [[nodiscard]] std::byte* data() { return memory_.data(); }
  [[nodiscard]] const std::vector<BlockShape>& blocks() const { return blocks_; }
  void clear() { std::memset(memory_.data(), std::to_integer<int>(kGuard), memory_.size()); }
  void fill(int iteration) { std::ranges::copy(expected(iteration), memory_.begin()); }
  /// "" when all bytes are as if filled.
  [[nodiscard]] std::string difference(int iteration) const {
    const std::vector<std::byte> right = expected(iteration);
    if (std::memcmp(memory_.data(), right.data(), right.size()) == 0) return "";
    const auto [found, other] = std::ranges::mismatch(memory_, right);
    std::string text = "byte " + std::to_string(found - memory_.begin()) + " is " +
                       std::to_string(std::to_integer<int>(*found)) + " instead of " +
                       std::to_string(std::to_integer<int>(*other)) + " in blocks";
    for (std::size_t i = 0; i < blocks_.size(); ++i)
      text += " " + std::to_string(blocks_[i].layout.size()) + " B in " +
              std::to_string(blocks_[i].layout.piece_count()) + " pieces at " +
              std::to_string(lengths_[i].front().offset);
    return text;
  }

 private:
  void add(std::size_t bytes, std::size_t most_pieces, std::mt19937& random) {
    std::vector<Piece>& pieces = lengths_.emplace_back();
    std::vector<std::size_t> lengths;
    std::vector<std::ptrdiff_t> places;
    for (std::size_t left = bytes, number = most_pieces; number > 0; --number) {
      const std::size_t length = number == 1 ? left : std::min(left, random() % (2 * bytes / most_pieces + 1));
      end_ += kGuardBytes + random() % 16;
      pieces.push_back({static_cast<std::int64_t>(end_), length});
      lengths.push_back(length);
      places.push_back(static_cast<std::ptrdiff_t>(end_));
      end_ += length;
      left -= length;
    }
    blocks_.push_back({0, Layout::indexed(lengths, places, Layout::contiguous(1))});
  }
  [[nodiscard]] std::vector<std::byte> expected(int iteration) const {
    std::vector<std::byte> result(memory_.size(), kGuard);
    for (std::size_t block = 0; block < edges_.size(); ++block) {
      const std::vector<std::byte> data = edges_[block].data(iteration);
      auto from = data.begin();
      for (const Piece& piece : lengths_[block]) {
        const auto end = from + static_cast<std::ptrdiff_t>(piece.bytes);
        std::copy(from, end, result.begin() + piece.offset);
        from = end;
      }
    }
    return result;
  }

  std::vector<Edge> edges_;
  std::vector<std::vector<Piece>> lengths_;
  std::vector<BlockShape> blocks_;
  std::size_t end_ = 0;
  std::vector<std::byte> heap_;
  Array<std::byte> mapped_;
  std::span<std::byte> memory_;
};

class RandomSizes : public test::OnAllRanks {
 protected:
  /// One exchange on the ring of the ranks, with its number.
  struct Exchange {
    explicit Exchange(int number)
        : send(std::array{Edge{number, rank(), 0}, Edge{number, rank(), 1}}, rank(), 0),
          recv(std::array{Edge{number, next(), 1}, Edge{number, previous(), 0}}, rank(), 1) {}

    void prepare(int iteration) {
      send.fill(iteration);
      recv.clear();
    }
    [[nodiscard]] Request start(const Communicator& comm) {
      return neighbor_xchgv.start(comm, send.data(), send.blocks(), recv.data(), recv.blocks());
    }
    [[nodiscard]] PersistentExchange init(const Communicator& comm) {
      return neighbor_xchgv.persistent(comm, send.data(), send.blocks(), recv.data(), recv.blocks());
    }
    void check(int iteration) const {
      EXPECT_EQ(recv.difference(iteration), "") << "received";
      EXPECT_EQ(send.difference(iteration), "") << "sent";
    }

    Side send;
    Side recv;
  };

  const testing::ScopedTrace trace_{__FILE__, __LINE__,
                                    testing::Message() << "--gtest_random_seed=" << GTEST_FLAG_GET(random_seed)};
};

TEST_F(RandomSizes, OneAfterTheOther) {
  const Communicator comm = ring();
  for (int number = 0; number < 40; ++number) {
    SCOPED_TRACE(testing::Message() << "exchange " << number);
    Exchange exchange(number);
    exchange.prepare(0);
    exchange.start(comm).wait();
    exchange.check(0);
  }
}

TEST_F(RandomSizes, SeveralInFlight) {
  const Communicator comm = ring();
  for (int batch = 1; batch <= 6; ++batch) {
    std::vector<Exchange> exchanges;
    for (int i = 0; i < 8; ++i) exchanges.emplace_back(batch * 100 + i);
    std::vector<Request> requests;
    for (Exchange& each : exchanges) {
      each.prepare(batch);
      requests.push_back(each.start(comm));
    }
    Request::wait_all(requests);
    for (std::size_t i = 0; i < exchanges.size(); ++i) {
      SCOPED_TRACE(testing::Message() << "exchange " << batch * 100 + static_cast<int>(i));
      exchanges[i].check(batch);
    }
  }
}

TEST_F(RandomSizes, PersistentInAnyOrder) {
  const Communicator comm = ring();
  std::vector<Exchange> exchanges;
  for (int i = 0; i < 8; ++i) exchanges.emplace_back(1000 + i);
  std::vector<PersistentExchange> persistent;
  for (Exchange& each : exchanges) persistent.push_back(each.init(comm));
  std::vector<std::size_t> order(exchanges.size());
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random = Edge{0, rank(), 0}.numbers(1);
  for (int iteration = 0; iteration < 8; ++iteration) {
    for (Exchange& each : exchanges) each.prepare(iteration);
    std::ranges::shuffle(order, random);
    for (const std::size_t i : order) persistent[i].start();
    std::ranges::shuffle(order, random);
    for (const std::size_t i : order) {
      SCOPED_TRACE(testing::Message() << "exchange " << 1000 + i << ", iteration " << iteration);
      persistent[i].wait();
      exchanges[i].check(iteration);
    }
  }
}

}  // namespace
}  // namespace fab
