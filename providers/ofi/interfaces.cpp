#include "providers/ofi/interfaces.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netdb.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace fab::ofi {

namespace {

const sockaddr_in& as_v4(const sockaddr* address) { return *reinterpret_cast<const sockaddr_in*>(address); }
const sockaddr_in6& as_v6(const sockaddr* address) { return *reinterpret_cast<const sockaddr_in6*>(address); }

struct Socket {
  explicit Socket(int family) : fd(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {}
  ~Socket() {
    if (fd >= 0) ::close(fd);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int fd;
};

// Connecting a datagram socket sends nothing; it makes the kernel choose the local address.
std::string interface_on_route(const addrinfo& target) {
  const Socket probe(target.ai_family);
  sockaddr_storage local{};
  socklen_t length = sizeof(local);
  auto* const address = reinterpret_cast<sockaddr*>(&local);
  if (probe.fd < 0 || ::connect(probe.fd, target.ai_addr, target.ai_addrlen) != 0 ||
      ::getsockname(probe.fd, address, &length) != 0)
    return {};
  return InterfaceList().of(address);
}

/// What `text_of` makes of them, each once; nothing where it makes nothing.
template <class TextOf>
std::vector<std::string> each_interface(TextOf text_of) {
  ifaddrs* raw = nullptr;
  if (::getifaddrs(&raw) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> list(raw, ::freeifaddrs);
  std::vector<std::string> texts;
  for (const ifaddrs* entry = raw; entry != nullptr; entry = entry->ifa_next)
    if (std::string text = text_of(*entry); !text.empty() && std::ranges::find(texts, text) == texts.end())
      texts.push_back(std::move(text));
  return texts;
}

}  // namespace

bool same_host(const sockaddr* a, const sockaddr* b) {
  if (a->sa_family != b->sa_family) return false;
  if (a->sa_family == AF_INET) return as_v4(a).sin_addr.s_addr == as_v4(b).sin_addr.s_addr;
  return a->sa_family == AF_INET6 && std::memcmp(&as_v6(a).sin6_addr, &as_v6(b).sin6_addr, sizeof(in6_addr)) == 0;
}

InterfaceList::InterfaceList() : list_(nullptr, ::freeifaddrs) {
  ifaddrs* raw = nullptr;
  if (::getifaddrs(&raw) == 0) list_.reset(raw);
}

std::string InterfaceList::of(const sockaddr* address) const {
  if (address == nullptr) return {};
  for (const ifaddrs* entry = list_.get(); entry != nullptr; entry = entry->ifa_next)
    if (entry->ifa_addr != nullptr && same_host(entry->ifa_addr, address)) return entry->ifa_name;
  return {};
}

std::vector<std::string> interface_names() {
  return each_interface([](const ifaddrs& entry) { return std::string(entry.ifa_name); });
}

std::vector<std::string> interface_addresses() {
  return each_interface([](const ifaddrs& entry) { return host_part(to_string(entry.ifa_addr)); });
}

std::string address_of(const std::string& interface) {
  ifaddrs* raw = nullptr;
  if (::getifaddrs(&raw) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> list(raw, ::freeifaddrs);
  for (const ifaddrs* entry = raw; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || interface != entry->ifa_name || is_link_local(entry->ifa_addr)) continue;
    const auto family = entry->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    return {reinterpret_cast<const char*>(entry->ifa_addr),
            family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6)};
  }
  return {};
}

std::string interface_towards(std::span<const std::string> hosts) {
  for (const std::string& host : hosts) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_DGRAM;
    addrinfo* raw = nullptr;
    if (::getaddrinfo(host.c_str(), "9", &hints, &raw) != 0) continue;
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> list(raw, ::freeaddrinfo);
    for (const addrinfo* target = raw; target != nullptr; target = target->ai_next)
      if (std::string name = interface_on_route(*target); !name.empty() && name != "lo") return name;
  }
  return {};
}

std::string to_string(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN] = {};
  if (address == nullptr) return {};
  if (address->sa_family == AF_INET && ::inet_ntop(AF_INET, &as_v4(address).sin_addr, text, sizeof(text)) != nullptr)
    return fmt::format("{}:{}", text, ntohs(as_v4(address).sin_port));
  if (address->sa_family == AF_INET6 && ::inet_ntop(AF_INET6, &as_v6(address).sin6_addr, text, sizeof(text)) != nullptr)
    return fmt::format("[{}]:{}", text, ntohs(as_v6(address).sin6_port));
  return {};
}

std::string host_part(const std::string& address) { return address.substr(0, address.rfind(':')); }

bool is_link_local(const sockaddr* address) {
  return address != nullptr && address->sa_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&as_v6(address).sin6_addr);
}

}  // namespace fab::ofi
