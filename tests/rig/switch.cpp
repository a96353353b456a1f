// A switch between network interfaces of this namespace, which holds each message for a while: Linux has a queue for
// that (netem), but many kernels are built without it. Where it may, it runs before all other processes, as a switch
// would.
// Usage: fab_rig_switch DELAY_US INTERFACE INTERFACE...   until it is killed
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <span>
#include <stdexcept>
#include <string>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Bytes = std::span<const std::byte>;

// Before each frame: what the sender left to its card. The size of virtio_net_hdr, whose header is for C alone.
constexpr std::size_t kHeader = 10;
constexpr std::size_t kLongest = kHeader + ETH_HLEN + (64 << 10);
constexpr int kKernelBytes = 32 << 20;  // of a socket, each way
constexpr int kAtOnce = 64;             // frames of a port, before others and what is due

[[noreturn]] void fail(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

/// One interface: every frame that arrives, and none of those that leave.
class Port {
 public:
  explicit Port(const std::string& interface)
      : interface_(interface), socket_(::socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    if (socket_ < 0) fail("a packet socket");
    const auto index = static_cast<int>(::if_nametoindex(interface.c_str()));
    if (index == 0) fail(interface);
    const int on = 1;
    set(SOL_PACKET, PACKET_VNET_HDR, on);
    set(SOL_PACKET, PACKET_IGNORE_OUTGOING, on);
    set(SOL_SOCKET, SO_RCVBUFFORCE, kKernelBytes);
    set(SOL_SOCKET, SO_SNDBUFFORCE, kKernelBytes);
    packet_mreq all{};
    all.mr_ifindex = index;
    all.mr_type = PACKET_MR_PROMISC;
    set(SOL_PACKET, PACKET_ADD_MEMBERSHIP, all);
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_ALL);
    address.sll_ifindex = index;
    if (::bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) fail(interface);
  }
  Port(Port&& other) noexcept : interface_(std::move(other.interface_)), socket_(std::exchange(other.socket_, -1)) {}
  Port& operator=(Port&&) = delete;
  ~Port() {
    if (socket_ >= 0) ::close(socket_);
  }

  [[nodiscard]] int socket() const noexcept { return socket_; }
  /// The length of a frame that is now there; 0: none is.
  [[nodiscard]] std::size_t receive(std::span<std::byte> room) const {
    const ssize_t got = ::recv(socket_, room.data(), room.size(), 0);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EAGAIN && errno != EINTR && errno != ENETDOWN) fail(interface_);
    return 0;
  }
  /// What finds no room is dropped, as any switch does.
  void send(Bytes frame) const {
    if (::send(socket_, frame.data(), frame.size(), 0) >= 0) return;
    if (errno != EAGAIN && errno != ENOBUFS && errno != ENETDOWN && errno != EINTR) fail(interface_);
  }

 private:
  template <class Value>
  void set(int level, int option, const Value& value) const {
    if (::setsockopt(socket_, level, option, &value, sizeof value) != 0) fail(interface_);
  }

  std::string interface_;
  int socket_;
};

class Switch {
 public:
  Switch(std::chrono::microseconds delay, std::vector<Port> ports) : delay_(delay), ports_(std::move(ports)) {
    for (const Port& port : ports_) polled_.push_back({.fd = port.socket(), .events = POLLIN, .revents = 0});
  }

  [[noreturn]] void run() {
    while (true) {
      wait();
      for (std::size_t port = 0; port < ports_.size(); ++port) take_from(port);
      while (!held_.empty() && held_.front().due <= Clock::now()) {
        deliver(held_.front());
        held_.pop_front();
      }
    }
  }

 private:
  struct Held {
    Clock::time_point due;
    std::size_t from;
    std::vector<std::byte> frame;
  };
  using Address = std::uint64_t;

  /// Until a frame arrives, or the first one is due.
  void wait() {
    timespec rest{};
    if (!held_.empty()) {
      const auto ns = std::chrono::nanoseconds(std::max(held_.front().due - Clock::now(), Clock::duration{})).count();
      rest = {.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
    }
    if (::ppoll(polled_.data(), polled_.size(), held_.empty() ? nullptr : &rest, nullptr) < 0 && errno != EINTR)
      fail("ppoll");
  }
  void take_from(std::size_t port) {
    for (int count = 0; count < kAtOnce; ++count) {
      const std::size_t bytes = ports_[port].receive(room_);
      if (bytes < kHeader + ETH_HLEN) return;
      held_.push_back(
          {Clock::now() + delay_, port, {room_.begin(), room_.begin() + static_cast<std::ptrdiff_t>(bytes)}});
    }
  }
  /// To the port behind which its receiver was last heard of, or to all others.
  void deliver(const Held& held) {
    const std::byte* ethernet = held.frame.data() + kHeader;
    port_of_[address_at(ethernet + ETH_ALEN)] = held.from;
    const auto known = port_of_.find(address_at(ethernet));
    for (std::size_t port = 0; port < ports_.size(); ++port)
      if (port != held.from && (known == port_of_.end() || known->second == port)) ports_[port].send(held.frame);
  }
  static Address address_at(const std::byte* bytes) {
    Address address = 0;
    std::memcpy(&address, bytes, ETH_ALEN);
    return address;
  }

  const std::chrono::microseconds delay_;
  const std::vector<Port> ports_;
  std::vector<pollfd> polled_;
  std::vector<std::byte> room_ = std::vector<std::byte>(kLongest);
  std::deque<Held> held_;  // the delay is the same for all, so the first one is due first
  std::unordered_map<Address, std::size_t> port_of_;
};

void come_before_others() {
  const sched_param first{.sched_priority = 1};
  if (::sched_setscheduler(0, SCHED_FIFO, &first) != 0) std::perror("fab_rig_switch: it has no priority");
  if (::prctl(PR_SET_TIMERSLACK, 1) != 0) fail("PR_SET_TIMERSLACK");
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 4) throw std::invalid_argument("usage: fab_rig_switch DELAY_US INTERFACE INTERFACE...");
  const std::chrono::microseconds delay(std::atol(argv[1]));
  std::vector<Port> ports;
  for (const char* interface : std::span(argv + 2, argv + argc)) ports.emplace_back(interface);
  come_before_others();
  Switch(delay, std::move(ports)).run();
} catch (const std::exception& error) {
  std::fprintf(stderr, "fab_rig_switch: %s\n", error.what());
  return EXIT_FAILURE;
}
