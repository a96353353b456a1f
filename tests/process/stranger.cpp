#include "process/stranger.h"

#include <arpa/inet.h>
#include <grp.h>
#include <netinet/in.h>
#include <poll.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <exception>
#include <iostream>
#include <stdexcept>

#include "providers/ofi/handles.h"
#include "providers/ofi/native_tcp.h"
#include "support/time_limit.h"

namespace fab::test {

namespace {

constexpr auto kTimeLimit = std::chrono::seconds(10);  ///< for a connection, or a message that the victim does not take
constexpr uid_t kUnprivilegedUser = 65534;

void check(long result, const char* call) {
  if (result < 0)
    throw std::runtime_error(std::string("stranger: ") + call + ": " + fi_strerror(static_cast<int>(-result)));
}

sockaddr_in socket_address(const std::string& place) {
  const std::size_t colon = place.rfind(':');
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(place.substr(colon + 1))));
  if (::inet_pton(AF_INET, place.substr(0, colon).c_str(), &address.sin_addr) != 1)
    throw std::runtime_error("stranger: no address: " + place);
  return address;
}

}  // namespace

struct Stranger::Objects {
  ofi::InfoHandle info;
  ofi::Handle<fid_fabric> fabric;
  ofi::Handle<fid_domain> domain;
  ofi::Handle<fid_av> addresses;
  ofi::Handle<fid_cq> queue;
  ofi::Handle<fid_ep> endpoint;
  fi_addr_t victim = FI_ADDR_UNSPEC;
  fi_context2 context{};
};

