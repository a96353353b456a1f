#include "unit/fabric.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>

#include "unit/iovec_bytes.h"

namespace fab::test {

class FabricProvider : public Provider {
 public:
  FabricProvider(Fabric& fabric, Rank rank, const FabricOptions& options)
      : fabric_(fabric),
        rank_(rank),
        capabilities_{.inject_bytes = options.inject_bytes,
                      .iov_limit = options.iov_limit,
                      .max_message_bytes = 1ull << 30,
                      .directed_receive = options.directed_receive,
                      .tag_mask = options.tag_mask,
                      .wait_fd = true,
                      .early_messages_block = options.early_messages_block,
                      .takes_longer_messages = options.takes_longer_messages,
                      .writes = options.writes},
        address_(std::to_string(rank)) {}

  [[nodiscard]] const Capabilities& capabilities() const noexcept override { return capabilities_; }
  [[nodiscard]] const std::string& name() const noexcept override { return name_; }
  [[nodiscard]] const std::string& description() const noexcept override { return name_; }
  [[nodiscard]] const std::string& address() const noexcept override { return address_; }

  PeerHandle connect(std::string_view address) override { return std::stoull(std::string(address)); }
  PostResult post_send(PeerHandle to, std::span<const iovec> pieces, std::uint64_t tag,
                       Completion& completion) override {
    check(pieces, tag);
    return fabric_.send(rank_, static_cast<Rank>(to), pieces, tag, completion);
  }
  PostResult post_recv(PeerHandle from, std::span<const iovec> pieces, std::uint64_t tag, std::uint64_t ignore,
                       Completion& completion) override {
    check(pieces, tag);
    return fabric_.receive(rank_, static_cast<Rank>(from), pieces, tag, ignore, completion);
  }
  [[nodiscard]] std::unique_ptr<Registration> expose(std::span<std::byte> memory) override {
    return std::make_unique<Prepared>(fabric_, rank_, fabric_.expose(rank_, memory));
  }
  [[nodiscard]] std::unique_ptr<Registration> prepare_source(std::span<const iovec>) override {
    return std::make_unique<Prepared>(fabric_, rank_, 0);
  }
  PostResult post_write(PeerHandle to, std::span<const iovec> pieces, const Registration& source,
                        const RemoteMemory& target, std::uint32_t data, Completion& completion) override {
    check(pieces, 0);
    EXPECT_NE(dynamic_cast<const Prepared*>(&source), nullptr);
    return fabric_.write(rank_, static_cast<Rank>(to),
                         {rank_, target, data, {pieces.begin(), pieces.end()}, &completion, 0});
  }
  void set_listener(WriteListener* listener) noexcept override { fabric_.port(rank_).listener = listener; }
  void cancel(Completion& completion) override { fabric_.cancel(rank_, completion); }
  std::size_t poll() override { return fabric_.poll(rank_); }
  [[nodiscard]] int wait_fd() const noexcept override { return fabric_.port(rank_).wait_fd; }
  [[nodiscard]] bool may_sleep() override { return fabric_.may_sleep(rank_); }

 private:
  class Prepared final : public Registration {
   public:
    Prepared(Fabric& fabric, Rank rank, std::uint64_t key) : fabric_(fabric), rank_(rank), key_(key) {}
    ~Prepared() override { fabric_.withdraw(rank_, key_); }
    [[nodiscard]] RemoteMemory remote() const noexcept override { return {0, key_}; }

   private:
    Fabric& fabric_;
    Rank rank_;
    std::uint64_t key_;
  };

  void check(std::span<const iovec> pieces, std::uint64_t tag) const {
    EXPECT_LE(pieces.size(), capabilities_.iov_limit);
    EXPECT_EQ(tag & ~capabilities_.tag_mask, 0u) << "bits that do not travel";
  }

