#include "providers/ofi/connections.h"

#include <dirent.h>
#include <netinet/in.h>

#include <charconv>
#include <memory>
#include <string_view>

#include "providers/ofi/interfaces.h"

namespace fab::ofi {

namespace {

in_port_t port_of(const sockaddr* address) {
  return address->sa_family == AF_INET ? reinterpret_cast<const sockaddr_in*>(address)->sin_port
                                       : reinterpret_cast<const sockaddr_in6*>(address)->sin6_port;
}

bool is_with(int fd, const sockaddr* own, const sockaddr* peer, Reach reach) {
  sockaddr_storage near{};
  sockaddr_storage far{};
  socklen_t near_bytes = sizeof(near);
  socklen_t far_bytes = sizeof(far);
  auto* const here = reinterpret_cast<sockaddr*>(&near);
  auto* const there = reinterpret_cast<sockaddr*>(&far);
  if (::getpeername(fd, there, &far_bytes) != 0 || ::getsockname(fd, here, &near_bytes) != 0) return false;
  if (!same_host(there, peer)) return false;
  return port_of(there) == port_of(peer) || (reach == Reach::host && port_of(here) == port_of(own));
}

}  // namespace

int shut_down_connections(const sockaddr* own, const sockaddr* peer, Reach reach) {
  const std::unique_ptr<DIR, int (*)(DIR*)> descriptors(::opendir("/proc/self/fd"), ::closedir);
  if (descriptors == nullptr) return 0;
  int ended = 0;
  while (const dirent* entry = ::readdir(descriptors.get())) {
    const std::string_view name = entry->d_name;
    int fd = -1;
    if (std::from_chars(name.data(), name.data() + name.size(), fd).ec != std::errc()) continue;
    if (is_with(fd, own, peer, reach) && ::shutdown(fd, SHUT_RDWR) == 0) ++ended;
  }
  return ended;
}

}  // namespace fab::ofi
