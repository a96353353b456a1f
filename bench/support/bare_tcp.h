// The limit of an exchange with one peer over TCP: a socket between two ranks, and nothing else.
#pragma once

#include <cstddef>

namespace bench {

/// A connection with TCP_NODELAY that does not block: each exchange writes and reads in turns until both are done.
class BareTcp {
 public:
  /// Addresses are exchanged through MPI: `peer` makes one too, for this rank. Over the loopback interface on one node,
  /// otherwise over the first interface that is up and has an IPv4 address. Throws std::system_error.
  explicit BareTcp(int peer);
  ~BareTcp();
  BareTcp(const BareTcp&) = delete;
  BareTcp& operator=(const BareTcp&) = delete;

  /// Sends `bytes` and receives as many. Throws std::system_error.
  void exchange(const std::byte* send, std::byte* receive, std::size_t bytes);

 private:
  int socket_ = -1;
};

}  // namespace bench
