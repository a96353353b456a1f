// The network interfaces of the machine: the one that carries an address, and the one that leads to other nodes.
#pragma once

#include <ifaddrs.h>
#include <sys/socket.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace fab::ofi {

/// This machine's interfaces as they are when it is made.
class InterfaceList {
 public:
  InterfaceList();

  /// The interface that has this address; empty when none has or it is no internet address.
  [[nodiscard]] std::string of(const sockaddr* address) const;

 private:
  std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> list_;
};

/// The names of this machine's interfaces, and their addresses; each once.
[[nodiscard]] std::vector<std::string> interface_names();
[[nodiscard]] std::vector<std::string> interface_addresses();
/// Bytes of the internet address of an interface, as a sockaddr; empty when it has none.
[[nodiscard]] std::string address_of(const std::string& interface);

/// The interface over which the kernel would send to one of these hosts; empty when no name resolves or no route leads
/// there.
[[nodiscard]] std::string interface_towards(std::span<const std::string> hosts);

/// "127.0.0.1:4711", "[fe80::1]:4711"; empty for other kinds of address.
[[nodiscard]] std::string to_string(const sockaddr* address);

/// Of such a text: "127.0.0.1", "[fe80::1]".
[[nodiscard]] std::string host_part(const std::string& address);

/// Whether two internet addresses name one host; their ports may differ.
[[nodiscard]] bool same_host(const sockaddr* a, const sockaddr* b);

/// Addresses that serve only when there is no other (IPv6 link-local).
[[nodiscard]] bool is_link_local(const sockaddr* address);

}  // namespace fab::ofi
