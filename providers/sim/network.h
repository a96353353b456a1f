// A simulated network between the ranks of one process, in virtual time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <queue>
#include <random>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/provider.h"
#include "providers/sim/options.h"
#include "providers/sim/port.h"
#include "providers/sim/shares.h"

namespace fab::sim {

/// Everything that happens follows from the options, their seed and the order of calls. May be used from several
/// threads; then the order is theirs.
///
/// A rank that dies learns at once that all it has posted, and will post, has failed. What the network has taken over
/// by then, all but long messages and writes, arrives. The others' operations with it fail Options::notice_after later,
/// with Errc::unreachable and a status that names it.
class Network {
 public:
  /// Throws Error(invalid_argument, no_resources).
  Network(int ranks, Options options);
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  /// The rank's way into the network, which must not outlive it.
  [[nodiscard]] std::unique_ptr<Provider> open(Rank rank);

  /// How many of these there are. They must go before the network.
  [[nodiscard]] int providers() const;

  [[nodiscard]] int size() const noexcept { return static_cast<int>(ports_.size()); }
  [[nodiscard]] const Options& options() const noexcept { return options_; }

  // Time.

  /// Lets time pass until a rank has something to do: its engine is to be driven then. Empty: nothing will ever happen.
  [[nodiscard]] std::optional<Rank> advance();
  /// Has advance() return the rank, not before its processor is free.
  void call(Rank rank, Time at);
  [[nodiscard]] Time now() const;
  /// When the rank's processor is done with everything so far.
  [[nodiscard]] Time clock(Rank rank) const;
  /// Sets all processors' clocks to the latest one, and returns it.
  Time meet();

  // Faults.

  void kill(Rank rank);
  [[nodiscard]] bool dead(Rank rank) const;
  /// All that is in flight ends, and nothing works any more.
  void kill_all();
  /// The rank has no memory to spare for so many of its next registrations: expose() throws Error(no_resources).
  void refuse_registrations(Rank rank, int count);

  // Counts.

  [[nodiscard]] Traffic sent(Rank rank) const;
  [[nodiscard]] Traffic received(Rank rank) const;
  [[nodiscard]] std::uint64_t messages() const;  ///< sent by all
  [[nodiscard]] std::uint64_t refusals() const;
  [[nodiscard]] std::uint64_t lost() const;
  /// Messages that found no receive, receives that found no message, and completions that no rank has polled.
  [[nodiscard]] std::size_t left_over() const;
  /// What ranks did that Capabilities forbid.
  [[nodiscard]] std::vector<std::string> violations() const;

 private:
  /// A rank's way into the network.
  class Access;
  /// Memory of a rank that others may write to.
  class Exposed;

  struct Event {
    /// wake: if the rank has something to do; call: in any case.
    /// through: a message or write is, the receiver's card, which others share; leave: one may leave its sender.
    enum class Kind : std::uint8_t {
      message,
      write,
      message_through,
      write_through,
      leave,
      wake,
      call,
      death,
      news_of_death
    };

    Time at;
    std::uint64_t order;  ///< so that equal times are in the order of their making
    Kind kind;
    Rank rank;
    std::uint64_t number;  ///< of message or write

    bool operator>(const Event& other) const noexcept { return std::tie(at, order) > std::tie(other.at, other.order); }
  };
  /// Receiver, sender, tag (0 if all of them): what must not overtake each other.
  using LaneName = std::tuple<Rank, Rank, std::uint64_t>;
  struct Lane {
    Time last{};            ///< nothing of this lane arrives before
    std::size_t count = 0;  ///< on their way
  };
  /// A message's way out of its sender.
  struct Way {
    Time first;  ///< byte leaves
    Time last;   ///< byte has left
  };