Stranger::Stranger(const std::string& provider, const std::string& place)
    : objects_(std::make_unique<Objects>()),
      time_limit_(std::chrono::duration_cast<std::chrono::milliseconds>(kTimeLimit * time_limit_s(1))) {
  const ofi::InfoHandle hints(fi_allocinfo());
  hints->caps = FI_TAGGED | FI_RMA;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->addr_format = FI_SOCKADDR_IN;
  hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_ENDPOINT | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
  hints->fabric_attr->prov_name = ::strdup(ofi::is_native_tcp(provider) ? ofi::native_tcp() : provider.c_str());
  fi_info* info = nullptr;
  check(fi_getinfo(FI_VERSION(1, 17), "127.0.0.1", nullptr, FI_SOURCE, hints.get(), &info), "fi_getinfo");
  objects_->info.reset(info);
  fid_fabric* fabric = nullptr;
  check(fi_fabric(info->fabric_attr, &fabric, nullptr), "fi_fabric");
  objects_->fabric.reset(fabric);
  fid_domain* domain = nullptr;
  check(fi_domain(fabric, info, &domain, nullptr), "fi_domain");
  objects_->domain.reset(domain);
  fi_av_attr av_attr{};
  fid_av* addresses = nullptr;
  check(fi_av_open(domain, &av_attr, &addresses, nullptr), "fi_av_open");
  objects_->addresses.reset(addresses);
  fi_cq_attr cq_attr{};
  cq_attr.format = FI_CQ_FORMAT_TAGGED;
  fid_cq* queue = nullptr;
  check(fi_cq_open(domain, &cq_attr, &queue, nullptr), "fi_cq_open");
  objects_->queue.reset(queue);
  fid_ep* endpoint = nullptr;
  check(fi_endpoint(domain, info, &endpoint, nullptr), "fi_endpoint");
  objects_->endpoint.reset(endpoint);
  check(fi_ep_bind(endpoint, &addresses->fid, 0), "fi_ep_bind");
  check(fi_ep_bind(endpoint, &queue->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
  check(fi_enable(endpoint), "fi_enable");
  const sockaddr_in victim = socket_address(place);
  if (fi_av_insert(addresses, &victim, 1, &objects_->victim, 0, nullptr) != 1)
    throw std::runtime_error("stranger: fi_av_insert");
}

Stranger::~Stranger() = default;

template <class Post>
bool Stranger::complete(Post post) {
  const auto end = std::chrono::steady_clock::now() + time_limit_;
  fi_cq_tagged_entry entry{};
  ssize_t posted = post();
  for (; posted == -FI_EAGAIN && std::chrono::steady_clock::now() < end; posted = post())
    static_cast<void>(fi_cq_read(objects_->queue.get(), &entry, 0));
  if (posted != 0) return false;
  while (std::chrono::steady_clock::now() < end) {
    const ssize_t count = fi_cq_read(objects_->queue.get(), &entry, 1);
    if (count == 1) return true;
    if (count != -FI_EAVAIL) continue;
    fi_cq_err_entry error{};
    static_cast<void>(fi_cq_readerr(objects_->queue.get(), &error, 0));
    return false;
  }
  return false;
}

bool Stranger::send(std::uint64_t tag, std::span<const std::byte> bytes) {
  return complete([&] {
    return fi_tsend(objects_->endpoint.get(), bytes.data(), bytes.size(), nullptr, objects_->victim, tag,
                    &objects_->context);
  });
}

bool Stranger::send(std::uint64_t tag, std::span<const std::byte> bytes, std::uint64_t data) {
  return complete([&] {
    return fi_tsenddata(objects_->endpoint.get(), bytes.data(), bytes.size(), nullptr, data, objects_->victim, tag,
                        &objects_->context);
  });
}

bool Stranger::write(std::uint64_t address, std::uint64_t key, std::span<const std::byte> bytes, std::uint64_t data) {
  return complete([&] {
    return fi_writedata(objects_->endpoint.get(), bytes.data(), bytes.size(), nullptr, data, objects_->victim, address,
                        key, &objects_->context);
  });
}

bool Stranger::tell(std::uint64_t data) {
  fi_msg_rma message{};
  message.addr = objects_->victim;
  message.context = &objects_->context;
  message.data = data;
  return complete([&] { return fi_writemsg(objects_->endpoint.get(), &message, FI_REMOTE_CQ_DATA | FI_COMPLETION); });
}

HalfWay::HalfWay(const std::string& place, std::size_t bytes)
    : to_(place), left_(bytes), listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
  const sockaddr_in any = socket_address("127.0.0.1:0");
  if (listener_ < 0 || ::bind(listener_, reinterpret_cast<const sockaddr*>(&any), sizeof(any)) != 0 ||
      ::listen(listener_, 1) != 0)
    throw std::runtime_error("stranger: no socket to listen at");
  thread_ = std::thread([this] { carry(); });
}

HalfWay::~HalfWay() {
  ends_.store(true);
  ::shutdown(listener_, SHUT_RDWR);
  thread_.join();
  ::close(listener_);
}

std::string HalfWay::place() const {
  sockaddr_in own{};
  socklen_t bytes = sizeof(own);
  if (::getsockname(listener_, reinterpret_cast<sockaddr*>(&own), &bytes) != 0)
    throw std::runtime_error("stranger: getsockname");
  return "127.0.0.1:" + std::to_string(ntohs(own.sin_port));
}

void HalfWay::carry() {
  constexpr int kLookMs = 10;
  const int in = ::accept(listener_, nullptr, nullptr);
  const int out = ::socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in victim = socket_address(to_);
  const bool connected =
      in >= 0 && out >= 0 && ::connect(out, reinterpret_cast<const sockaddr*>(&victim), sizeof(victim)) == 0;
  std::array<char, 4096> bytes{};
  while (connected && !ends_.load()) {
    std::array<pollfd, 2> sides{{{out, POLLIN, 0}, {left_ > 0 ? in : -1, POLLIN, 0}}};
    if (::poll(sides.data(), sides.size(), kLookMs) <= 0) continue;
    if (sides[0].revents != 0) {
      const ssize_t came = ::read(out, bytes.data(), bytes.size());
      if (came <= 0 || ::write(in, bytes.data(), static_cast<std::size_t>(came)) != came) break;
    }
    if (sides[1].revents == 0) continue;
    const ssize_t came = ::read(in, bytes.data(), std::min(bytes.size(), left_));
    if (came <= 0 || ::write(out, bytes.data(), static_cast<std::size_t>(came)) != came) break;
    left_ -= static_cast<std::size_t>(came);
    if (left_ == 0) stands_.store(true);
  }
  ::close(in);
  ::close(out);
}

StrangeProcess::StrangeProcess(const std::function<bool()>& body) : pid_(::fork()) {
  if (pid_ < 0) throw std::runtime_error("StrangeProcess: fork failed");
  if (pid_ > 0) return;
  bool well = ::geteuid() != 0 ||
              (::setgroups(0, nullptr) == 0 && ::setgid(kUnprivilegedUser) == 0 && ::setuid(kUnprivilegedUser) == 0);
  try {
    well = well && body();
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    well = false;
  }
  ::_exit(well ? 0 : 1);
}

StrangeProcess::~StrangeProcess() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

bool StrangeProcess::ended_well() {
  int status = 0;
  const bool ended = ::waitpid(pid_, &status, 0) == pid_;
  pid_ = -1;
  return ended && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace fab::test
