#include "providers/ofi/congestion.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <mutex>
#include <sstream>

#include "core/base/quoted.h"
#include "fab/error.h"
#include "providers/ofi/imported_slot.h"

namespace fab::ofi {

namespace {

constexpr std::size_t kLongestName = 15;  // of the kernel's names, TCP_CA_NAME_MAX

/// Read by calls of libfabric's while they open sockets: written once, before the first of them leads here. A process
/// has one environment, so it has one name.
std::array<char, kLongestName + 1> in_use{};
std::once_flag leads_here_flag;
bool leads_here = false;

bool give(int fd, const char* name) noexcept {
  return ::setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, static_cast<socklen_t>(std::strlen(name))) == 0;
}

int open_socket(int domain, int type, int protocol) noexcept {
  constexpr int kKind = 0xf;  // without the flags
  const int fd = ::socket(domain, type, protocol);
  if (fd < 0 || (domain != AF_INET && domain != AF_INET6) || (type & kKind) != SOCK_STREAM) return fd;
  const int error = errno;
  give(fd, in_use.data());  // or the connection has the kernel's default
  errno = error;
  return fd;
}

std::string setting(const char* name) {
  std::string line;
  std::getline(std::ifstream(std::string("/proc/sys/net/ipv4/") + name), line);
  return line;
}

/// libfabric's calls lead here until the process ends.
void stay_loaded() noexcept {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(&open_socket), &info) != 0 && info.dli_fname != nullptr)
    ::dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);  // fails for a program, which stays anyway
}

void require_known(const std::string& name) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  const bool known = name.size() <= kLongestName && give(fd, name.c_str());
  const int error = known ? 0 : errno;
  ::close(fd);
  if (!known)
    throw Error(
        Errc::configuration,
        fmt::format("FAB_TCP_CONGESTION={}: the kernel refuses it ({}); valid: auto, kernel or one of: {}",
                    in_quotes(name, kLongestName), std::strerror(error), setting("tcp_available_congestion_control")));
}

}  // namespace

std::string choose_congestion_control(std::string_view kernel_default, std::string_view allowed) {
  if (!kernel_default.starts_with("bbr")) return {};
  std::istringstream words{std::string(allowed)};
  for (std::string word; words >> word;)
    if (word == "cubic") return word;
  return "reno";
}

std::string wanted_congestion_control(std::string_view configured) {
  if (configured == "kernel") return {};
  if (configured != "auto") return std::string(configured);
  return choose_congestion_control(setting("tcp_congestion_control"), setting("tcp_allowed_congestion_control"));
}

bool use_congestion_control(const std::string& name) {
  require_known(name);
  std::call_once(leads_here_flag, [&name] {
    const auto slot = ImportedSlot::find("socket");
    if (!slot) return;
    name.copy(in_use.data(), kLongestName);
    stay_loaded();
    leads_here = slot->set(reinterpret_cast<std::uintptr_t>(&open_socket));
  });
  return leads_here && name == in_use.data();
}

}  // namespace fab::ofi
