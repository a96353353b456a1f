#include "providers/ofi/split_messages.h"

#include <algorithm>
#include <utility>

namespace fab::ofi {

SplitPart next_part(const SplitMessage& message) {
  SplitPart part;
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

SplitMessage& SplitMessages::add(const Completion& completion, SplitMessage message) {
  return messages_.insert_or_assign(&completion, std::move(message)).first->second;
}

SplitMessage* SplitMessages::find(const Completion& completion) {
  const auto found = messages_.find(&completion);
  return found == messages_.end() ? nullptr : &found->second;
}

void SplitMessages::remove(const Completion& completion) {
  if (messages_.erase(&completion) > 0) std::erase(due_, &completion);
}

bool SplitMessages::is_due(const Completion& completion) const noexcept {
  return std::ranges::find(due_, &completion) != due_.end();
}

Completion& SplitMessages::take_due() {
  Completion& completion = *due_.front();
  due_.pop_front();
  return completion;
}

}  // namespace fab::ofi