  // For the provider.
  [[nodiscard]] PostResult send(Rank from, Rank to, std::span<const iovec> pieces, std::uint64_t tag,
                                Completion& completion);
  [[nodiscard]] PostResult receive(Rank to, Receive receive);
  [[nodiscard]] PostResult write(Write write);
  void write_unprepared(Rank rank);
  void visit_ways(Rank from, Rank to, const Provider::WayVisitor& visit) const;
  [[nodiscard]] std::uint64_t expose(Rank rank, std::span<std::byte> memory);
  void withdraw(Rank rank, std::uint64_t key);
  void cancel(Rank rank, Completion& completion);
  std::size_t poll(Rank rank);
  [[nodiscard]] bool may_sleep(Rank rank);
  void close(Rank rank);

  // All of the rest under the lock.
  [[nodiscard]] Port& port(Rank rank) { return ports_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] const Port& port(Rank rank) const { return ports_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] bool blocking() const noexcept { return options_.capabilities.early_messages_block; }
  [[nodiscard]] bool self_driven() const noexcept { return options_.capabilities.wait_fd; }

  void push(Time at, Event::Kind kind, Rank rank, std::uint64_t number = 0);
  /// The first byte of a message or write.
  void push_arrival(Time at, Event::Kind kind, Rank from, Rank to, std::uint64_t number);
  [[nodiscard]] std::optional<Event> pop();
  void handle(const Event& event);
  [[nodiscard]] bool has_work(const Port& its) const noexcept;
  [[nodiscard]] std::optional<Notice> next_notice(Rank rank);

  [[nodiscard]] Time delay();
  [[nodiscard]] bool refuses(Rank rank);
  [[nodiscard]] Way depart(Port& from, const LinkCost& cost, std::uint64_t bytes, Time earliest);
  /// Sends it, now, or when the port and the card that its node shares are free.
  void post(Rank from, Outgoing outgoing);
  void send_off(Rank from, const Outgoing& outgoing, Way way);
  void push_leave(Rank rank);
  void leave(Rank rank);
  [[nodiscard]] Time arrive(Port& to, const LinkCost& cost, std::uint64_t bytes);
  void notify(Rank rank, Time at, Notice notice);
  void ring(const Port& its) const noexcept;
  void check(Rank rank, std::span<const iovec> pieces, std::uint64_t tag);
  void violated(Rank rank, const std::string& what);

  [[nodiscard]] bool loses(const Message& message);
  /// Returns its number.
  [[nodiscard]] std::uint64_t take_over(Message message);
  void launch(std::uint64_t number, Time head);
  [[nodiscard]] LaneName lane_of(const Message& message) const;
  void leave_lane(const Message& message);
  /// False: the receiver's card passes it on later.
  [[nodiscard]] bool is_through(const Event& event, Rank from, std::uint64_t bytes);
  void message_arrives(const Event& event);
  void deliver(Message message, const Receive& receive);
  void deliver_waiting(Port& to);
  void write_arrives(const Event& event);

  [[nodiscard]] bool fails_at_once(Rank rank, Rank peer, Completion& completion);
  [[nodiscard]] Status gone(Rank rank) const;
  void die(Rank rank);
  void tell_of_death(Rank rank);
  /// Has operations end that `choose` names: in flight, or waiting at `port`'s.
  template <class Choose>
  void drop_messages(Choose&& choose, const Status& failure);
  template <class Choose>
  void drop_writes(Choose&& choose, const Status& failure);
  template <class Choose>
  void drop_receives(Rank rank, Choose&& choose, const Status& failure);

  const Options options_;
  mutable std::mutex mutex_;
  int providers_ = 0;
  std::mt19937_64 random_;
  Time now_{};
  std::vector<Port> ports_;
  NodeShares shares_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::uint64_t last_number_;                            ///< of events, messages, writes and keys
  std::unordered_map<std::uint64_t, Message> messages_;  ///< on their way
  std::unordered_map<std::uint64_t, Write> writes_;
  std::map<LaneName, Lane> lanes_;  ///< empty where nothing is delayed
  std::uint64_t refusals_ = 0;
  std::uint64_t lost_ = 0;
  std::vector<std::string> violations_;
};

}  // namespace fab::sim
