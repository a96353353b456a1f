#include "matching.h"

#include <algorithm>
#include <cstring>

namespace strict {

namespace {

bool fits(const Receive& receive, const Message& message) {
  return ((receive.tag ^ message.tag) & ~receive.ignore) == 0 &&
         (receive.source.empty() || receive.source == message.source);
}

/// Calls `each` with the parts of the pieces that [offset, offset + bytes) covers, and the distance from `offset`.
template <class Each>
void for_parts(const std::vector<iovec>& pieces, std::uint64_t offset, std::uint64_t bytes, Each each) {
  std::uint64_t start = 0;
  for (const iovec& piece : pieces) {
    const std::uint64_t first = std::max(offset, start);
    const std::uint64_t end = std::min(offset + bytes, start + piece.iov_len);
    if (first < end) each(static_cast<std::byte*>(piece.iov_base) + (first - start), first - offset, end - first);
    start += piece.iov_len;
  }
}

}  // namespace

std::uint64_t bytes_of(const std::vector<iovec>& pieces) {
  std::uint64_t bytes = 0;
  for (const iovec& piece : pieces) bytes += piece.iov_len;
  return bytes;
}

void scatter(const std::vector<iovec>& pieces, std::uint64_t offset, const std::byte* from, std::uint64_t bytes) {
  for_parts(pieces, offset, bytes, [from](std::byte* part, std::uint64_t distance, std::uint64_t length) {
    std::memcpy(part, from + distance, length);
  });
}

void gather(const std::vector<iovec>& pieces, std::uint64_t offset, std::byte* to, std::uint64_t bytes) {
  for_parts(pieces, offset, bytes, [to](const std::byte* part, std::uint64_t distance, std::uint64_t length) {
    std::memcpy(to + distance, part, length);
  });
}

void Matching::post(Receive receive) {
  ++receives_;
  const auto found = std::ranges::find_if(
      messages_, [&receive](const Message& message) { return !message.matched && fits(receive, message); });
  if (found == messages_.end()) return posted_.push_back(std::move(receive));
  found->matched = true;
  found->receive = std::move(receive);
  scatter(found->receive.pieces, 0, found->kept.data(), found->arrived);
  found->kept.clear();
  complete_if_whole(found);
}

Message& Matching::message_of(const FrameHead& head, const std::string& source) {
  const auto known = std::ranges::find_if(
      messages_, [&](const Message& message) { return message.transfer == head.transfer && message.source == source; });
  if (known != messages_.end()) return *known;
  Message& message = messages_.emplace_back();
  message.source = source;
  message.transfer = head.transfer;
  message.tag = head.tag;
  message.data = head.data;
  message.has_data = head.has_data != 0;
  message.total = head.total;
  const auto waiting =
      std::ranges::find_if(posted_, [&message](const Receive& receive) { return fits(receive, message); });
  if (waiting == posted_.end()) {
    message.kept.resize(head.total);
  } else {
    message.matched = true;
    message.receive = std::move(*waiting);
    posted_.erase(waiting);
  }
  return message;
}

void Matching::arrived(const FrameHead& head, const std::byte* payload, const std::string& source) {
  Message& message = message_of(head, source);
  if (message.matched)
    scatter(message.receive.pieces, head.offset, payload, head.bytes);
  else
    std::copy_n(payload, head.bytes, message.kept.begin() + static_cast<std::ptrdiff_t>(head.offset));
  message.arrived += head.bytes;
  complete_if_whole(std::ranges::find_if(messages_, [&message](const Message& other) { return &other == &message; }));
}

void Matching::complete_if_whole(std::list<Message>::iterator message) {
  if (!message->matched || message->arrived < message->total) return;
  --receives_;
  complete_(*message);
  messages_.erase(message);
}

bool Matching::take_back(const void* context, Receive& receive) {
  const auto found =
      std::ranges::find_if(posted_, [context](const Receive& posted) { return posted.context == context; });
  if (found == posted_.end()) return false;
  receive = std::move(*found);
  posted_.erase(found);
  --receives_;
  return true;
}

}  // namespace strict