  Fabric& fabric_;
  const Rank rank_;
  const Capabilities capabilities_;
  const std::string name_ = "fabric";
  const std::string address_;
};

Fabric::Fabric(int ranks, const FabricOptions& options)
    : options_(options), random_(options.seed), ports_(static_cast<std::size_t>(ranks)) {
  for (Port& each : ports_) each.wait_fd = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
}

Fabric::~Fabric() {
  for (const Port& each : ports_) ::close(each.wait_fd);
}

std::unique_ptr<Provider> Fabric::open(Rank rank) { return std::make_unique<FabricProvider>(*this, rank, options_); }

std::size_t Fabric::left_over() const {
  const std::lock_guard lock(mutex_);
  std::size_t count = 0;
  for (const Port& each : ports_)
    count += each.receives.size() + each.inbox.size() + each.events.size() + each.writes.size();
  return count;
}

bool Fabric::refuses(Port& from) {
  if (random_() % 100 >= options_.refused_percent) return false;
  refusals_.fetch_add(1);
  from.refused = true;
  return true;
}

unsigned Fabric::delay() { return static_cast<unsigned>(random_() % (options_.longest_delay + 1)); }

void Fabric::ring(const Port& to) {
  const std::uint64_t one = 1;
  EXPECT_EQ(::write(to.wait_fd, &one, sizeof(one)), static_cast<ssize_t>(sizeof(one)));
}

void Fabric::add(Port& to, Event event) {
  event.delay = delay();
  to.events.push_back(std::move(event));
  ring(to);
}

PostResult Fabric::send(Rank from, Rank to, std::span<const iovec> pieces, std::uint64_t tag, Completion& completion) {
  const std::lock_guard lock(mutex_);
  if (refuses(port(from))) return PostResult::again;
  messages_.fetch_add(1);
  const bool injected = total_bytes(pieces) <= options_.inject_bytes;
  Message message{from, tag, {pieces.begin(), pieces.end()}, {}, injected ? nullptr : &completion, delay()};
  if (injected) {
    message.injected = gather(pieces);
    message.pieces = {{message.injected.data(), message.injected.size()}};
  }
  port(to).inbox.push_back(std::move(message));
  ring(port(to));
  return injected ? PostResult::done : PostResult::pending;
}

PostResult Fabric::receive(Rank to, Rank from, std::span<const iovec> pieces, std::uint64_t tag, std::uint64_t ignore,
                           Completion& completion) {
  const std::lock_guard lock(mutex_);
  if (refuses(port(to))) return PostResult::again;
  port(to).receives.push_back({from, tag, ignore, {pieces.begin(), pieces.end()}, &completion});
  if (options_.early_messages_block) deliver_some(port(to));
  return PostResult::pending;
}

PostResult Fabric::write(Rank from, Rank to, Write write) {
  const std::lock_guard lock(mutex_);
  if (refuses(port(from))) return PostResult::again;
  write.delay = delay();
  port(to).writes.push_back(std::move(write));
  ring(port(to));
  return PostResult::pending;
}

std::uint64_t Fabric::expose(Rank rank, std::span<std::byte> memory) {
  const std::lock_guard lock(mutex_);
  port(rank).exposed.emplace(++last_key_, memory);
  return last_key_;
}

void Fabric::withdraw(Rank rank, std::uint64_t key) {
  const std::lock_guard lock(mutex_);
  port(rank).exposed.erase(key);
}

std::vector<std::uint32_t> Fabric::write_some(Port& to) {
  std::vector<std::list<Write>::iterator> order;
  for (auto write = to.writes.begin(); write != to.writes.end(); ++write) order.push_back(write);
  std::shuffle(order.begin(), order.end(), random_);
  std::vector<std::uint32_t> written;
  for (const auto& write : order) {
    if (write->delay > 0) {
      --write->delay;
      continue;
    }
    if (carry_out(to, *write)) written.push_back(write->data);
    to.writes.erase(write);
  }
  return written;
}

bool Fabric::carry_out(Port& to, const Write& write) {
  const std::vector<std::byte> bytes = gather(write.pieces);
  const auto target = to.exposed.find(write.target.key);
  if (target == to.exposed.end() || write.target.address + bytes.size() > target->second.size()) {
    add(port(write.from),
        {write.completion, 0, 0, {make_error_code(Errc::transport), "the peer's memory is not exposed"}, 0});
    return false;
  }
  std::ranges::copy(bytes, target->second.begin() + static_cast<std::ptrdiff_t>(write.target.address));
  add(port(write.from), {write.completion, bytes.size(), 0, {}, 0});
  return true;
}

void Fabric::cancel(Rank rank, Completion& completion) {
  const std::lock_guard lock(mutex_);
  auto& receives = port(rank).receives;
  const auto found = std::find_if(receives.begin(), receives.end(),
                                  [&](const Receive& receive) { return receive.completion == &completion; });
  if (found == receives.end()) return;
  receives.erase(found);
  add(port(rank), {&completion, 0, 0, {make_error_code(Errc::cancelled), "the receive was taken back"}, 0});
}

std::list<Fabric::Receive>::iterator Fabric::find_receive(Port& at, const Message& message) const {
  return std::find_if(at.receives.begin(), at.receives.end(), [&](const Receive& receive) {
    const bool source =
        !options_.directed_receive || receive.from == message.from || receive.from == static_cast<Rank>(kAnyPeer);
    return source && ((receive.tag ^ message.tag) & ~receive.ignore) == 0;
  });
}

void Fabric::deliver(Port& to, std::list<Message>::iterator message, std::list<Receive>::iterator receive) {
  const std::vector<std::byte> bytes = gather(message->pieces);
  const std::size_t room = total_bytes(receive->pieces);
  EXPECT_TRUE(options_.takes_longer_messages || bytes.size() <= room)
      << "not every provider survives a message that is too long";
  scatter(receive->pieces, std::span(bytes).first(std::min(bytes.size(), room)));
  add(to, {receive->completion, bytes.size(), message->tag, {}, 0});
  if (message->completion != nullptr) add(port(message->from), {message->completion, bytes.size(), 0, {}, 0});
  to.receives.erase(receive);
  to.inbox.erase(message);
}

void Fabric::deliver_some(Port& to) {
  std::vector<std::list<Message>::iterator> order;
  for (auto message = to.inbox.begin(); message != to.inbox.end(); ++message) order.push_back(message);
  if (!options_.early_messages_block) std::shuffle(order.begin(), order.end(), random_);
  std::vector<Rank> held_up;
  for (const auto& message : order) {
    if (std::find(held_up.begin(), held_up.end(), message->from) != held_up.end()) continue;
    const bool late = message->delay > 0;
    if (late) --message->delay;
    const auto receive = late ? to.receives.end() : find_receive(to, *message);
    if (receive != to.receives.end())
      deliver(to, message, receive);
    else if (options_.early_messages_block)
      held_up.push_back(message->from);
  }
}

std::list<Fabric::Event> Fabric::take_due(Port& at) {
  std::list<Event> due;
  for (auto next = at.events.begin(); next != at.events.end();) {
    const auto event = next++;
    if (event->delay > 0)
      --event->delay;
    else
      due.splice(due.begin(), at.events, event);  // the newest first
  }
  return due;
}

std::size_t Fabric::poll(Rank rank) {
  std::list<Event> due;
  std::vector<std::uint32_t> written;
  {
    const std::lock_guard lock(mutex_);
    port(rank).refused = false;
    deliver_some(port(rank));
    written = write_some(port(rank));
    due = take_due(port(rank));
  }
  for (const std::uint32_t data : written) port(rank).listener->written(data);
  for (const Event& event : due) {
    if (event.failure.ok())
      event.completion->done(event.bytes, event.tag);
    else
      event.completion->fail(event.failure);
  }
  return due.size() + written.size();
}

bool Fabric::may_sleep(Rank rank) {
  const std::lock_guard lock(mutex_);
  Port& at = port(rank);
  const bool deliverable = std::any_of(at.inbox.begin(), at.inbox.end(), [&](const Message& message) {
    return message.delay > 0 || find_receive(at, message) != at.receives.end();
  });
  if (at.refused || deliverable || !at.events.empty()) return false;
  std::uint64_t rings = 0;
  [[maybe_unused]] const auto bytes = ::read(at.wait_fd, &rings, sizeof(rings));  // perhaps none
  return true;
}

}  // namespace fab::test
