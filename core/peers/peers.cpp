#include "core/peers/peers.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/peers/settings.h"

namespace fab::core {

namespace {

const std::string kNetworkKey = "fab.address";
const std::string kNodeKey = "fab.node_address";
/// In place of the address in shared memory.
constexpr std::string_view kNoSharedMemory = "none";

const char* const kDifferentWays =
    "one of the two ranks shares memory with the node's and the other does not (FAB_LOCAL=off there, or the system "
    "refuses); with FAB_LOCAL=off on all ranks the network is used";
constexpr char kEndOfLifeline = '\x1f';  // in no such address

}  // namespace

void PeerTable::publish(std::string_view lifeline_address) {
  if (network_ != nullptr)
    store_.publish(kNetworkKey, with_settings(settings_, fmt::format("{}{}{}", lifeline_address, kEndOfLifeline,
                                                                     network_->address())));
  if (node_ != nullptr) store_.publish(kNodeKey, with_settings(settings_, node_->address()));
  // Ranks that look for it there must learn that it never comes.
  if (node_ == nullptr && store_.job().node_ranks.size() > 1)
    store_.publish(kNodeKey, with_settings(settings_, kNoSharedMemory));
}

Peer& PeerTable::find(Rank world_rank) {
  auto& peer = peers_[world_rank];
  if (peer) return *peer;
  peer = std::make_unique<Peer>();
  peer->world_rank = world_rank;
  choose_provider(*peer);
  if (peer->provider != nullptr) {
    look_up(*peer);
  } else {
    peer->failure = {make_error_code(Errc::unreachable),
                     fmt::format("rank {} is not among the ranks of this node, and no network was opened", world_rank)};
    peer->state = Peer::State::failed;
  }
  return *peer;
}

Peer& PeerTable::known(Rank world_rank) { return *peers_.at(world_rank); }

void PeerTable::visit(const std::function<void(const Peer&)>& visit) const {
  for (const auto& [rank, peer] : peers_) visit(*peer);
}

bool PeerTable::is_near(Rank world_rank) const {
  return node_ != nullptr && std::ranges::binary_search(store_.job().node_ranks, world_rank);
}

void PeerTable::choose_provider(Peer& peer) const {
  const bool near = is_near(peer.world_rank);
  peer.provider = near ? node_ : network_;
  peer.inbox = near ? nullptr : inbox_;
}

// In a job on one node another rank that has shared memory may have opened no network, and would never publish an
// address there: a rank that has none asks for both.
void PeerTable::look_up(Peer& peer) {
  const auto answer = [this, &peer](std::optional<std::string> published, const std::string& reason) {
    engine_.enqueue([this, &peer, published = std::move(published), reason] {
      engine_lock.assert_held();
      arrived(peer, published, reason);
    });
  };
  store_.fetch(peer.world_rank, peer.provider == node_ ? kNodeKey : kNetworkKey, answer);
  const JobInfo& job = store_.job();
  if (node_ != nullptr || job.node_ranks.size() < 2 || job.node_count > 1) return;
  store_.fetch(peer.world_rank, kNodeKey, [answer](std::optional<std::string> published, const std::string& reason) {
    if (!published) return;
    const auto [settings, address] = split_published(*published);
    if (address != kNoSharedMemory) answer(with_settings(settings, kNoSharedMemory), reason);
  });
}

std::vector<Rank> PeerTable::in_schedules(Rank self) const {
  std::vector<Rank> ranks;
  for (const auto& [rank, peer] : peers_)
    if (rank != self && peer->in_schedules && peer->state != Peer::State::failed) ranks.push_back(rank);
  return ranks;
}

void PeerTable::arrived(Peer& peer, const std::optional<std::string>& published, const std::string& reason) {
  if (peer.state != Peer::State::looking_up) return;
  try {
    if (!published)
      throw Error(Errc::unreachable, fmt::format("cannot get the address of rank {}: {}", peer.world_rank, reason));
    auto [settings, address] = split_published(*published);
    if (const std::string difference = find_difference(settings_, settings); !difference.empty())
      throw Error(Errc::mismatch, fmt::format("{}; all ranks need the same", difference));
    if (address == kNoSharedMemory) throw Error(Errc::unreachable, kDifferentWays);
    std::string_view lifeline;
    if (peer.provider == network_) {
      const std::size_t end = address.find(kEndOfLifeline);
      if (end != std::string_view::npos) {
        lifeline = address.substr(0, end);
        address.remove_prefix(end + 1);
      }
    }
    peer.handle = peer.provider->connect(address);
    peer.state = Peer::State::ready;
    if (peer.world_rank != store_.job().rank) watcher_->met(peer, lifeline);
    engine_.log().write(LogLevel::debug, "rank {} is reached through {}", peer.world_rank, peer.provider->name());
  } catch (const Error& error) {
    peer.failure = {error.code(), fmt::format("rank {}: {}", peer.world_rank, error.what())};
    peer.state = Peer::State::failed;
  }
  if (peer.look_up_ended) peer.look_up_ended();
}

}  // namespace fab::core
