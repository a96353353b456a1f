#include "core/point/bundles.h"

#include <utility>

#include "core/point/correspondent.h"

namespace fab::core {

Bundles::~Bundles() {
  engine_lock.assert_held();  // no other thread is left
  engine_.forget(*this);
}

// A driver that sleeps would not make the progress with which a bundle leaves.
bool Bundles::wants(Correspondent& to, std::size_t bytes) {
  if (!to.is_far || bytes > kMostOfOne || engine_.is_driven()) return false;
  if (std::exchange(to.burst_began, engine_.polls()) != engine_.polls()) to.burst = 0;
  return ++to.burst > kAlone && to.peer->state == Peer::State::ready && to.failure.ok();
}

std::byte* Bundles::join(Correspondent& to, std::size_t bytes) {
  if (to.bundle != nullptr && to.bundle->bytes + bytes > kMost) flush(to);
  if (to.bundle == nullptr) return nullptr;
  std::byte* const place = to.bundle->memory.get() + to.bundle->bytes;
  to.bundle->bytes += bytes;
  return place;
}

void Bundles::open(Correspondent& to, OutgoingEnvelope& bundle) {
  to.bundle = &bundle;
  if (open_.empty()) {
    engine_.begin_later(*this);
    engine_.thread_call().count(Urgency::peers, 1);  // others may wait for it
  }
  open_.push_back(&to);
}

void Bundles::flush(Correspondent& to) {
  if (OutgoingEnvelope* const bundle = std::exchange(to.bundle, nullptr)) leave_(*bundle);
}

// What leaves may be handled at once, and answered.
void Bundles::begin() {
  engine_.thread_call().count(Urgency::peers, -1);
  std::vector<Correspondent*> open;
  open.swap(open_);
  for (Correspondent* each : open) flush(*each);
  if (!open_.empty()) return;
  open.clear();
  open_.swap(open);  // its memory serves again
}

}  // namespace fab::core
