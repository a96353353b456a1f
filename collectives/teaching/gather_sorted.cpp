#include "collectives/teaching/gather_sorted.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <optional>
#include <vector>

#include "collectives/building_blocks/tree.h"
#include "collectives/calls/buffers.h"
#include "core/communicator/persistent.h"
#include "core/progress/engine.h"
#include "core/run/wait.h"
#include "fab/error.h"

namespace fab::collectives {

namespace {

enum class Slot : std::uint32_t { request, packet };

/// A packet that goes up an edge of the tree again and again, each time when the parent asks for it.
Schedule packet_schedule(int ranks, std::optional<Rank> parent, std::optional<Rank> child, std::size_t bytes) {
  const auto slot = [](Slot which) { return static_cast<std::uint32_t>(which); };
  ScheduleBuilder builder("gather_sorted", ranks);
  const Layout packet = Layout::contiguous(bytes);
  if (parent) {
    builder.recv(*parent, slot(Slot::request), {});
    builder.round();
    builder.send(*parent, slot(Slot::packet), {BufferId::send, 0, packet});
  } else if (child) {
    builder.recv(*child, slot(Slot::packet), {BufferId::recv, 0, packet});
    builder.send(*child, slot(Slot::request), {});
  }
  return builder.commit();
}

/// A rank's end of the edge in one dimension of the hypercube, if it has one there.
class PacketEdge {
 public:
  PacketEdge(const std::shared_ptr<core::Communicator>& communicator, std::optional<Rank> parent,
             std::optional<Rank> child, std::size_t packet_bytes)
      : buffer_(parent || child ? sizeof(PacketHead) + packet_bytes : 0),
        exchange_(communicator, packet_schedule(communicator->size(), parent, child, buffer_.size()),
                  buffers(buffer_.data(), buffer_.data())) {
    const core::Lock lock(exchange_.engine());
    exchange_.compare_no_starts();
  }
  ~PacketEdge() {
    if (exchange_.active()) core::finish(exchange_.run());
  }
  PacketEdge(const PacketEdge&) = delete;
  PacketEdge& operator=(const PacketEdge&) = delete;

  void start() {
    const core::Lock lock(exchange_.engine());
    exchange_.start();
  }
  /// Until the packet has come, or its memory is free again.
  void wait() {
    if (!exchange_.active()) return;
    core::finish(exchange_.run());
    exchange_.end();
    if (const Status& status = exchange_.run().status(); !status.ok()) throw Error(status.errc(), status.message);
  }

  [[nodiscard]] PacketHead head() const {
    PacketHead head;
    std::memcpy(&head, buffer_.data(), sizeof(head));
    return head;
  }
  [[nodiscard]] const std::byte* part() const noexcept { return buffer_.data() + sizeof(PacketHead); }
  void fill(const PacketHead& head, const std::byte* part) {
    std::memcpy(buffer_.data(), &head, sizeof(head));
    if (head.size > 0) std::memcpy(buffer_.data() + sizeof(head), part, head.size);
  }

 private:
  std::vector<std::byte> buffer_;
  core::Persistent exchange_;
};

/// Messages in order, the next part at hand: a child's, or the rank's own.
class Stream {
 public:
  virtual ~Stream() = default;
  /// What next() has brought; without a source: the end.
  [[nodiscard]] virtual PacketHead head() const = 0;
  [[nodiscard]] virtual const std::byte* part() const = 0;
  /// The current part was used.
  virtual void use() = 0;
  /// Waits for the next part if the current one was used.
  virtual void next() = 0;
};

class ChildStream final : public Stream {
 public:
  explicit ChildStream(PacketEdge& edge) : edge_(edge) { edge_.start(); }
  [[nodiscard]] PacketHead head() const override { return edge_.head(); }
  [[nodiscard]] const std::byte* part() const override { return edge_.part(); }
  void use() override { edge_.start(); }
  void next() override { edge_.wait(); }

 private:
  PacketEdge& edge_;
};

class OwnStream final : public Stream {
 public:
  OwnStream(const SortedGather& call, Rank rank)
      : call_(call), head_{.key = call.key, .bytes = call.message.size(), .source = rank} {
    cut();
  }
  [[nodiscard]] PacketHead head() const override { return head_; }
  [[nodiscard]] const std::byte* part() const override { return call_.message.data() + head_.offset; }
  void use() override {
    if (head_.is_last_part()) head_.source = -1;
    head_.offset += head_.size;
    cut();
  }
  void next() override {}

