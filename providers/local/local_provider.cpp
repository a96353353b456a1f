#include "providers/local/local_provider.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "core/base/anonymous_file.h"

namespace fab::local {

LocalProvider::LocalProvider(LocalLong way, const JobInfo& job, const Log& log, const LocalLengths& lengths)
    : log_(log),
      places_(job.node_ranks.size()),
      place_(static_cast<std::size_t>(std::ranges::lower_bound(job.node_ranks, job.rank) - job.node_ranks.begin())),
      segment_(places_),
      common_(segment_.head().common_ring(places_)),
      area_(segment_.head().area(places_)),
      doorbell_(segment_.head()),
      memory_(way, log),
      shared_{.segment = segment_,
              .place = place_,
              .places = places_,
              .has_barriers = accept_barriers(),
              .longest_copied = longest_copied(way, lengths),
              .longest_copied_of_mapped = longest_copied_of_mapped(way, lengths),
              .doorbell = doorbell_,
              .traffic = traffic_,
              .memory = memory_,
              .own_memory = own_memory_},
      own_name_{.node = this_node(),
                .process = ::getpid(),
                .descriptor = segment_.descriptor(),
                .memory = segment_.memory(),
                .doorbell = doorbell_.write_end(),
                .cookie = segment_.head().cookie,
                .place = place_},
      description_(fmt::format("shared memory (process {})", own_name_.process)),
      address_(own_name_.text()),
      capabilities_{.inject_bytes = longest_copied_at_once(way, lengths),
                    .iov_limit = kMaxPieces,
                    .max_message_bytes = std::numeric_limits<std::int64_t>::max(),
                    .directed_receive = true,
                    .wait_fd = true,
                    .wait_fd_lags = true,
                    .takes_longer_messages = true,
                    .waits_at_sender = true,
                    .least_copied_once = 0,
                    .most_copied_once = longest_shared(way),
                    .detached_bytes = longest_always_copied_at_once(way, lengths)} {
  if (!segment_.refusal().empty())
    log_.write(
        LogLevel::warn, "the ranks of this node share {}: {}",
        segment_.memory() >= 0 ? std::string("System V memory") : fmt::format("a file in {}", core::kMemoryFolder),
        segment_.refusal());
}

PeerHandle LocalProvider::connect(std::string_view address) {
  const SegmentName peer = SegmentName::parse(address);
  if (peer.node != own_name_.node)
    throw Error(Errc::unreachable,
                "it runs on this node, but its processes are hidden from this rank (another container?); with "
                "FAB_LOCAL=off on all ranks the network is used");
  if (peer.place >= places_ || peer.place == place_)
    throw Error(Errc::mismatch, fmt::format("its place on the node is {}; there are {}", peer.place, places_));
  const auto handle = static_cast<std::uint32_t>(links_.size());
  // The process is watched before its memory is opened, so it is this one whose end will be told.
  doorbell_.watch(peer.process, handle);
  try {
    links_.push_back(std::make_unique<Link>(shared_, peer, handle));
  } catch (...) {
    doorbell_.forget(handle);
    throw;
  }
  processes_.push_back(peer.process);
  common_.add_link();
  area_.add_link();
  return handle;
}

PostResult LocalProvider::post_send(PeerHandle to, std::span<const iovec> pieces, std::uint64_t tag,
                                    Completion& completion) {
  return links_[to]->post_send(pieces, tag, completion);
}

PostResult LocalProvider::post_repeated(PeerHandle to, std::span<const iovec> pieces, std::uint64_t tag,
                                        Completion& completion) {
  Link& link = *links_[to];
  const bool is_always_copied = total_bytes(pieces) <= Cell::kInlineBytes;
  return is_always_copied ? link.post_send(pieces, tag, completion) : link.post_repeated(pieces, tag, completion);
}

// What receivers can map needs no copy at all.
bool LocalProvider::is_shared(std::span<const iovec> pieces, std::uint64_t bytes) const {
  return places_ <= CommonCell::kPlaces && capabilities_.copies_once(bytes) &&
         shared_.region_of(pieces, bytes).number == 0;
}

bool LocalProvider::make_copy(CommonCopy& copy, std::span<const iovec> pieces) {
  if (copy.bytes <= CommonCell::kInlineBytes) return true;
  const auto has_passed = [this](std::size_t link, std::uint32_t common) { return links_[link]->has_passed(common); };
  std::byte* const memory = area_.take(copy.bytes, copy.stretch, has_passed);
  if (memory != nullptr) gather(pieces, memory, copy.bytes);
  return memory != nullptr;
}

bool LocalProvider::send_common(std::span<Addressee> from_first, const CommonCopy& copy,
                                std::span<const iovec> pieces) {
  const std::uint64_t tag = from_first.front().tag;
  Places readers;
  for (const Addressee& each : from_first)
    if (each.tag == tag && !links_[each.to]->has_ended()) readers.add(links_[each.to]->place());
  const bool is_inside = copy.bytes <= CommonCell::kInlineBytes;
  if (readers.count() < (is_inside ? 2u : 1u)) return true;
  const auto has_passed = [this](std::size_t link, std::uint32_t common) { return links_[link]->has_passed(common); };
  if (!common_.has_cell(has_passed)) return false;
  CommonCell& cell = common_.begin(readers);
  cell.tag = tag;
  cell.inline_bytes = is_inside ? static_cast<std::uint32_t>(copy.bytes) : CommonCell::kInArea;
  if (is_inside)
    gather(pieces, cell.memory.data(), copy.bytes);
  else
    cell.stretch = copy.stretch;
  common_.publish();
  for (Addressee& each : from_first) {
    Link& link = *links_[each.to];
    if (each.tag != tag || link.has_ended()) continue;
    const std::uint32_t number = link.add_common();
    common_.named_by(each.to, number);
    if (!is_inside) area_.named_by(each.to, number);
    link.published_common(copy.bytes, *each.completion);
    each.result = PostResult::done;
  }
  return true;
}

// Who gets no common cell is sent to alone. Handlers run last, as they may post: nothing of this message is left to be
// named then.
void LocalProvider::post_send_to_all(std::span<Addressee> addressees, std::span<const iovec> pieces) {
  CommonCopy copy{.bytes = total_bytes(pieces)};
  if (!is_shared(pieces, copy.bytes) || !make_copy(copy, pieces)) return Provider::post_send_to_all(addressees, pieces);
  for (std::size_t i = 0; i < addressees.size(); ++i) {
    const auto has_its_tag = [&](const Addressee& other) { return other.tag == addressees[i].tag; };
    if (std::ranges::any_of(addressees.first(i), has_its_tag)) continue;
    if (!send_common(addressees.subspan(i), copy, pieces)) break;
  }
  for (Addressee& each : addressees)
    if (each.result != PostResult::done) each.result = post_repeated(each.to, pieces, each.tag, *each.completion);
}

PostResult LocalProvider::post_recv(PeerHandle from, std::span<const iovec> pieces, std::uint64_t tag,
                                    std::uint64_t ignore, Completion& completion) {
  return links_[from]->post_recv(pieces, tag, ignore, completion);
}

void LocalProvider::tell_lost(Rank rank) noexcept {
  std::int32_t none = 0;
  segment_.head().lost.compare_exchange_strong(none, rank + 1, std::memory_order_release, std::memory_order_relaxed);
}

void LocalProvider::notice_close(PeerHandle peer) {
  if (links_[peer]->peer_has_closed()) links_[peer]->peer_ended("it has closed fab");
}

void LocalProvider::cancel(Completion& completion) {
  for (const auto& link : links_)
    if (link->cancel(completion)) return;
}

bool LocalProvider::take_back(Completion& completion) {
  return std::ranges::any_of(links_, [&](const auto& link) { return link->take_back(completion); });
}

std::size_t LocalProvider::poll() {
  std::size_t events = 0;
  for (std::size_t i = 0; i < links_.size(); ++i)
    if (links_[i]->busy()) events += links_[i]->poll();
  return events;
}

bool LocalProvider::busy() const noexcept {
  return std::ranges::any_of(links_, [](const auto& link) { return link->busy(); });
}

// A sender that has claimed an armed doorbell has rung it, or is about to: either way the sleeper wakes.
bool LocalProvider::may_sleep() {
  if (!doorbell_.armed()) doorbell_.arm();
  return std::ranges::none_of(links_, [](const auto& link) { return link->ready(); });
}

void LocalProvider::awake() {
  if (!doorbell_.armed()) return;
  doorbell_.disarm();
  notice_ends();
}

void LocalProvider::notice_ends() {
  for (const std::uint32_t handle : doorbell_.ended()) {
    log_.write(LogLevel::debug, "process {} of this node has ended", processes_[handle]);
    links_[handle]->peer_ended(fmt::format("process {} of this node has ended", processes_[handle]));
  }
}

}  // namespace fab::local
