#include "fault_matrix/hosts.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <thread>

namespace fab::test {

namespace {

bool succeeds(const std::string& command) { return std::system(("(" + command + ") >/dev/null 2>&1").c_str()) == 0; }

}  // namespace

TwoHosts::TwoHosts() : id_(std::to_string(::getpid())) {
  const std::string interface = kInterface;
  for (const int host : {0, 1}) attempt("ip netns add " + name(host));
  attempt("ip link add " + interface + " netns " + name(0) + " type veth peer name " + interface + " netns " + name(1));
  for (const int host : {0, 1}) {
    attempt("ip -n " + name(host) + " link set lo up");
    attempt("ip -n " + name(host) + " addr add 10.78.0." + std::to_string(host + 1) + "/24 dev " + interface);
    attempt("ip -n " + name(host) + " link set " + interface + " up");
  }
  // libfabric passes over interfaces that are down, and the kernel brings the second end up some time later.
  for (const int host : {0, 1})
    for (int tries = 0; refusal_.empty() && tries < 1000; ++tries) {
      if (succeeds("ip -n " + name(host) + " link show dev " + interface + " | grep -q 'state UP'")) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
}

TwoHosts::~TwoHosts() {
  for (const int host : {0, 1}) succeeds("ip netns del " + name(host));
}

std::string TwoHosts::name(int host) const { return "fabhost" + std::to_string(host) + "-" + id_; }

void TwoHosts::attempt(const std::string& command) {
  if (refusal_.empty() && !succeeds(command)) refusal_ = "not permitted here: " + command;
}

void TwoHosts::enter(int host) const {
  const std::string path = "/run/netns/" + name(host);
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool entered = fd >= 0 && ::setns(fd, CLONE_NEWNET) == 0;
  if (fd >= 0) ::close(fd);
  if (!entered) throw std::runtime_error("cannot enter " + path);
}

void TwoHosts::cut() const {
  if (!succeeds("ip -n " + name(1) + " link set " + kInterface + " down"))
    throw std::runtime_error("cannot take the link down");
}

}  // namespace fab::test
