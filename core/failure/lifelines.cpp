#include "core/failure/lifelines.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/base/hash.h"
#include "core/base/high_descriptor.h"

namespace fab::core {

namespace {

/// Connections that this rank has not accepted. The kernel takes fewer where it is told so.
constexpr int kBacklog = 4096;
/// Lines that stay connected although no operation waits for their peers.
constexpr std::size_t kMostIdle = 32;
/// Without an operation that waits, probes end after this time.
constexpr auto kKeptUnwanted = std::chrono::seconds(2);

/// What a rank tells its clients.
struct Record {
  static constexpr std::uint32_t kLost = 0x6661624c;     // "fabL"
  static constexpr std::uint32_t kClosed = 0x66616243;   // "fabC"
  static constexpr std::uint32_t kGivenUp = 0x66616247;  // "fabG"
  static constexpr std::uint32_t kCut = 0x66616258;      // "fabX"

  std::uint32_t kind = 0;
  Rank rank = kNoRank;
  std::uint32_t communicator = 0;
  std::uint32_t cut = 0;  ///< the word of a peer, or of a host
};
static_assert(sizeof(Record) == sizeof(Lifeline::record));

void send_record(int fd, const Record& record) noexcept {
  // A client that takes nothing hears it by the end of its connection.
  [[maybe_unused]] const ssize_t sent = ::send(fd, &record, sizeof(record), MSG_DONTWAIT | MSG_NOSIGNAL);
}

/// At most one of each communicator, and none of those that go on.
void update(std::vector<GivenUp>& all, const GivenUp& news) {
  std::erase_if(all, [&news](const GivenUp& each) { return each.communicator == news.communicator; });
  if (news.failed_rank != kNoRank) all.push_back(news);
}

int error_of(int fd) noexcept {
  int error = 0;
  socklen_t length = sizeof(error);
  return ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno;
}

bool set_option(int fd, int level, int option, int value) noexcept {
  return ::setsockopt(fd, level, option, &value, sizeof(value)) == 0;
}

std::string to_hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += kDigits[static_cast<unsigned char>(byte) >> 4];
    text += kDigits[static_cast<unsigned char>(byte) & 0xf];
  }
  return text;
}

int digit(char character) noexcept {
  if (character >= '0' && character <= '9') return character - '0';
  return character >= 'a' && character <= 'f' ? character - 'a' + 10 : -1;
}

