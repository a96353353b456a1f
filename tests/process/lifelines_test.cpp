// The kernel's reports about peers (core/failure/lifelines.h), with the test's sockets and a clock that it turns.
#include "core/failure/lifelines.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace fab::core {
namespace {

using std::chrono::seconds;

constexpr double kVanishedS = 30;

HostAddress loopback(bool carries_messages = true) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return {std::string(reinterpret_cast<const char*>(&address), sizeof(address)), carries_messages};
}

class LifelinesTest : public testing::Test {
 protected:
  static std::unique_ptr<Lifelines> make(bool carries_messages = true) {
    return std::make_unique<Lifelines>(loopback(carries_messages), kVanishedS, Log(LogLevel::off, 0));
  }

  /// The kernel takes a moment: polls until the line is in that state, at most for a time that no machine needs.
  void await(Lifelines& lines, const Lifeline& line, Lifeline::State state) const {
    for (int tries = 0; tries < 10'000 && line.state != state; ++tries) {
      lines.poll(now_);
      ::poll(nullptr, 0, 1);
    }
    ASSERT_EQ(line.state, state);
  }
  Lifeline& connected(Lifelines& lines, const Lifelines& peer) const {
    Lifeline* const line = lines.meet(1, peer.address(), now_);
    EXPECT_NE(line, nullptr);
    await(lines, *line, Lifeline::State::connected);
    return *line;
  }
  static bool probes(const Lifeline& line) {
    int on = 0;
    socklen_t bytes = sizeof(on);
    EXPECT_EQ(::getsockopt(line.fd, SOL_SOCKET, SO_KEEPALIVE, &on, &bytes), 0);
    return on != 0;
  }

  Lifeline::Time now_ = Lifeline::Time{} + seconds(1000);
  std::unique_ptr<Lifelines> here_ = make();
  std::unique_ptr<Lifelines> there_ = make();
};

/// A port like that of a process, which the test can end without a word.
struct Port {
  Port() {
    HostAddress host = loopback();
    sockaddr_in address{};
    socklen_t bytes = sizeof(address);
    std::copy(host.socket_address.begin(), host.socket_address.end(), reinterpret_cast<char*>(&address));
    fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), bytes), 0);
    EXPECT_EQ(::listen(fd, 8), 0);
    EXPECT_EQ(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &bytes), 0);
    constexpr std::string_view kDigits = "0123456789abcdef";
    const auto* const raw = reinterpret_cast<const unsigned char*>(&address);
    for (std::size_t i = 0; i < bytes; ++i) text += {kDigits[raw[i] >> 4], kDigits[raw[i] & 0xf]};
  }
  ~Port() { end(); }
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  void end() {
    if (fd >= 0) ::close(fd);
    fd = -1;
  }

  int fd = -1;
  std::string text;  ///< of the address, without the character in front
};

TEST_F(LifelinesTest, TellThatAPeerEndedWithoutAWord) {
  Port port;
  Lifeline* const line = here_->meet(1, "t" + port.text, now_);
  await(*here_, *line, Lifeline::State::connected);
  port.end();
  await(*here_, *line, Lifeline::State::ended);
  EXPECT_EQ(line->end, Lifeline::End::died);
  EXPECT_EQ(line->ended, now_);
}

TEST_F(LifelinesTest, TellThatAPeerClosed) {
  const Lifeline& line = connected(*here_, *there_);
  there_->close();
  await(*here_, line, Lifeline::State::ended);
  EXPECT_EQ(line.end, Lifeline::End::closed);
}

TEST_F(LifelinesTest, TellWhomAPeerHasLost) {
  const Lifeline& before = connected(*here_, *there_);
  EXPECT_EQ(there_->port(), -1);
  there_->tell(5);
  EXPECT_GE(there_->port(), 0);
  const Lifeline& after = connected(*here_, *there_);
  for (int tries = 0; tries < 10'000 && (before.told != 5 || after.told != 5); ++tries) {
    there_->poll(now_);
    here_->poll(now_);
    ::poll(nullptr, 0, 1);
  }
  EXPECT_EQ(before.told, 5);
  EXPECT_EQ(after.told, 5);
  there_->close();
  await(*here_, before, Lifeline::State::ended);
  EXPECT_EQ(before.told, 5);
}

// A kernel ends descriptors from the last one down.
TEST_F(LifelinesTest, EndBeforeConnectionsThatAreOpenedLater) {
  connected(*here_, *there_);
  there_->tell(5);  // from now on it shows its port
  const int later = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  EXPECT_GT(there_->port(), later);
  ::close(later);
}

// Which only the ranks of that host believe.
TEST_F(LifelinesTest, TellThatAPeerEndsItsConnectionsWithThisHost) {
  for (const bool whole_host : {false, true}) {
    const auto there = make();
    const auto other = make();
    const Lifeline& line = connected(*here_, *there);
    const Lifeline& line_of_other = connected(*other, *there);
    Lifeline* const back = there->meet(0, here_->address(), now_);
    there->tell_cut(*back, whole_host);
    EXPECT_TRUE(back->cut_off);
    for (int tries = 0; tries < 10'000 && !(line.cut_off && line_of_other.cut_off == whole_host); ++tries) {
      there->poll(now_);
      here_->poll(now_);
      other->poll(now_);
      ::poll(nullptr, 0, 1);
    }
    EXPECT_TRUE(line.cut_off);
    EXPECT_EQ(line_of_other.cut_off, whole_host);
  }
}

