#include "core/losses.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/communicator.h"
#include "core/context.h"
#include "core/point/point_to_point.h"

namespace fab::core {

namespace {

using std::chrono::milliseconds;

constexpr auto kLookPeriod = milliseconds(50);
/// Without any event, before somebody's peers are looked at.
constexpr auto kQuiet = milliseconds(200);
/// What a peer sent before it ended may still be on its way.
constexpr auto kGrace = milliseconds(300);
constexpr auto kGraceOfClosed = milliseconds(1000);
/// Without any event, before somebody who has not lost a peer ends for a rank that others have lost.
constexpr auto kConcerned = milliseconds(500);

/// And before a connection ends that holds somebody who was given up; then before it takes others with it.
constexpr auto kStuck = milliseconds(1000);
constexpr auto kStuckFast = milliseconds(2000);

bool is_loss(const Status& status) noexcept { return status.errc() == Errc::unreachable; }

}  // namespace

Status not_taken_back(const Status& status) {
  if (status.errc() != Errc::cancelled) return status;
  return {make_error_code(Errc::unreachable), status.message};
}

Losses::Losses(Context& context) : context_(context) {
  const Provider* const network = context.transports().network.get();
  if (network == nullptr || context.job().size == 1) return;
  lifelines_ = std::make_unique<Lifelines>(network->host_address(), context.config().peer_timeout_s, context.log());
}

bool Losses::can_look() const noexcept {
  return context_.job().size > 1 && (context_.transports().node != nullptr || !address().empty());
}

void Losses::met(Peer& peer, std::string_view lifeline_address) {
  if (lifelines_ != nullptr) peer.lifeline = lifelines_->meet(peer.world_rank, lifeline_address, Clock::now());
}

std::string Losses::describe(Lifeline::End end, double vanished_s) {
  switch (end) {
    case Lifeline::End::died:
      return "its process has ended without closing fab";
    case Lifeline::End::closed:
      return "it has closed fab";
    case Lifeline::End::vanished:
      return fmt::format("its machine has not answered for {} s (FAB_PEER_TIMEOUT)", vanished_s);
    case Lifeline::End::none:
      break;
  }
  return "it is gone";
}

// What it sent before is taken in first: its messages may be slower than the news of its end.
void Losses::look_at(const Peer& peer, Time quiet_since, Time now) {
  if (peer.state != Peer::State::ready) return;
  if (peer.lifeline == nullptr) {
    if (const Rank told = peer.provider->lost_by(peer.handle); told != kNoRank)
      declare(told, fmt::format("as rank {} tells", peer.world_rank));
    return;
  }
  Lifeline& line = *peer.lifeline;
  lifelines_->want(line, now);
  if (line.told != kNoRank) declare(line.told, fmt::format("as rank {} tells", peer.world_rank));
  if (line.state != Lifeline::State::ended) return;
  const auto grace = line.end == Lifeline::End::closed ? kGraceOfClosed : kGrace;
  if (now - std::max(line.ended, quiet_since) < grace) return;
  if (std::ranges::find(lost_, &peer, &Lost::peer) == lost_.end())
    lost_.push_back({&context_.peers().known(peer.world_rank), line.end});
}

void Losses::find_quiet(Time now) {
  quiet_.clear();
  context_.engine().mutex.assert_held();
  context_.engine().for_each_active([&](Pending& pending) {
    const std::uint64_t settled = pending.settled_count();
    if (pending.quiet_since == Time{} || settled != pending.settled_when_seen) {
      pending.quiet_since = now;
      pending.settled_when_seen = settled;
      pending.drops = 0;
    } else if (now - pending.quiet_since >= kQuiet) {
      quiet_.push_back(&pending);
    }
  });
}

std::size_t Losses::look(Time now) {
  if (now < next_look_) return 0;
  next_look_ = now + kLookPeriod;
  if (lifelines_ != nullptr) lifelines_->poll(now);
  lost_.clear();
  find_quiet(now);
  for (const Pending* pending : quiet_)
    pending->visit_peers([&](const Peer& peer) { look_at(peer, pending->quiet_since, now); });
  drop_connections(now);
  for (const Lost& lost : lost_)
    lose(*lost.peer, describe(lost.end, context_.config().peer_timeout_s), lost.end == Lifeline::End::vanished);
  return lost_.size() + end_concerned(now);
}

// A provider does not take back a receive whose message has come in part, and keeps what it was given to send.
void Losses::drop_connections(Time now) {
  for (Pending* pending : quiet_) {
    if (!pending->given_up()) continue;
    const auto quiet = now - pending->quiet_since;
    const bool whole_host = quiet >= kStuckFast;
    if (quiet < kStuck || pending->drops > (whole_host ? 1 : 0)) continue;
    ++pending->drops;
    pending->visit_peers([whole_host](const Peer& peer) {
      if (peer.state == Peer::State::ready) peer.provider->drop(peer.handle, whole_host);
    });
  }
}

void Losses::lose(Peer& peer, const std::string& reason, bool vanished) {
  declare(peer.world_rank, reason);
  const Status status{make_error_code(Errc::unreachable), reason};
  context_.engine().mutex.assert_held();
  context_.engine().for_each_active([&](Pending& pending) { pending.peer_lost(peer, status); });
  if (PointToPoint* const messages = context_.messages()) messages->peer_lost(peer.world_rank, status);
  if (vanished) peer.provider->drop(peer.handle, true);
}

const Losses::Loss* Losses::find(Rank rank) const noexcept {
  const auto found = std::ranges::find(losses_, rank, &Loss::rank);
  return found == losses_.end() ? nullptr : &*found;
}

void Losses::declare(Rank rank, const std::string& reason) {
  if (rank < 0 || rank >= context_.job().size || rank == context_.job().rank || find(rank) != nullptr) return;
  losses_.push_back({rank, reason});
  context_.log().write(LogLevel::info, "rank {} of the job is lost: {}", rank, reason);
  context_.notices().rank_lost(rank);
  if (PointToPoint* const messages = context_.messages()) messages->give_up_envelopes(rank);
  if (context_.transports().node) context_.transports().node->tell_lost(rank);
  if (lifelines_ == nullptr) return;
  lifelines_->tell(rank);
  context_.engine().lookout_changed();
}

std::size_t Losses::end_concerned(Time now) {
  if (losses_.empty()) return 0;
  std::size_t ended = 0;
  context_.engine().mutex.assert_held();
  context_.engine().for_each_active([&](Pending& pending) {
    if (pending.quiet_since == Time{} || now - pending.quiet_since < kConcerned) return;
    const auto loss = std::ranges::find_if(losses_, [&](const Loss& each) { return pending.has_member(each.rank); });
    if (loss == losses_.end()) return;
    pending.abandon_for(
        loss->rank, {make_error_code(Errc::unreachable),
                     fmt::format("{}: rank {} of the job is lost ({}); still pending: {}", pending.name(), loss->rank,
                                 loss->reason, pending.describe_pending())});
    ++ended;
  });
  return ended;
}

Rank Losses::note(const Peer& peer, const Status& status) {
  if (!is_loss(status) || peer.state != Peer::State::ready) return peer.world_rank;
  Rank culprit = kNoRank;
  if (peer.lifeline != nullptr) {
    lifelines_->poll(Clock::now());
    culprit = peer.lifeline->told;
  } else {
    culprit = peer.provider->lost_by(peer.handle);
  }
  if (culprit == kNoRank || culprit == context_.job().rank) culprit = peer.world_rank;
  declare(culprit, culprit == peer.world_rank ? status.message : fmt::format("as rank {} told", peer.world_rank));
  return culprit;
}

std::string Losses::explain(Rank culprit, const Peer& peer, const Status& status) const {
  if (culprit == peer.world_rank) return status.message;
  return fmt::format("{}, after it had lost rank {} of the job", status.message, culprit);
}

void Losses::heard_of(const FailureNotice& notice) {
  if (notice.code == Errc::unreachable) declare(notice.culprit, "as others tell");
}

void Losses::answer() {
  if (lifelines_ != nullptr) lifelines_->poll(Clock::now());
}

void Losses::close() {
  if (lifelines_ != nullptr) lifelines_->close();
}

}  // namespace fab::core
