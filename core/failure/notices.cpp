#include "core/failure/notices.h"

#include <utility>

namespace fab::core {

Notices::Notice::Notice(Notices& its_owner, const Peer& its_peer, std::uint64_t its_tag, const FailureNotice& notice)
    : Post(
          [](Completion& self, std::uint64_t, std::uint64_t) noexcept {
            engine_lock.assert_held();
            auto& left = static_cast<Notice&>(self);
            left.owner.forget(left);
          },
          [](Completion& self, const Status&) noexcept {
            engine_lock.assert_held();
            auto& failed = static_cast<Notice&>(self);
            failed.owner.forget(failed);
          },
          [](Post& self) {
            engine_lock.assert_held();
            auto& refused = static_cast<Notice&>(self);
            return refused.owner.post(refused);
          }),
      owner(its_owner),
      peer(its_peer),
      tag(its_tag) {
  write_notice(notice, memory.data());
}

void Notices::send(const Peer& peer, std::uint64_t tag, const FailureNotice& notice) {
  engine_.activated();
  post(notices_.emplace_back(*this, peer, tag, notice));
}

bool Notices::post(Notice& notice) {
  const std::array<iovec, 1> memory{{{notice.memory.data(), notice.memory.size()}}};
  const PostResult result = notice.peer.provider->post_send(notice.peer.handle, memory, notice.tag, notice);
  if (result == PostResult::done) forget(notice);
  if (result != PostResult::again) return true;
  engine_.retry_later(notice, notice.peer.refused_sends);
  return false;
}

void Notices::forget(const Notice& notice) {
  const bool active = notice.active;
  notices_.remove_if([&notice](const Notice& other) { return &other == &notice; });
  if (active) engine_.deactivated();
}

void Notices::rank_lost(Rank world_rank) {
  for (auto next = notices_.begin(); next != notices_.end();) {
    Notice& notice = *next++;
    if (notice.peer.world_rank != world_rank || !std::exchange(notice.active, false)) continue;
    engine_.deactivated();
    if (notice.refused_in == nullptr) continue;  // the provider has it
    engine_.forget(notice);
    forget(notice);
  }
}

}  // namespace fab::core
