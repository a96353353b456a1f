#include "core/peers.h"

#include <fmt/format.h>

namespace fab::core {

namespace {

const std::string kAddressKey = "fab.address";

}  // namespace

PostResult Peer::post_recv(std::span<const iovec> pieces, std::uint64_t tag, const TagFormat& tags,
                           Completion& completion) const {
  if (inbox != nullptr) return inbox->post_recv(handle, pieces, tag, completion);
  return provider->post_recv(handle, pieces, tag, tags.framed(), completion);
}

void PeerTable::publish() { store_.publish(kAddressKey, provider_.address()); }

Peer& PeerTable::find(Rank world_rank) {
  auto& peer = peers_[world_rank];
  if (peer) return *peer;
  peer = std::make_unique<Peer>();
  peer->world_rank = world_rank;
  store_.fetch(world_rank, kAddressKey,
               [this, found = peer.get()](std::optional<std::string> address, const std::string& reason) {
                 engine_.enqueue([this, found, address = std::move(address), reason] {
                   engine_.mutex.assert_held();
                   arrived(*found, address, reason);
                 });
               });
  return *peer;
}

std::vector<Rank> PeerTable::reached(Rank self) const {
  engine_.mutex.assert_held();
  std::vector<Rank> ranks;
  for (const auto& [rank, peer] : peers_)
    if (rank != self && peer->state == Peer::State::ready) ranks.push_back(rank);
  return ranks;
}

void PeerTable::arrived(Peer& peer, const std::optional<std::string>& address, const std::string& reason) {
  try {
    if (!address)
      throw Error(Errc::unreachable, fmt::format("the address of rank {} cannot be had: {}", peer.world_rank, reason));
    peer.handle = provider_.connect(*address);
    peer.provider = &provider_;
    peer.inbox = inbox_;
    peer.state = Peer::State::ready;
    engine_.log().write(LogLevel::debug, "rank {} is reached through {}", peer.world_rank, provider_.name());
  } catch (const Error& error) {
    peer.failure = {error.code(), fmt::format("rank {}: {}", peer.world_rank, error.what())};
    peer.state = Peer::State::failed;
  }
}

}  // namespace fab::core
