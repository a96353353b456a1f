#include "bindings/tools/trace/late_ranks.h"

#include <algorithm>
#include <tuple>

namespace fab::tools {

namespace {

/// The messages of each exchange of a rank.
struct Messages {
  explicit Messages(const RankTimeline& rank) : receives(rank.exchanges.size()), sends(rank.exchanges.size()) {
    for (const MessageEnd& each : rank.receives) receives[each.exchange].push_back(&each);
    for (const MessageEnd& each : rank.sends) sends[each.exchange].push_back(&each);
  }

  std::vector<std::vector<const MessageEnd*>> receives;
  std::vector<std::vector<const MessageEnd*>> sends;
};

/// The last one that was done in that time; null: none.
const MessageEnd* last_in(const std::vector<const MessageEnd*>& ends, const Interval& time) {
  const MessageEnd* last = nullptr;
  for (const MessageEnd* end : ends)
    if (end->done > time.begin && end->done <= time.end && (last == nullptr || end->done >= last->done)) last = end;
  return last;
}

class Search {
 public:
  explicit Search(const Timeline& timeline) : timeline_(timeline) {
    for (const RankTimeline& rank : timeline.of_rank) messages_.emplace_back(rank);
  }

  [[nodiscard]] LateWait find(const RankTimeline& rank, std::size_t wait) const {
    const Wait& its = rank.waits[wait];
    LateWait late{.rank = rank.rank, .wait = wait, .took = its.time.end - its.time.begin, .exchange = its.exchange};
    if (its.exchange == kNone) return late;
    const Messages& messages = messages_of(rank);
    const MessageEnd* received = last_in(messages.receives[its.exchange], its.time);
    const MessageEnd* sent = last_in(messages.sends[its.exchange], its.time);
    if (sent != nullptr && (received == nullptr || sent->done > received->done))
      blame_receiver(*sent, its.time, late);
    else if (received != nullptr)
      blame_sender(*received, its.time, late);
    return late;
  }

 private:
  static constexpr int kMostSteps = 1000;  ///< from one message to the one that its sender waited for

  [[nodiscard]] const Messages& messages_of(const RankTimeline& rank) const {
    return messages_[static_cast<std::size_t>(&rank - timeline_.of_rank.data())];
  }

  void blame_receiver(const MessageEnd& sent, const Interval& time, LateWait& late) const {
    late.late = sent.peer;
    if (sent.other == kNone) return;
    const RankTimeline& receiver = *timeline_.find(sent.peer);
    const Time start = receiver.exchanges[receiver.receives[sent.other].exchange].start;
    late.reason = start > time.begin ? Reason::received_late : Reason::on_the_way;
    if (start > time.begin) late.late_by = start - time.begin;
  }

  /// From the message that came last to the one that its sender waited for, and so on, up to a rank that began late.
  void blame_sender(const MessageEnd& received, const Interval& time, LateWait& late) const {
    const MessageEnd* message = &received;
    for (int steps = 0; message != nullptr && steps < kMostSteps; ++steps) {
      late.late = message->peer;
      if (message->other == kNone) break;
      const RankTimeline& sender = *timeline_.find(message->peer);
      const MessageEnd& sent = sender.sends[message->other];
      const Exchange& exchange = sender.exchanges[sent.exchange];
      if (steps == 0) late.through = message->peer;
      late.reason = sent.posted <= time.begin     ? Reason::on_the_way
                    : exchange.start > time.begin ? Reason::started_late
                                                  : Reason::posted_late;
      if (late.reason == Reason::started_late) late.late_by = exchange.start - time.begin;
      if (late.reason != Reason::posted_late) break;
      message = last_in(messages_of(sender).receives[sent.exchange], {time.begin, sent.posted});
    }
    if (late.through == late.late) late.through = kNoRank;
  }

  const Timeline& timeline_;
  std::vector<Messages> messages_;
};

}  // namespace

const char* to_string(Reason reason) noexcept {
  switch (reason) {
    case Reason::started_late:
      return "started late";
    case Reason::posted_late:
      return "sent late";
    case Reason::received_late:
      return "received late";
    case Reason::on_the_way:
      return "had sent already";
    case Reason::unknown:
      break;
  }
  return "unknown";
}

std::vector<LateWait> find_late_ranks(const Timeline& timeline) {
  const Search search(timeline);
  std::vector<LateWait> all;
  for (const RankTimeline& rank : timeline.of_rank)
    for (std::size_t wait = 0; wait < rank.waits.size(); ++wait) all.push_back(search.find(rank, wait));
  std::ranges::sort(all, [](const LateWait& one, const LateWait& other) {
    return std::tuple(-one.took, one.rank, one.wait) < std::tuple(-other.took, other.rank, other.wait);
  });
  return all;
}

}  // namespace fab::tools