/// Whether the text is the address of an internet socket.
bool from_hex(std::string_view text, Lifeline& line) noexcept {
  if (text.size() % 2 != 0 || text.size() / 2 > sizeof(line.address)) return false;
  std::array<char, sizeof(sockaddr_storage)> bytes{};
  for (std::size_t i = 0; i < text.size() / 2; ++i) {
    const int high = digit(text[2 * i]);
    const int low = digit(text[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    bytes[i] = static_cast<char>(high << 4 | low);
  }
  std::memcpy(&line.address, bytes.data(), text.size() / 2);
  line.address_bytes = static_cast<socklen_t>(text.size() / 2);
  return (line.address.ss_family == AF_INET && line.address_bytes == sizeof(sockaddr_in)) ||
         (line.address.ss_family == AF_INET6 && line.address_bytes == sizeof(sockaddr_in6));
}

/// Stands for an address in records, the same on all ranks.
std::uint32_t word_of(const sockaddr_storage& address, socklen_t bytes) noexcept {
  return static_cast<std::uint32_t>(hash_of({reinterpret_cast<const char*>(&address), bytes}) >> 32) | 1;
}

void clear_port(sockaddr_storage& address) noexcept {
  if (address.ss_family == AF_INET) reinterpret_cast<sockaddr_in&>(address).sin_port = 0;
  if (address.ss_family == AF_INET6) reinterpret_cast<sockaddr_in6&>(address).sin6_port = 0;
}

std::uint32_t host_word_of(const Lifeline& line) noexcept {
  sockaddr_storage address = line.address;
  clear_port(address);
  return word_of(address, line.address_bytes);
}

}  // namespace

Rank Lifeline::failed_rank_of(std::uint32_t communicator) const noexcept {
  const auto found = std::ranges::find(given_up, communicator, &GivenUp::communicator);
  return found == given_up.end() ? kNoRank : found->failed_rank;
}

Lifelines::Lifelines(const HostAddress& host, double vanished_s, const Log& log) : vanished_s_(vanished_s), log_(log) {
  open_port(host);
}

Lifelines::~Lifelines() { close(); }

// Without a port this rank's peers have only what their provider, and the launcher, tell of its end.
void Lifelines::open_port(const HostAddress& host) {
  sockaddr_storage address{};
  if (host.socket_address.empty() || host.socket_address.size() > sizeof(address)) return;
  std::memcpy(&address, host.socket_address.data(), host.socket_address.size());
  clear_port(address);
  auto length = static_cast<socklen_t>(host.socket_address.size());
  host_word_ = word_of(address, length);
  auto* const name = reinterpret_cast<sockaddr*>(&address);
  port_ = moved_up(::socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (port_ >= 0 && ::bind(port_, name, length) == 0 && ::listen(port_, kBacklog) == 0 &&
      ::getsockname(port_, name, &length) == 0) {
    word_ = word_of(address, length);
    address_ = (host.carries_messages ? "t" : "u") + to_hex({reinterpret_cast<const char*>(&address), length});
    return;
  }
  log_.write(LogLevel::info,
             "cannot open a port that tells other ranks of the end of this rank; they will notice it late: {}",
             std::strerror(errno));
  if (port_ >= 0) ::close(std::exchange(port_, -1));
}

Lifeline* Lifelines::meet(Rank rank, std::string_view address, Time now) {
  if (address.empty()) return nullptr;
  Lifeline line;
  line.rank = rank;
  line.trusted = address.front() == 't';
  if (!from_hex(address.substr(1), line)) return nullptr;
  connect(lines_.emplace_back(line), now);
  return &lines_.back();
}

void Lifelines::connect(Lifeline& line, Time now) {
  line.fd = ::socket(line.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (line.fd < 0) return;  // no descriptor is left: later, perhaps
  if (line.since == Time{}) line.since = now;
  line.state = Lifeline::State::connecting;
  line.record_bytes = 0;
  line.given_up.clear();  // the peer tells it anew
  if (::connect(line.fd, reinterpret_cast<const sockaddr*>(&line.address), line.address_bytes) == 0)
    connected(line);
  else if (errno != EINPROGRESS)
    could_not_connect(line, errno, now);
}

void Lifelines::connected(Lifeline& line) {
  line.state = Lifeline::State::connected;
  line.reachable = true;
  line.since = {};
}

bool Lifelines::is_silent(const Lifeline& line, Time now) const {
  return vanished_s_ > 0 && line.since != Time{} && now - line.since >= std::chrono::duration<double>(vanished_s_);
}

// A firewall refuses, or drops, what it does not know. So a silence counts only where there was an answer before, a
// refusal also where this peer's messages take the same way.
void Lifelines::could_not_connect(Lifeline& line, int error, Time now) {
  drop(line);
  if (error == ECONNREFUSED || error == ECONNRESET) {
    if (line.reachable || line.trusted) return end(line, Lifeline::End::died, now);
    return give_up(line, "refused");
  }
  if (!is_silent(line, now)) return;  // it is tried again
  if (line.reachable) return end(line, Lifeline::End::vanished, now);
  give_up(line, "not answered");
}

void Lifelines::give_up(Lifeline& line, const char* why) {
  drop(line);
  line.state = Lifeline::State::useless;
  log_.write(LogLevel::info,
             "the connection that shows whether the machine of rank {} is alive was {}; without FAB_WAIT_TIMEOUT a "
             "failure of that machine may go unnoticed",
             line.rank, why);
}

void Lifelines::drop(Lifeline& line) noexcept {
  if (line.fd >= 0) ::close(std::exchange(line.fd, -1));
  line.state = Lifeline::State::idle;
  line.probes = false;
}

void Lifelines::end(Lifeline& line, Lifeline::End how, Time now) {
  drop(line);
  line.state = Lifeline::State::ended;
  line.end = how;
  line.ended = now;
  ++ended_;
}

// The kernel counts whole seconds. The last probe that is not answered ends the connection one interval later.
void Lifelines::set_probes(Lifeline& line, bool on) const {
  if (vanished_s_ <= 0 || line.probes == on) return;
  line.probes = on;
  if (on) {
    constexpr int kProbes = 6;
    const int bound_s = static_cast<int>(std::clamp(std::ceil(vanished_s_), 2.0, 30'000.0));
    const int interval_s = std::max(1, bound_s / kProbes);
    set_option(line.fd, IPPROTO_TCP, TCP_KEEPIDLE, interval_s);
    set_option(line.fd, IPPROTO_TCP, TCP_KEEPINTVL, interval_s);
    set_option(line.fd, IPPROTO_TCP, TCP_KEEPCNT, std::max(1, bound_s / interval_s - 1));
  }
  set_option(line.fd, SOL_SOCKET, SO_KEEPALIVE, on ? 1 : 0);
}

void Lifelines::want(Lifeline& line, Time now) {
  line.wanted = now;
  if (line.state == Lifeline::State::idle) connect(line, now);
  if (line.state == Lifeline::State::connected) set_probes(line, true);
}

void Lifelines::poll(Time now) {
  events_.clear();
  open_.clear();
  for (Lifeline& line : lines_) {
    if (line.fd < 0) continue;
    const short what = line.state == Lifeline::State::connecting ? POLLOUT : POLLIN;
    events_.push_back({line.fd, what, 0});
    open_.push_back(&line);
  }
  if (!events_.empty() && ::poll(events_.data(), events_.size(), 0) < 0) return;
  for (std::size_t i = 0; i < open_.size(); ++i) {
    Lifeline& line = *open_[i];
    if (line.state == Lifeline::State::connecting) {
      const int error = events_[i].revents != 0 ? error_of(line.fd) : 0;
      if (error != 0)
        could_not_connect(line, error, now);
      else if (events_[i].revents != 0)
        connected(line);
      else if (is_silent(line, now))
        could_not_connect(line, ETIMEDOUT, now);
    }
    if (line.state == Lifeline::State::connected && events_[i].revents != 0) read(line, now);
  }
  rest(now);
  serve();
}

void Lifelines::read(Lifeline& line, Time now) {
  for (;;) {
    const ssize_t bytes =
        ::recv(line.fd, line.record.data() + line.record_bytes, line.record.size() - line.record_bytes, MSG_DONTWAIT);
    if (bytes > 0) {
      line.record_bytes += static_cast<std::size_t>(bytes);
      if (line.record_bytes == line.record.size()) take_record(line);
      continue;
    }
    if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return;
    const bool by_process = bytes == 0 || errno == ECONNRESET || errno == EPIPE;
    const auto ended = line.said_closed ? Lifeline::End::closed : Lifeline::End::died;
    return end(line, by_process ? ended : Lifeline::End::vanished, now);
  }
}

void Lifelines::take_record(Lifeline& line) const {
  Record record;
  std::memcpy(&record, line.record.data(), sizeof(record));
  line.record_bytes = 0;
  if (record.kind == Record::kClosed) line.said_closed = true;
  if (record.kind == Record::kLost && line.told == kNoRank) line.told = record.rank;
  if (record.kind == Record::kCut && (record.cut == word_ || record.cut == host_word_)) line.cut_off = true;
  if (record.kind == Record::kGivenUp) update(line.given_up, {record.communicator, record.rank});
}

// Nothing is sent on lines that no operation needs, and only some of them stay.
void Lifelines::rest(Time now) {
  std::size_t idle = 0;
  for (Lifeline& line : lines_) {
    if (line.state != Lifeline::State::connected || now - line.wanted < kKeptUnwanted) continue;
    set_probes(line, false);
    if (++idle > kMostIdle) drop(line);
  }
}

// Who accepts needs a descriptor for each, so the kernel keeps them until it has no room, or there is something to
// tell.
void Lifelines::serve() {
  if (port_ < 0) return;
  if (!lost_.empty()) return accept_all();
  tcp_info state{};
  socklen_t length = sizeof(state);
  if (::getsockopt(port_, IPPROTO_TCP, TCP_INFO, &state, &length) != 0) return;
  if (state.tcpi_unacked > state.tcpi_sacked / 2) accept_all();  // of a port: how many wait, and how many may
}

void Lifelines::accept_all() {
  forget_gone();
  while (clients_.size() < kMostClients) {
    const int client = accept();
    if (client < 0) return;
    clients_.push_back(client);
    tell_all(client);
  }
}

void Lifelines::tell_all(int client) const noexcept {
  for (const Rank lost : lost_) send_record(client, {Record::kLost, lost});
  for (const GivenUp& what : given_up_) send_record(client, {Record::kGivenUp, what.failed_rank, what.communicator});
  for (const std::uint32_t cut : cut_) send_record(client, {.kind = Record::kCut, .cut = cut});
}

// A thread that sleeps on the port would be woken again and again by those that cannot be accepted.
int Lifelines::accept() {
  const int client = moved_up(::accept4(port_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  can_accept_ = client >= 0 || errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
  return client;
}

void Lifelines::forget_gone() {
  std::erase_if(clients_, [](int client) {
    char ignored = 0;
    const ssize_t bytes = ::recv(client, &ignored, 1, MSG_DONTWAIT);
    if (bytes > 0 || (bytes < 0 && (errno == EAGAIN || errno == EINTR))) return false;
    ::close(client);
    return true;
  });
}

void Lifelines::tell(Rank lost) {
  if (port_ < 0 || std::ranges::find(lost_, lost) != lost_.end()) return;
  for (const int client : clients_) send_record(client, {Record::kLost, lost});
  lost_.push_back(lost);
  accept_all();
}

void Lifelines::tell_cut(const Lifeline& line, bool whole_host) {
  const std::uint32_t word = whole_host ? host_word_of(line) : word_of(line.address, line.address_bytes);
  for (Lifeline& each : lines_)
    if (&each == &line || host_word_of(each) == word) each.cut_off = true;
  if (port_ < 0 || std::ranges::find(cut_, word) != cut_.end()) return;
  for (const int client : clients_) send_record(client, {.kind = Record::kCut, .cut = word});
  cut_.push_back(word);
  accept_all();
}

void Lifelines::tell(const GivenUp& what) {
  if (port_ < 0) return;
  for (const int client : clients_) send_record(client, {Record::kGivenUp, what.failed_rank, what.communicator});
  update(given_up_, what);
  accept_all();
}

void Lifelines::leave_to_parent() noexcept {
  for (Lifeline& line : lines_) drop(line);
  for (const int client : clients_) ::close(client);
  clients_.clear();
  if (port_ >= 0) ::close(std::exchange(port_, -1));
}

void Lifelines::close() {
  for (Lifeline& line : lines_) drop(line);
  if (port_ < 0) return;
  for (int client = accept(); client >= 0; client = accept()) {
    tell_all(client);
    send_record(client, {Record::kClosed, kNoRank});
    ::close(client);
  }
  for (const int client : clients_) {
    send_record(client, {Record::kClosed, kNoRank});
    ::close(client);
  }
  clients_.clear();
  ::close(std::exchange(port_, -1));
}

}  // namespace fab::core