TEST_F(LifelinesTest, ARefusalTellsOfAnEndWhereMessagesGo) {
  Port port;
  port.end();
  Lifeline* const trusted = here_->meet(1, "t" + port.text, now_);
  await(*here_, *trusted, Lifeline::State::ended);
  EXPECT_EQ(trusted->end, Lifeline::End::died);
  Lifeline* const other = here_->meet(2, "u" + port.text, now_);
  await(*here_, *other, Lifeline::State::useless);
}

TEST_F(LifelinesTest, ARefusalTellsOfAnEndWhereThereWasAnAnswer) {
  Port port;
  Lifeline* const line = here_->meet(1, "u" + port.text, now_);
  await(*here_, *line, Lifeline::State::connected);
  port.end();
  await(*here_, *line, Lifeline::State::ended);
  EXPECT_EQ(line->end, Lifeline::End::died);
}

/// A port whose queue is full does not answer, like one behind a firewall, or on a machine that is gone.
struct SilentPort : Port {
  SilentPort() {
    EXPECT_EQ(::listen(fd, 0), 0);
    for (int i = 0; i < 4; ++i) fillers.push_back(filler());
  }
  ~SilentPort() {
    for (const int each : fillers) ::close(each);
  }
  [[nodiscard]] int filler() const {
    sockaddr_in address{};
    socklen_t bytes = sizeof(address);
    EXPECT_EQ(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &bytes), 0);
    const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    static_cast<void>(::connect(client, reinterpret_cast<const sockaddr*>(&address), bytes));
    return client;
  }

  std::vector<int> fillers;
};

TEST_F(LifelinesTest, ASilenceTellsNothingWhereThereWasNeverAnAnswer) {
  SilentPort port;
  Lifeline* const line = here_->meet(1, "t" + port.text, now_);
  here_->want(*line, now_);
  here_->poll(now_ + seconds(29));
  ASSERT_EQ(line->state, Lifeline::State::connecting);
  here_->poll(now_ + seconds(31));
  EXPECT_EQ(line->state, Lifeline::State::useless);
}

TEST_F(LifelinesTest, ASilenceTellsOfAMachineThatHadAnswered) {
  SilentPort port;
  Lifeline* const line = here_->meet(1, "t" + port.text, now_);
  line->reachable = true;
  here_->poll(now_ + seconds(29));
  ASSERT_EQ(line->state, Lifeline::State::connecting);
  here_->poll(now_ + seconds(31));
  ASSERT_EQ(line->state, Lifeline::State::ended);
  EXPECT_EQ(line->end, Lifeline::End::vanished);
}

TEST_F(LifelinesTest, ProbeOnlyWhileACallWaits) {
  Lifeline& line = connected(*here_, *there_);
  EXPECT_FALSE(probes(line));
  here_->want(line, now_);
  EXPECT_TRUE(probes(line));
  here_->poll(now_ + seconds(1));
  EXPECT_TRUE(probes(line));
  here_->poll(now_ + seconds(3));
  EXPECT_FALSE(probes(line));
}

TEST_F(LifelinesTest, NeverProbeWhereThatIsOff) {
  Lifelines unbound(loopback(), 0, Log(LogLevel::off, 0));
  Lifeline& line = connected(unbound, *there_);
  unbound.want(line, now_);
  EXPECT_FALSE(probes(line));
}

TEST_F(LifelinesTest, KeepFewDescriptorsThatAreNotNeeded) {
  constexpr int kPeers = 40;
  constexpr int kMostIdle = 32;
  std::vector<Lifeline*> lines;
  for (int i = 0; i < kPeers; ++i) {
    lines.push_back(here_->meet(1, there_->address(), now_));
    for (int tries = 0; tries < 10'000 && !lines.back()->reachable; ++tries) {
      here_->poll(now_);
      ::poll(nullptr, 0, 1);
    }
    ASSERT_TRUE(lines.back()->reachable);
  }
  EXPECT_EQ(std::ranges::count(lines, Lifeline::State::connected, &Lifeline::state), kMostIdle);
  EXPECT_EQ(std::ranges::count(lines, -1, &Lifeline::fd), kPeers - kMostIdle);
  Lifeline& dropped = *lines.back();
  here_->want(dropped, now_);
  await(*here_, dropped, Lifeline::State::connected);
}

TEST_F(LifelinesTest, TakeNoAddressThatIsNone) {
  for (const char* text : {"", "t", "t12", "tzz", "t020000007f0000010000"})
    EXPECT_EQ(here_->meet(1, text, now_), nullptr);
}

TEST_F(LifelinesTest, HaveNoPortWithoutAnAddress) {
  const Lifelines none({}, kVanishedS, Log(LogLevel::off, 0));
  EXPECT_EQ(none.address(), "");
}

}  // namespace
}  // namespace fab::core
