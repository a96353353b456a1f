#include "providers/ofi/send_order.h"

namespace fab::ofi {

void SendOrder::keep(PeerHandle to, std::uint64_t tag, std::span<const iovec> pieces, Completion& completion) {
  flows_[{to, tag}].push_back({to, tag, {pieces.begin(), pieces.end()}, &completion});
}

void SendOrder::begin(PeerHandle to, std::uint64_t tag, const Completion& completion) {
  const Flow flow{to, tag};
  flows_.try_emplace(flow);
  on_the_way_.insert_or_assign(&completion, flow);
}

void SendOrder::end(const Completion& completion) {
  const auto ended = on_the_way_.find(&completion);
  if (ended == on_the_way_.end()) return;
  const auto flow = flows_.find(ended->second);
  on_the_way_.erase(ended);
  std::deque<DelayedSend>& waiting = flow->second;
  if (waiting.empty()) {
    flows_.erase(flow);
    return;
  }
  due_.push_back(std::move(waiting.front()));
  waiting.pop_front();
}

DelayedSend SendOrder::take_due() {
  DelayedSend send = std::move(due_.front());
  due_.pop_front();
  return send;
}

void SendOrder::put_back(DelayedSend send) {
  on_the_way_.erase(send.completion);
  due_.push_front(std::move(send));
}

}  // namespace fab::ofi
