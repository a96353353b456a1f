// A network between the ranks of one process that is as unkind as a provider may be: it refuses posts, delivers in any
// order, reads send buffers late and reports completions late. Repeatable from a seed as long as one thread drives.
#pragma once

#include <atomic>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <vector>

#include "core/provider.h"
#include "fab/topology.h"

namespace fab::test {

struct FabricOptions {
  std::uint32_t seed = 1;
  bool directed_receive = true;
  std::size_t iov_limit = 4;
  std::size_t inject_bytes = 64;
  std::uint64_t tag_mask = ~0ull;
  unsigned refused_percent = 30;
  unsigned longest_delay = 4;  ///< in polls of the rank that waits
  /// Messages of one sender come in their order, and one that finds no receive holds up the next (as over TCP).
  bool early_messages_block = false;
  bool takes_longer_messages = false;
  bool writes = false;  ///< one-sided ones, which come in any order, those of one sender too
};

class Fabric {
 public:
  Fabric(int ranks, const FabricOptions& options);
  ~Fabric();
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;

  /// The rank's way into the network, which must not outlive it.
  [[nodiscard]] std::unique_ptr<Provider> open(Rank rank);

  [[nodiscard]] std::size_t refusals() const noexcept { return refusals_.load(); }
  [[nodiscard]] std::size_t messages() const noexcept { return messages_.load(); }
  /// Messages that found no receive, receives that found no message, and completions that nobody has polled.
  [[nodiscard]] std::size_t left_over() const;

 private:
  friend class FabricProvider;

  struct Receive {
    Rank from;
    std::uint64_t tag;
    std::uint64_t ignore;
    std::vector<iovec> pieces;
    Completion* completion;
  };
  struct Message {
    Rank from;
    std::uint64_t tag;
    std::vector<iovec> pieces;        ///< where the sender's bytes lie until the message is delivered
    std::vector<std::byte> injected;  ///< or the bytes, if the sender has its memory back
    Completion* completion;           ///< null: injected
    unsigned delay;
  };
  struct Write {
    Rank from;
    RemoteMemory target;
    std::uint32_t data;
    std::vector<iovec> pieces;  ///< where the writer's bytes lie until they are written
    Completion* completion;
    unsigned delay;
  };
  struct Event {
    Completion* completion;
    std::uint64_t bytes;
    std::uint64_t tag;
    Status failure;
    unsigned delay;
  };
  struct Port {
    std::list<Receive> receives;
    std::list<Message> inbox;
    std::list<Write> writes;
    std::list<Event> events;
    std::map<std::uint64_t, std::span<std::byte>> exposed;  ///< by key
    WriteListener* listener = nullptr;
    int wait_fd = -1;
    bool refused = false;  ///< since the last poll
  };

  PostResult send(Rank from, Rank to, std::span<const iovec> pieces, std::uint64_t tag, Completion& completion);
  PostResult receive(Rank to, Rank from, std::span<const iovec> pieces, std::uint64_t tag, std::uint64_t ignore,
                     Completion& completion);
  PostResult write(Rank from, Rank to, Write write);
  std::uint64_t expose(Rank rank, std::span<std::byte> memory);
  void withdraw(Rank rank, std::uint64_t key);
  void cancel(Rank rank, Completion& completion);
  std::size_t poll(Rank rank);
  bool may_sleep(Rank rank);

  [[nodiscard]] Port& port(Rank rank) { return ports_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] bool refuses(Port& port);
  [[nodiscard]] unsigned delay();
  [[nodiscard]] std::list<Receive>::iterator find_receive(Port& port, const Message& message) const;
  void deliver(Port& to, std::list<Message>::iterator message, std::list<Receive>::iterator receive);
  void deliver_some(Port& port);
  [[nodiscard]] std::vector<std::uint32_t> write_some(Port& port);
  [[nodiscard]] bool carry_out(Port& port, const Write& write);
  void add(Port& port, Event event);
  static void ring(const Port& port);
  static std::list<Event> take_due(Port& port);

  const FabricOptions options_;
  mutable std::mutex mutex_;
  std::mt19937 random_;
  std::uint64_t last_key_ = 0;
  std::vector<Port> ports_;
  std::atomic<std::size_t> refusals_{0};
  std::atomic<std::size_t> messages_{0};
};

}  // namespace fab::test