 private:
  void cut() {
    head_.size = static_cast<std::uint32_t>(std::min<std::uint64_t>(call_.packet_bytes, head_.bytes - head_.offset));
  }

  const SortedGather& call_;
  PacketHead head_;
};

class SortedMerge {
 public:
  SortedMerge(const std::shared_ptr<core::Communicator>& communicator, const SortedGather& call,
              const ConsumePart& consume)
      : consume_(consume) {
    const int ranks = communicator->size();
    const int self = (communicator->rank() - call.root + ranks) % ranks;
    const Tree tree = binomial_tree(self, ranks);
    const auto absolute = [&](int relative) { return (relative + call.root) % ranks; };
    streams_.push_back(std::make_unique<OwnStream>(call, communicator->rank()));
    // All ranks make an exchange for every dimension, so that theirs are numbered alike.
    for (std::int64_t distance = 1; distance < ranks; distance *= 2) {
      const auto relative = static_cast<int>(self + distance);
      const bool is_child = tree.parent && self - *tree.parent == distance;
      const bool has_child = std::ranges::find(tree.children, relative) != tree.children.end();
      edges_.push_back(std::make_unique<PacketEdge>(
          communicator, is_child ? std::optional(absolute(*tree.parent)) : std::nullopt,
          has_child ? std::optional(absolute(relative)) : std::nullopt, call.packet_bytes));
      if (is_child) up_ = edges_.back().get();
      if (has_child) down_.push_back(edges_.back().get());
    }
  }

  void run() {
    for (PacketEdge* edge : down_) streams_.push_back(std::make_unique<ChildStream>(*edge));
    while (Stream* first = first_stream()) pass(*first);
    if (up_ != nullptr) {
      deliver({}, up_->part());  // the end, no bytes
      up_->wait();
    }
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  /// Null when no stream has any more messages.
  Stream* first_stream() {
    Stream* first = nullptr;
    for (const auto& stream : streams_) {
      stream->next();
      if (stream->head().source >= 0 && (first == nullptr || stream->head().comes_before(first->head())))
        first = stream.get();
    }
    return first;
  }

  /// One message.
  void pass(Stream& stream) {
    for (bool more = true; more; stream.use()) {
      stream.next();
      more = !stream.head().is_last_part();
      deliver(stream.head(), stream.part());
    }
  }

  void deliver(const PacketHead& head, const std::byte* part) {
    if (up_ != nullptr) {
      up_->wait();
      up_->fill(head, part);
      up_->start();
    } else if (!failure_) {
      try {
        consume_(head, part);
      } catch (...) {  // the ranks that still send must not wait for ever
        failure_ = std::current_exception();
      }
    }
  }

  const ConsumePart& consume_;
  std::vector<std::unique_ptr<PacketEdge>> edges_;  ///< one a dimension
  PacketEdge* up_ = nullptr;
  std::vector<PacketEdge*> down_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::exception_ptr failure_;
};

void check(const core::Communicator& communicator, const SortedGather& call) {
  if (call.root < 0 || call.root >= communicator.size())
    throw Error(Errc::invalid_rank, fmt::format("gather_sorted: root {}; the communicator has ranks 0 to {}", call.root,
                                                communicator.size() - 1));
  constexpr std::size_t kMostBytes = 1 << 30;
  if (call.packet_bytes == 0 || call.packet_bytes > kMostBytes)
    throw Error(Errc::invalid_argument,
                fmt::format("gather_sorted: packets of {} bytes; 1 to {} are valid", call.packet_bytes, kMostBytes));
}

}  // namespace

// A call that is refused uses up the places of all its exchanges.
void gather_sorted(const std::shared_ptr<core::Communicator>& communicator, const SortedGather& call,
                   const ConsumePart& consume) {
  try {
    check(*communicator, call);
  } catch (...) {
    for (std::int64_t distance = 1; distance < communicator->size(); distance *= 2)
      communicator->call_refused(core::Communicator::Order::persistent);
    throw;
  }
  SortedMerge(communicator, call, consume).run();
}

}  // namespace fab::collectives
