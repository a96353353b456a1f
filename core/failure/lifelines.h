// Lifelines: TCP connections, which only kernels look after, and which tell that a peer's process or machine has ended
// without any help of its program.
//
// Each rank listens on a TCP port of the interface that its messages use, and no process need accept: the kernel does.
// When the process ends its kernel resets the connections, in every state, and a machine that is gone fails their
// keep-alive probes. A process that computes, or is stopped, has a kernel that answers.
#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/log.h"
#include "core/provider.h"
#include "fab/topology.h"

namespace fab::core {

/// The connection to one peer.
struct Lifeline {
  using Time = std::chrono::steady_clock::time_point;

  enum class State : std::uint8_t {
    idle,  ///< not connected
    connecting,
    connected,
    ended,   ///< see `end`
    useless  ///< this peer cannot be reached in this way, which says nothing
  };
  enum class End : std::uint8_t {
    none,
    died,     ///< the process ended, and had not closed fab
    closed,   ///< it closed fab
    vanished  ///< its machine does not answer
  };

  Rank rank = kNoRank;
  State state = State::idle;
  End end = End::none;
  bool reachable = false;  ///< was connected once, so that a silence tells something
  bool trusted = false;    ///< the port is where the messages go, so that a refusal tells something
  bool probes = false;     ///< keep-alive is on
  bool said_closed = false;
  bool cut_off = false;  ///< one of both has ended their connections, and what was on its way
  int fd = -1;
  Time since{};                     ///< it is connecting, or failing to
  Time wanted{};                    ///< the last time that an operation waited for the peer
  Time ended{};                     ///< when that was seen
  Rank told = kNoRank;              ///< a rank that the peer has lost
  std::vector<GivenUp> given_up{};  ///< by the peer
  socklen_t address_bytes = 0;
  sockaddr_storage address{};
  std::array<std::byte, 16> record{};  ///< what has come of the next one
  std::size_t record_bytes = 0;

  // Of an ended one, for Losses: what waits for the peer, and since when and in how many looks nothing of that came.
  int awaited = 0;
  int awaited_now = 0;  ///< as far as this look has counted
  int looks = 0;
  Time nothing_since{};

  /// By whose fault the peer has given up a call on that communicator; kNoRank: it has not.
  [[nodiscard]] Rank failed_rank_of(std::uint32_t communicator) const noexcept;
};

/// The lifelines of one rank, and its own port. Guarded by the engine's lock.
class Lifelines {
 public:
  using Time = Lifeline::Time;

  /// `vanished_s`: a machine that does not answer for so long is gone; 0: never.
  Lifelines(const HostAddress& host, double vanished_s, const Log& log);
  ~Lifelines();
  Lifelines(const Lifelines&) = delete;
  Lifelines& operator=(const Lifelines&) = delete;

  /// Of the own port, as text; empty where there is none.
  [[nodiscard]] const std::string& address() const noexcept { return address_; }
  /// The line to a peer with such an address, which begins to connect: whether it can says what a later silence means.
  /// Null if the peer has none. It lives as long as this.
  [[nodiscard]] Lifeline* meet(Rank rank, std::string_view address, Time now);

  /// An operation waits for this peer.
  void want(Lifeline& line, Time now);
  /// Looks at all lines, and at the own port.
  void poll(Time now);
  /// That a peer was lost: to every rank that has a line to this one, now or later.
  void tell(Rank lost);
  /// Before this rank ends its connections with a peer, or with all ranks of that peer's host: the lines of both ends
  /// are cut off then.
  void tell_cut(const Lifeline& line, bool whole_host);
  /// What this rank has given up, or goes on with: to the same ranks.
  void tell(const GivenUp& what);
  [[nodiscard]] bool any_ended() const noexcept { return ended_ > 0; }
  template <class Visit>
  void for_each_ended(Visit&& visit) {
    for (Lifeline& line : lines_)
      if (line.state == Lifeline::State::ended) visit(line);
  }
  /// Becomes readable when a peer wants to be told; -1 while there is nothing to tell.
  [[nodiscard]] int port() const noexcept {
    return lost_.empty() || !can_accept_ || clients_.size() >= kMostClients ? -1 : port_;
  }
  /// Tells all peers that this rank has closed fab, and ends.
  void close();
  /// In a child of fork(): ends without a word, so that the lines tell of the parent's end.
  void leave_to_parent() noexcept;

 private:
  /// Lines of peers that are accepted, which costs a descriptor each.
  static constexpr std::size_t kMostClients = 256;

  void open_port(const HostAddress& host);
  void connect(Lifeline& line, Time now);
  void connected(Lifeline& line);
  void could_not_connect(Lifeline& line, int error, Time now);
  void read(Lifeline& line, Time now);
  void take_record(Lifeline& line) const;
  void end(Lifeline& line, Lifeline::End how, Time now);
  void drop(Lifeline& line) noexcept;
  void set_probes(Lifeline& line, bool on) const;
  void rest(Time now);
  void give_up(Lifeline& line, const char* why);
  [[nodiscard]] bool is_silent(const Lifeline& line, Time now) const;

  void serve();
  void tell_all(int client) const noexcept;
  void accept_all();
  [[nodiscard]] int accept();
  void forget_gone();

  const double vanished_s_;
  const Log& log_;
  std::string address_;
  int port_ = -1;
  bool can_accept_ = true;
  std::deque<Lifeline> lines_;
  int ended_ = 0;             ///< lines
  std::vector<int> clients_;  ///< lines of peers that were accepted
  std::vector<Rank> lost_;
  std::vector<GivenUp> given_up_;   ///< at this time
  std::vector<std::uint32_t> cut_;  ///< peers and hosts, by their words
  std::uint32_t word_ = 0;          ///< that stands for this rank
  std::uint32_t host_word_ = 0;     ///< and for all ranks of its host
  // Of one look.
  std::vector<pollfd> events_;
  std::vector<Lifeline*> open_;
};

}  // namespace fab::core
