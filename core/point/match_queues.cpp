#include "core/point/match_queues.h"

#include <algorithm>

namespace fab::core {

std::vector<PostedReceive*>::const_iterator MatchQueues::first_for(const Envelope& envelope) const {
  return std::find_if(posted_.begin(), posted_.end(), [&](const PostedReceive* receive) FAB_REQUIRES(engine_lock) {
    return !receive->is_probe() && receive->matches(envelope);
  });
}

const PostedReceive* MatchQueues::look_for(const Envelope& envelope) const {
  const auto found = first_for(envelope);
  return found == posted_.end() ? nullptr : *found;
}

PostedReceive* MatchQueues::match(const Envelope& envelope) {
  const auto found = first_for(envelope);
  if (found == posted_.end()) return nullptr;
  PostedReceive* const receive = *found;
  posted_.erase(found);
  return receive;
}

void MatchQueues::keep(Unexpected message) {
  const Envelope envelope = message.envelope;
  unexpected_.push_back(std::move(message));
  for (std::size_t i = 0; i < posted_.size();) {
    PostedReceive* const probe = posted_[i];
    if (!probe->is_probe() || !probe->matches(envelope)) {
      ++i;
      continue;
    }
    posted_.erase(posted_.begin() + static_cast<std::ptrdiff_t>(i));
    probe->found(envelope);
  }
}

bool MatchQueues::withdraw(const Correspondent& from, std::uint32_t sequence) {
  const auto found = std::ranges::find_if(unexpected_, [&](const Unexpected& message) {
    return message.correspondent == &from && message.envelope.kind == EnvelopeKind::offer &&
           message.envelope.sequence == sequence;
  });
  if (found == unexpected_.end()) return false;
  found->envelope.kind = EnvelopeKind::withdrawn;
  return true;
}

std::optional<Unexpected> MatchQueues::take(const PostedReceive& receive) {
  const auto found = std::find_if(unexpected_.begin(), unexpected_.end(),
                                  [&](const Unexpected& message)
                                      FAB_REQUIRES(engine_lock) { return receive.matches(message.envelope); });
  if (found == unexpected_.end()) return std::nullopt;
  std::optional<Unexpected> message = std::move(*found);
  unexpected_.erase(found);
  return message;
}

const Envelope* MatchQueues::find(Source from) const {
  const auto found = std::find_if(unexpected_.begin(), unexpected_.end(),
                                  [&](const Unexpected& message) { return matches(from, message.envelope); });
  return found == unexpected_.end() ? nullptr : &found->envelope;
}

}  // namespace fab::core
