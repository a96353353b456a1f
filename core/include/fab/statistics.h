// The statistics of a context: calls, messages and waits since it was opened. Times are in nanoseconds.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fab/api.h"
#include "fab/topology.h"

namespace fab {

/// Waits that their first polls (2 or 3 us within a node) did not end, by their length.
struct WaitTimes {
  /// The number of classes in by_length. Waits of 2^39 ns (9 minutes) or more share the last one.
  static constexpr std::size_t kClasses = 40;

  std::uint64_t waits = 0;     ///< how many
  std::uint64_t total_ns = 0;  ///< all of them together
  std::uint64_t most_ns = 0;   ///< the longest
  /// by_length[i]: waits of 2^i to 2^(i+1) - 1 ns. The first class has those of 0 ns, the last one all longer ones.
  std::array<std::uint64_t, kClasses> by_length{};

  /// Counts one more wait, of `ns` ns.
  void add(std::uint64_t ns) noexcept {
    ++waits;
    total_ns += ns;
    most_ns = std::max(most_ns, ns);
    ++by_length[class_of(ns)];
  }
  /// Counts the waits of `others`, too.
  void add(const WaitTimes& others) noexcept {
    waits += others.waits;
    total_ns += others.total_ns;
    most_ns = std::max(most_ns, others.most_ns);
    for (std::size_t i = 0; i < kClasses; ++i) by_length[i] += others.by_length[i];
  }
  /// So long at most is that share (0 to 1) of the waits: 0.5 for the median. Up to twice the exact value; 0 if there
  /// are no waits.
  [[nodiscard]] std::uint64_t percentile_ns(double share) const noexcept {
    const double wanted = share * static_cast<double>(waits);
    std::uint64_t counted = 0;
    for (std::size_t i = 0; i + 1 < kClasses; ++i) {
      counted += by_length[i];
      if (counted > 0 && static_cast<double>(counted) >= wanted) return std::min(longest_of(i), most_ns);
    }
    return most_ns;
  }
  /// The index in by_length for a wait of `ns` ns.
  [[nodiscard]] static constexpr std::size_t class_of(std::uint64_t ns) noexcept {
    const auto bits = static_cast<std::size_t>(std::bit_width(ns));
    return std::min(bits == 0 ? 0 : bits - 1, kClasses - 1);
  }
  /// The longest wait, in ns, of a class but the last.
  [[nodiscard]] static constexpr std::uint64_t longest_of(std::size_t of_class) noexcept {
    return (std::uint64_t{2} << of_class) - 1;
  }
  bool operator==(const WaitTimes&) const = default;  ///< all figures are equal
};

/// How much was sent or received.
struct MessageAmounts {
  std::uint64_t messages = 0;  ///< how many
  std::uint64_t bytes = 0;     ///< fab's frames included

  /// Adds `more`, `times` times.
  void add(const MessageAmounts& more, std::uint64_t times = 1) noexcept {
    messages += times * more.messages;
    bytes += times * more.bytes;
  }
  bool operator==(const MessageAmounts&) const = default;  ///< as many messages and bytes
};

/// Calls of one operation on one communicator that the same algorithm carried out. Their messages are those that the
/// calls' plans have, also of calls that failed.
struct FAB_API OperationStatistics {
  /// "world", or the job's rank that made its id, a dot and a number: the same on all of its ranks. "others": later
  /// ones than the first 64 communicators of this rank, or ones whose id is not known. "all": of sends and receives.
  std::string communicator{};
  int ranks = 0;                      ///< of the communicator; 0: of several
  std::string operation{};            ///< "allreduce", "neighbor_xchg", "send"
  std::string algorithm{};            ///< as fab_info --algorithms lists it; empty: there is no choice
  std::uint64_t calls = 0;            ///< that were started
  MessageAmounts sent{};              ///< by these calls
  MessageAmounts packed{};            ///< of the sent ones: copied to memory of fab's first
  MessageAmounts written{};           ///< of the sent ones: written into the receiver's memory (one-sided)
  MessageAmounts received{};          ///< by these calls
  MessageAmounts unpacked{};          ///< of the received ones: copied from memory of fab's
  std::uint64_t plans = 0;            ///< made for these calls
  std::uint64_t plans_ns = 0;         ///< the time that took
  std::uint64_t longest_plan_ns = 0;  ///< of the plan that took longest
  WaitTimes waited{};                 ///< that callers of these calls waited

  /// Adds all but the names.
  void add(const OperationStatistics& more) noexcept;
  bool operator==(const OperationStatistics&) const = default;  ///< names and figures are equal
};

/// Messages that left by one way: those to a peer, or those of an operation.
struct WayStatistics {
  std::string way{};      ///< "cell", "ring", "shared", "mapped", "kernel", "chunks"; "tagged", "written"
  MessageAmounts sent{};  ///< that way

  bool operator==(const WayStatistics&) const = default;  ///< the same way and amounts
};

/// Another rank, or this one.
struct PeerStatistics {
  Rank rank = 0;                      ///< of the job
  std::string provider{};             ///< that carries messages there: "local", "tcp"
  std::vector<WayStatistics> ways{};  ///< by which messages went there
  MessageAmounts received{};          ///< that came from there, by all ways
  /// Waits in which the longest time without an event ended with a message from, or to, this peer: it came last.
  std::uint64_t came_last = 0;
  std::uint64_t waited_ns = 0;  ///< in those waits

  bool operator==(const PeerStatistics&) const = default;  ///< names and figures are equal
};

/// An event that a context counts (docs/howto/read-the-statistics.md lists them).
struct CounterStatistics {
  std::string name{};       ///< ends with the unit, if it has one: "opening_ns"
  std::uint64_t value = 0;  ///< since the context was opened

  bool operator==(const CounterStatistics&) const = default;  ///< the same name and value
};

/// Of one rank.
struct FAB_API Statistics {
  Rank rank = 0;                                  ///< of the job
  int ranks = 1;                                  ///< of the job
  std::vector<OperationStatistics> operations{};  ///< one for each communicator, operation and algorithm
  std::vector<PeerStatistics> peers{};            ///< by their ranks
  std::vector<CounterStatistics> counters{};      ///< each name once

  /// The value of the counter `name`; 0 if there is none of that name.
  [[nodiscard]] std::uint64_t counter(std::string_view name) const noexcept;
  /// The sum of all operations, without names.
  [[nodiscard]] OperationStatistics totals() const;
  /// One object of JSON, with the names of these members.
  [[nodiscard]] std::string json() const;
  bool operator==(const Statistics&) const = default;  ///< all figures are equal, in the same order
};

/// Statistics, and by which ways the messages of each operation left. A class of its own, as the size of the others
/// stays while the binary interface has the number 1.
struct FAB_API StatisticsByWay : Statistics {
  /// operation_ways[i]: those of operations[i]. They are counted when messages leave, so a call that failed counts with
  /// those that have left. Over a network each part of a long message counts, and so do the credits for writes; an
  /// operation's messages to its own rank take no way.
  std::vector<std::vector<WayStatistics>> operation_ways{};

  /// Those of all operations of that name, on all communicators and by all algorithms. Each way stands there once.
  [[nodiscard]] std::vector<WayStatistics> ways_of(std::string_view operation) const;
  /// As Statistics::json. Each object of an operation has a list `ways` more, like those of peers.
  [[nodiscard]] std::string json() const;
  bool operator==(const StatisticsByWay&) const = default;  ///< all figures are equal, in the same order
};

}  // namespace fab
