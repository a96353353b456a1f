// The simulated network as a rank's provider.
#include <string>

#include "providers/sim/network.h"

namespace fab::sim {

class Network::Exposed final : public Registration {
 public:
  Exposed(Network& network, Rank rank, std::uint64_t key) : network_(network), rank_(rank), key_(key) {}
  ~Exposed() override { network_.withdraw(rank_, key_); }
  Exposed(const Exposed&) = delete;
  Exposed& operator=(const Exposed&) = delete;
  [[nodiscard]] RemoteMemory remote() const noexcept override { return {0, key_}; }

 private:
  Network& network_;
  Rank rank_;
  std::uint64_t key_;
};

class Network::Access final : public Provider {
 public:
  Access(Network& network, Rank rank) : network_(network), rank_(rank), address_(std::to_string(rank)) {}
  ~Access() override { network_.close(rank_); }
  Access(const Access&) = delete;
  Access& operator=(const Access&) = delete;

  [[nodiscard]] const Capabilities& capabilities() const noexcept override { return network_.options().capabilities; }
  [[nodiscard]] const std::string& name() const noexcept override { return name_; }
  [[nodiscard]] const std::string& description() const noexcept override { return name_; }
  [[nodiscard]] const std::string& address() const noexcept override { return address_; }

  PeerHandle connect(std::string_view address) override {
    const unsigned long long rank = std::stoull(std::string(address));
    if (rank >= static_cast<unsigned long long>(network_.size()))
      throw Error(Errc::unreachable, "sim: no rank " + std::string(address));
    return rank;
  }
  PostResult post_send(PeerHandle to, std::span<const iovec> pieces, std::uint64_t tag,
                       Completion& completion) override {
    return network_.send(rank_, static_cast<Rank>(to), pieces, tag, completion);
  }
  PostResult post_recv(PeerHandle from, std::span<const iovec> pieces, std::uint64_t tag, std::uint64_t ignore,
                       Completion& completion) override {
    return network_.receive(
        rank_, {static_cast<Rank>(from), tag, ignore, {pieces.begin(), pieces.end()}, &completion, Time{}});
  }
  [[nodiscard]] std::unique_ptr<Registration> expose(std::span<std::byte> memory) override {
    return std::make_unique<Exposed>(network_, rank_, network_.expose(rank_, memory));
  }
  [[nodiscard]] std::unique_ptr<Registration> prepare_source(std::span<const iovec>) override {
    return std::make_unique<Exposed>(network_, rank_, 0);
  }
  PostResult post_write(PeerHandle to, std::span<const iovec> pieces, const Registration& source,
                        const RemoteMemory& target, std::uint32_t data, Completion& completion) override {
    if (dynamic_cast<const Exposed*>(&source) == nullptr) network_.write_unprepared(rank_);
    return network_.write({rank_, static_cast<Rank>(to), target, data, {pieces.begin(), pieces.end()}, 0, &completion});
  }
  void set_listener(WriteListener* listener) noexcept override { network_.port(rank_).listener = listener; }
  void cancel(Completion& completion) override { network_.cancel(rank_, completion); }
  void visit_ways(PeerHandle to, const WayVisitor& visit) const override {
    network_.visit_ways(rank_, static_cast<Rank>(to), visit);
  }
  [[nodiscard]] std::string_view way_of(PeerHandle, std::span<const iovec>, std::size_t) const override {
    return "tagged";
  }
  std::size_t poll() override { return network_.poll(rank_); }
  [[nodiscard]] int wait_fd() const noexcept override { return network_.port(rank_).wait_fd; }
  [[nodiscard]] bool may_sleep() override { return network_.may_sleep(rank_); }

 private:
  Network& network_;
  const Rank rank_;
  const std::string name_ = "sim";
  const std::string address_;
};

std::unique_ptr<Provider> Network::open(Rank rank) {
  auto provider = std::make_unique<Access>(*this, rank);
  const std::lock_guard lock(mutex_);
  ++providers_;
  return provider;
}

int Network::providers() const {
  const std::lock_guard lock(mutex_);
  return providers_;
}

}  // namespace fab::sim
