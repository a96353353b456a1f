#include "providers/ofi/long_messages.h"

#include <algorithm>
#include <utility>

namespace fab::ofi {

MessagePart next_part(const LongMessage& message) {
  MessagePart part;
  const std::uint64_t last = std::min(message.bytes, message.ended + message.most);
  std::uint64_t begin = 0;
  for (const iovec& piece : message.pieces) {
    const std::uint64_t from = std::max(message.ended, begin);
    const std::uint64_t to = std::min(last, begin + piece.iov_len);
    if (from < to)
      part.pieces.push_back({static_cast<std::byte*>(piece.iov_base) + (from - begin), to - from});
    else if (part.pieces.empty())
      ++part.first_piece;
    begin += piece.iov_len;
  }
  return part;
}

LongMessage& LongMessages::add(const Completion& completion, LongMessage message) {
  return messages_.insert_or_assign(&completion, std::move(message)).first->second;
}

LongMessage* LongMessages::find(const Completion& completion) {
  const auto found = messages_.find(&completion);
  return found == messages_.end() ? nullptr : &found->second;
}

void LongMessages::remove(const Completion& completion) {
  if (messages_.erase(&completion) > 0) std::erase(due_, &completion);
}

bool LongMessages::is_due(const Completion& completion) const noexcept {
  return std::ranges::find(due_, &completion) != due_.end();
}

Completion& LongMessages::take_due() {
  Completion& completion = *due_.front();
  due_.pop_front();
  return completion;
}

}  // namespace fab::ofi
