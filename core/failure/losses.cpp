#include "core/failure/losses.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/base/hash.h"

namespace fab::core {

namespace {

using std::chrono::milliseconds;

constexpr auto kLookPeriod = milliseconds(50);
// The others are for FAB_EXIT_TIMEOUT=1, and change with it.
/// Without any event, before the peers of a pending operation are looked at.
constexpr auto kQuiet = milliseconds(200);
/// What a peer sent before it ended, or gave up, may still be on its way: for so long nothing of it has come, in so
/// many looks, between which providers were polled.
constexpr auto kGrace = milliseconds(300);
constexpr auto kGraceOfClosed = milliseconds(1000);
constexpr int kLooksOfGrace = 2;

/// And before a connection ends that holds an operation which was given up; then before it takes others with it.
constexpr auto kStuck = milliseconds(1000);
constexpr auto kStuckFast = milliseconds(2000);

/// A peer that may have refused a call tells that in much less, if it lives.
constexpr auto kDoubt = milliseconds(2000);

constexpr const char* kCutOff = "the connection with it was ended, as a message of a lost rank was stuck";

/// A communicator's word, which all ranks compute alike.
std::uint32_t word_of(ContextId id) noexcept {
  return static_cast<std::uint32_t>(hash_of(static_cast<std::uint64_t>(id.owner) << 32 | id.number) >> 32) | 1;
}

bool is_loss(const Status& status) noexcept { return status.errc() == Errc::unreachable; }

}  // namespace

Status not_taken_back(const Status& status) {
  if (status.errc() != Errc::cancelled) return status;
  return {make_error_code(Errc::unreachable), status.message};
}

Losses::Losses(const Config& config, const Log& log, const JobInfo& job, const Transports& transports, Engine& engine,
               PeerTable& peers, Notices& notices)
    : log_(log),
      job_(job),
      transports_(transports),
      engine_(engine),
      peers_(peers),
      notices_(notices),
      vanished_s_(config.peer_timeout_s),
      scale_(config.exit_timeout_s) {
  const Provider* const network = transports_.network.get();
  if (network == nullptr || job_.size == 1) return;
  lifelines_ = std::make_unique<Lifelines>(network->host_address(), vanished_s_, log_);
}

bool Losses::can_look() const noexcept { return job_.size > 1 && (transports_.node != nullptr || !address().empty()); }

void Losses::met(Peer& peer, std::string_view lifeline_address) {
  if (lifelines_ == nullptr || peer.provider != transports_.network.get()) return;
  peer.lifeline = lifelines_->meet(peer.world_rank, lifeline_address, Clock::now());
  if (peer.lifeline == nullptr) return;
  peer.provider->ask_before_receiving(peer.handle, [this, line = peer.lifeline]() -> const char* {
    engine_lock.assert_held();
    if (line->state != Lifeline::State::ended) lifelines_->poll(Clock::now());
    if (line->cut_off) return kCutOff;
    const bool ended = line->state == Lifeline::State::ended && line->end != Lifeline::End::closed;
    return ended ? "its process has ended" : nullptr;
  });
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
  return kCutOff;
}

void Losses::look_at(const Peer& peer, Time now) {
  if (peer.state != Peer::State::ready) return;
  if (peer.lifeline == nullptr) {
    if (const Rank told = peer.provider->lost_by(peer.handle); told != kNoRank)
      declare(told, fmt::format("as rank {} tells", peer.world_rank));
    peer.provider->notice_close(peer.handle);
    return;
  }
  Lifeline& line = *peer.lifeline;
  lifelines_->want(line, now);
  if (line.told != kNoRank) declare(line.told, fmt::format("as rank {} tells", peer.world_rank));
}

void Losses::look_at_active(Time now) {
  quiet_.clear();
  const bool any_ended = lifelines_ != nullptr && lifelines_->any_ended();
  engine_.for_each_active([&](Pending& pending) FAB_REQUIRES(engine_lock) {
    if (given_up_ > 0)
      if (CallScope* const used = pending.held_scope(); used != nullptr && pending.number > used->given_up_at)
        go_on(*used);
    if (any_ended)
      pending.visit_peers([](const Peer& peer) FAB_REQUIRES(engine_lock) {
        if (peer.lifeline != nullptr && peer.lifeline->state == Lifeline::State::ended) ++peer.lifeline->awaited_now;
      });
    if (changed(pending)) {
      pending.quiet_since = now;
      pending.quiet_looks = 0;
      pending.drops = 0;
    } else if (++pending.quiet_looks; now - pending.quiet_since >= scaled(kQuiet)) {
      quiet_.push_back(&pending);
    }
  });
}

// One that is given up only now has waited for the other ranks; how long providers keep what it takes back counts from
// here.
bool Losses::changed(Pending& pending) {
  const std::uint64_t settled = std::exchange(pending.settled_when_seen, pending.settled_count());
  const bool given_up = std::exchange(pending.given_up_when_seen, pending.given_up());
  return pending.quiet_since == Time{} || settled != pending.settled_when_seen ||
         given_up != pending.given_up_when_seen;
}

// What it sent before is taken in first: its messages may be slower than the news of its end.
void Losses::find_lost(Time now) {
  if (lifelines_ == nullptr || !lifelines_->any_ended()) return;
  lifelines_->for_each_ended([&](Lifeline& line) {
    engine_lock.assert_held();
    const int before = std::exchange(line.awaited, std::exchange(line.awaited_now, 0));
    if (line.awaited == 0) return;
    if (before == 0 || line.awaited < before) {
      line.nothing_since = now;
      line.looks = 0;
    }
    const auto grace = line.end == Lifeline::End::closed ? kGraceOfClosed : kGrace;
    if (++line.looks > kLooksOfGrace && now - line.nothing_since >= scaled(grace))
      lost_.push_back({&peers_.known(line.rank), line.end});
  });
}

// What was on its way from there is lost: its sender does not repeat it, and each wait for it has to end, also where
// others have told that the rank is lost, or an earlier wait has.
void Losses::find_cut_off() {
  for (const Pending* pending : quiet_) {
    if (pending->given_up()) continue;
    pending->visit_peers([this](const Peer& peer) FAB_REQUIRES(engine_lock) {
      if (peer.lifeline == nullptr || !peer.lifeline->cut_off) return;
      Peer& known = peers_.known(peer.world_rank);
      if (std::ranges::find(lost_, &known, &Lost::peer) == lost_.end()) lost_.push_back({&known, Lifeline::End::none});
    });
  }
}

std::size_t Losses::look(Time now) {
  if (now < next_look_) return 0;
  next_look_ = now + kLookPeriod;
  if (lifelines_ != nullptr) lifelines_->poll(now);
  lost_.clear();
  look_at_active(now);
  for (const Pending* pending : quiet_)
    pending->visit_peers([&](const Peer& peer) FAB_REQUIRES(engine_lock) { look_at(peer, now); });
  find_lost(now);
  find_cut_off();
  drop_connections(now);
  for (const Lost& lost : lost_) lose(*lost.peer, describe(lost.end, vanished_s_), lost.end == Lifeline::End::vanished);
  return lost_.size() + end_concerned(now) + end_doubts(now);
}

// A provider does not take back a receive whose message has come in part, and keeps what it was given to send.
void Losses::drop_connections(Time now) {
  for (Pending* pending : quiet_) {
    if (!pending->given_up()) continue;
    const auto quiet = now - pending->quiet_since;
    const bool whole_host = quiet >= scaled(kStuckFast);
    if (quiet < scaled(kStuck) || pending->quiet_looks <= kLooksOfGrace || pending->drops > (whole_host ? 1 : 0))
      continue;
    ++pending->drops;
    pending->visit_peers([this, whole_host](const Peer& peer) FAB_REQUIRES(engine_lock) {
      if (peer.state == Peer::State::ready) cut(peer, whole_host);
    });
  }
}

void Losses::lose(Peer& peer, const std::string& reason, bool vanished) {
  declare(peer.world_rank, reason);
  const Status status{make_error_code(Errc::unreachable), reason};
  engine_.for_each_active([&](Pending& pending) FAB_REQUIRES(engine_lock) { pending.peer_lost(peer, status); });
  if (listener_ != nullptr) listener_->peer_lost(peer.world_rank, status);
  if (vanished) cut(peer, true);
}

void Losses::cut(const Peer& peer, bool whole_host) {
  if (peer.lifeline != nullptr) lifelines_->tell_cut(*peer.lifeline, whole_host);
  peer.provider->drop(peer.handle, whole_host);
}

const Losses::Loss* Losses::find(Rank rank) const noexcept {
  const auto found = std::ranges::find(losses_, rank, &Loss::rank);
  return found == losses_.end() ? nullptr : &*found;
}

void Losses::declare(Rank rank, const std::string& reason) {
  if (rank < 0 || rank >= job_.size || rank == job_.rank || find(rank) != nullptr) return;
  losses_.push_back({rank, reason});
  log_.write(LogLevel::info, "rank {} of the job is lost: {}", rank, reason);
  notices_.rank_lost(rank);
  if (listener_ != nullptr) listener_->give_up_envelopes(rank);
  if (transports_.node) transports_.node->tell_lost(rank);
  if (lifelines_ == nullptr) return;
  lifelines_->tell(rank);
  engine_.lookout_changed();
}

std::size_t Losses::end_concerned(Time now) {
  if (losses_.empty()) return 0;
  std::size_t ended = 0;
  engine_.for_each_active([&](Pending& pending) FAB_REQUIRES(engine_lock) {
    if (pending.quiet_since == Time{} || now - pending.quiet_since < scaled(kGrace)) return;
    const Rank failed_rank = failed_rank_of(pending);
    const Loss* const loss = failed_rank == kNoRank ? nullptr : find(failed_rank);
    if (loss == nullptr) return;
    pending.abandon_for(
        failed_rank, {make_error_code(Errc::unreachable),
                      fmt::format("{}: rank {} of the job is lost ({}); still pending: {}", pending.name(), failed_rank,
                                  loss->reason, pending.describe_pending())});
    ++ended;
  });
  return ended;
}

Rank Losses::failed_rank_of(const Pending& pending) {
  const CallScope* const used = pending.held_scope();
  const std::uint32_t word = used != nullptr && used->id ? word_of(*used->id) : 0;
  Rank failed_rank = kNoRank;
  bool all = true;
  pending.visit_peers([&](const Peer& peer) FAB_REQUIRES(engine_lock) {
    const Rank found = peer.state == Peer::State::ready ? failed_rank_of(peer, word) : kNoRank;
    if (found == kNoRank) all = false;
    if (failed_rank == kNoRank) failed_rank = found;
  });
  return pending.waits_for_any() && !all ? kNoRank : failed_rank;
}

// Whether a rank lives its own line, or its node, knows better than others.
Rank Losses::failed_rank_of(const Peer& peer, std::uint32_t communicator) const {
  const Lifeline* const line = peer.lifeline;
  const bool known_here = line == nullptr ? peers_.is_near(peer.world_rank) : line->state != Lifeline::State::useless;
  if (!known_here && has_lost(peer.world_rank)) return peer.world_rank;
  if (communicator == 0) return kNoRank;
  return line != nullptr ? line->failed_rank_of(communicator) : peer.provider->given_up_by(peer.handle, communicator);
}

void Losses::ended(const Pending& call, CallScope& scope, Rank failed_rank) {
  if (!scope.id) return;
  const bool by_loss = !call.status().ok() && failed_rank != kNoRank && has_lost(failed_rank);
  if (by_loss)
    give_up(scope, failed_rank);
  else if (call.number > scope.given_up_at)
    go_on(scope);
}

// Who waits for this rank on the same communicator, in this call or a later one, would wait for as long as this rank's
// program does something else.
void Losses::give_up(CallScope& scope, Rank failed_rank) {
  scope.given_up_at = engine_.activations();
  if (scope.given_up_for != kNoRank) return;
  scope.given_up_for = failed_rank;
  ++given_up_;
  tell({word_of(*scope.id), failed_rank});
}

void Losses::go_on(CallScope& scope) {
  if (scope.given_up_for == kNoRank) return;
  scope.given_up_for = kNoRank;
  --given_up_;
  tell({word_of(*scope.id), kNoRank});
}

void Losses::tell(const GivenUp& what) {
  for (Provider* provider : {transports_.node.get(), transports_.network.get()})
    if (provider != nullptr) provider->tell_given_up(what);
  if (lifelines_ != nullptr) lifelines_->tell(what);
}

Rank Losses::note(const Peer& peer, const Status& status) {
  if (!is_loss(status) || peer.state != Peer::State::ready) return peer.world_rank;
  Rank failed_rank = kNoRank;
  if (peer.lifeline != nullptr) {
    lifelines_->poll(Clock::now());
    failed_rank = peer.lifeline->told;
  } else {
    failed_rank = peer.provider->lost_by(peer.handle);
  }
  if (failed_rank == kNoRank || failed_rank == job_.rank) failed_rank = peer.world_rank;
  declare(failed_rank,
          failed_rank == peer.world_rank ? status.message : fmt::format("as rank {} told", peer.world_rank));
  return failed_rank;
}

bool Losses::doubt(Pending& writer, Completion& write, const Peer& peer, const Status& status) {
  if (!engine_.has_lookout() || !is_loss(status) || has_lost(peer.world_rank)) return false;
  doubts_.push_back({&writer, &write, peer.world_rank, status.message, {}});
  return true;
}

std::size_t Losses::end_doubts(Time now) {
  std::size_t ended = 0;
  for (std::size_t i = 0; i < doubts_.size();) {
    if (doubts_[i].since == Time{}) doubts_[i].since = now;
    // Asks for the refusal, and ends the writer by it. What that ends may have doubts of its own, which come last.
    doubts_[i].writer->stalled();
    const Doubt& doubt = doubts_[i];
    const bool over = doubt.writer->given_up() || has_lost(doubt.peer) || now - doubt.since >= scaled(kDoubt);
    if (!over) {
      ++i;
      continue;
    }
    const Doubt last = std::move(doubts_[i]);
    doubts_.erase(doubts_.begin() + static_cast<std::ptrdiff_t>(i));
    last.write->fail({make_error_code(Errc::cancelled), last.message});
    ++ended;
  }
  return ended;
}

std::string Losses::explain(Rank failed_rank, const Peer& peer, const Status& status) const {
  if (failed_rank == peer.world_rank) return status.message;
  return fmt::format("{}, after it had lost rank {} of the job", status.message, failed_rank);
}

void Losses::on_failure_notice(const FailureNotice& notice) {
  if (notice.code == Errc::unreachable) declare(notice.failed_rank, "as another rank reports");
}

void Losses::answer() {
  if (lifelines_ != nullptr) lifelines_->poll(Clock::now());
}

void Losses::close() {
  if (transports_.node != nullptr && !engine_.halted()) transports_.node->tell_closed();
  if (lifelines_ != nullptr) lifelines_->close();
}

}  // namespace fab::core
