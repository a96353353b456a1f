// The congestion control of TCP connections.
#include "providers/ofi/congestion.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <filesystem>
#include <set>
#include <string>

#include "support/provider_pair.h"
#include "unit/support/expect_error.h"

namespace fab::test {
namespace {

TEST(Congestion, KeepsTheKernelsDefaultUnlessItPaces) {
  EXPECT_EQ(ofi::choose_congestion_control("cubic", "reno cubic"), "");
  EXPECT_EQ(ofi::choose_congestion_control("reno", "reno"), "");
  EXPECT_EQ(ofi::choose_congestion_control("bbr", "reno bbr"), "reno");
  EXPECT_EQ(ofi::choose_congestion_control("bbr", "reno bbr cubic"), "cubic");
  EXPECT_EQ(ofi::choose_congestion_control("bbr2", ""), "reno");
}

TEST(Congestion, IsWhatTheUserWants) {
  EXPECT_EQ(ofi::wanted_congestion_control("kernel"), "");
  EXPECT_EQ(ofi::wanted_congestion_control("vegas"), "vegas");
}

TEST(Congestion, NamesThatTheKernelDoesNotKnowAreRefused) {
  expect_error(Errc::configuration, {"FAB_TCP_CONGESTION=\"no_such\"", "No such file", "valid: auto, kernel or"},
               [] { ofi::use_congestion_control("no_such"); });
  expect_error(Errc::configuration, {"the kernel refuses it"},
               [] { ofi::use_congestion_control("longer_than_a_name"); });
}

/// Of this process's listening and connected TCP sockets.
std::multiset<std::string> congestion_controls() {
  std::multiset<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::array<char, 16> name{};
    socklen_t bytes = name.size();
    const int fd = std::stoi(entry.path().filename());
    if (::getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name.data(), &bytes) == 0) names.insert(name.data());
  }
  return names;
}

class TcpPair : protected ProviderPair {
 public:
  explicit TcpPair(const Config& config) : ProviderPair(open_end(config, 0), open_end(config, 1)) {}
  void exchange() { transfer(100, 1, 1); }
};

// Each user may take reno, which is not the kernel's default on most machines.
TEST(Congestion, IsThatOfListenersAndConnectionsOfLibfabric) {
  Config config;
  config.provider = "tcp";
  config.tcp_congestion = "reno";
  const auto before = congestion_controls().count("reno");
  TcpPair pair(config);
  ASSERT_NO_FATAL_FAILURE(pair.exchange());
  EXPECT_GE(congestion_controls().count("reno"), before + 4) << "two that listen, and both ends of a connection";
}

}  // namespace
}  // namespace fab::test
