// Finds the TCP connections that a libfabric provider does not show.
#pragma once

#include <sys/socket.h>

namespace fab::ofi {

/// Which of this process's connections are a peer's: only those that this rank has made to its port can be told from
/// others by their addresses; what comes from its host to the own port may be another rank's.
enum class Reach { port, host };

/// Shuts down the connections with a peer, so that the provider finds them ended. Both addresses with ports, as the
/// provider publishes them. Returns how many there were.
int shut_down_connections(const sockaddr* own, const sockaddr* peer, Reach reach);

}  // namespace fab::ofi
