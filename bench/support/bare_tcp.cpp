#include "support/bare_tcp.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <mpi.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <system_error>

#include "apps/mpi_call.h"

namespace bench {
namespace {

using apps::check_mpi;

int checked(int result, const char* call) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), std::string("bare TCP: ") + call);
  return result;
}

bool is_on_this_node(int peer) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Group node_group = MPI_GROUP_NULL;
  MPI_Group world_group = MPI_GROUP_NULL;
  check_mpi(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node), "MPI_Comm_split_type");
  check_mpi(MPI_Comm_group(node, &node_group), "MPI_Comm_group");
  check_mpi(MPI_Comm_group(MPI_COMM_WORLD, &world_group), "MPI_Comm_group");
  int rank = MPI_UNDEFINED;
  check_mpi(MPI_Group_translate_ranks(world_group, 1, &peer, node_group, &rank), "MPI_Group_translate_ranks");
  check_mpi(MPI_Group_free(&node_group), "MPI_Group_free");
  check_mpi(MPI_Group_free(&world_group), "MPI_Group_free");
  check_mpi(MPI_Comm_free(&node), "MPI_Comm_free");
  return rank != MPI_UNDEFINED;
}

sockaddr_in own_address(bool loopback) {
  ifaddrs* list = nullptr;
  checked(::getifaddrs(&list), "getifaddrs");
  sockaddr_in address{};
  for (const ifaddrs* entry = list; entry != nullptr && address.sin_family == 0; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || entry->ifa_addr->sa_family != AF_INET) continue;
    if ((entry->ifa_flags & IFF_UP) == 0 || ((entry->ifa_flags & IFF_LOOPBACK) != 0) != loopback) continue;
    address = *reinterpret_cast<const sockaddr_in*>(entry->ifa_addr);
  }
  ::freeifaddrs(list);
  if (address.sin_family == 0)
    throw std::system_error(ENETDOWN, std::generic_category(), "bare TCP: no interface with an IPv4 address");
  address.sin_port = 0;
  return address;
}

// Both ends are at work on it: neither call waits for long.
int accept_one(int peer, bool loopback) {
  sockaddr_in address = own_address(loopback);
  socklen_t bytes = sizeof(address);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  const int listener = checked(::socket(AF_INET, SOCK_STREAM, 0), "socket");
  checked(::bind(listener, generic, bytes), "bind");
  checked(::listen(listener, 1), "listen");
  checked(::getsockname(listener, generic, &bytes), "getsockname");
  check_mpi(MPI_Send(&address, sizeof(address), MPI_BYTE, peer, 0, MPI_COMM_WORLD), "MPI_Send");
  const int accepted = checked(::accept(listener, nullptr, nullptr), "accept");
  checked(::close(listener), "close");
  return accepted;
}

int connect_to(int peer) {
  sockaddr_in address{};
  check_mpi(MPI_Recv(&address, sizeof(address), MPI_BYTE, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), "MPI_Recv");
  const int connected = checked(::socket(AF_INET, SOCK_STREAM, 0), "socket");
  checked(::connect(connected, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), "connect");
  return connected;
}

// What a non-blocking call moved: nothing when it would have to wait.
std::size_t moved(ssize_t result, const char* call) {
  if (result >= 0) return static_cast<std::size_t>(result);
  if (errno != EAGAIN && errno != EINTR) checked(-1, call);
  return 0;
}

}  // namespace

BareTcp::BareTcp(int peer) {
  int rank = 0;
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  const bool loopback = is_on_this_node(peer);
  socket_ = rank < peer ? accept_one(peer, loopback) : connect_to(peer);
  const int on = 1;
  checked(::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)), "setsockopt(TCP_NODELAY)");
  checked(::fcntl(socket_, F_SETFL, O_NONBLOCK), "fcntl(O_NONBLOCK)");
}

BareTcp::~BareTcp() { ::close(socket_); }

void BareTcp::exchange(const std::byte* send, std::byte* receive, std::size_t bytes) {
  std::size_t sent = 0;
  std::size_t received = 0;
  while (sent < bytes || received < bytes) {
    if (sent < bytes) sent += moved(::send(socket_, send + sent, bytes - sent, MSG_NOSIGNAL), "send");
    if (received < bytes) {
      const ssize_t result = ::recv(socket_, receive + received, bytes - received, 0);
      if (result == 0) throw std::system_error(ECONNRESET, std::generic_category(), "bare TCP: the peer is gone");
      received += moved(result, "recv");
    }
  }
}

}  // namespace bench
