#include "providers/ofi/connections.h"

#include <dirent.h>
#include <netinet/in.h>

#include <charconv>
#include <cstring>
#include <memory>
#include <string_view>

namespace fab::ofi {

namespace {

in_port_t port_of(const sockaddr* address) {
  return address->sa_family == AF_INET ? reinterpret_cast<const sockaddr_in*>(address)->sin_port
                                       : reinterpret_cast<const sockaddr_in6*>(address)->sin6_port;
}

bool same_host(const sockaddr* a, const sockaddr* b) {
  if (a->sa_family != b->sa_family) return false;
  if (a->sa_family == AF_INET)
    return reinterpret_cast<const sockaddr_in*>(a)->sin_addr.s_addr ==
           reinterpret_cast<const sockaddr_in*>(b)->sin_addr.s_addr;
  return a->sa_family == AF_INET6 &&
         std::memcmp(&reinterpret_cast<const sockaddr_in6*>(a)->sin6_addr,
                     &reinterpret_cast<const sockaddr_in6*>(b)->sin6_addr, sizeof(in6_addr)) == 0;
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
