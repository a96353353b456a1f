#include "bindings/tools/trace/causality.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

namespace fab::tools {

namespace {

/// On one rank.
struct Event {
  enum class Kind : std::uint8_t { other, send, receive };

  Time* time;
  Kind kind = Kind::other;
  std::size_t message = kNone;  ///< among the rank's sends, or receives
};

/// A rank's events in order, and how far they are done.
struct Course {
  explicit Course(RankTimeline& its_rank) : rank(its_rank), sent(rank.sends.size()) {
    rank.visit_times([this](Time& time) { events.push_back({&time}); });
    const auto by_address = [](const Event& one, const Event& other) { return std::less<>()(one.time, other.time); };
    std::ranges::sort(events, by_address);
    const auto find = [&](const Time& time) -> Event& {
      return *std::lower_bound(events.begin(), events.end(), Event{const_cast<Time*>(&time)}, by_address);
    };
    for (std::size_t i = 0; i < rank.sends.size(); ++i) {
      Event& event = find(rank.sends[i].posted);
      event.kind = Event::Kind::send;
      event.message = i;
    }
    for (std::size_t i = 0; i < rank.receives.size(); ++i) {
      if (rank.receives[i].other == kNone) continue;
      Event& event = find(rank.receives[i].done);
      event.kind = Event::Kind::receive;
      event.message = i;
    }
    std::ranges::stable_sort(events, [](const Event& one, const Event& other) { return *one.time < *other.time; });
  }

  [[nodiscard]] bool over() const noexcept { return next == events.size(); }

  RankTimeline& rank;
  std::vector<Event> events;
  std::vector<bool> sent;  ///< those that are done
  std::size_t next = 0;
  Time now = 0;
};

class Causality {
 public:
  explicit Causality(Timeline& timeline) : timeline_(timeline) {
    courses_.reserve(timeline.of_rank.size());
    for (RankTimeline& rank : timeline.of_rank) courses_.emplace_back(rank);
  }

  void hold() {
    const auto is_over = [](const Course& course) { return course.over(); };
    while (!std::ranges::all_of(courses_, is_over)) {
      bool moves = false;
      for (Course& course : courses_)
        while (!course.over() && step(course)) moves = true;
      if (!moves) cut_circle();
    }
    note();
  }

 private:
  [[nodiscard]] Course& course_of(Rank rank) {
    return *std::ranges::lower_bound(courses_, rank, {}, [](const Course& course) { return course.rank.rank; });
  }

  /// False: its next event waits for another rank's.
  bool step(Course& course) {
    const Event& event = course.events[course.next];
    Time time = std::max(*event.time, course.now);
    if (event.kind == Event::Kind::receive) {
      const MessageEnd& receive = course.rank.receives[event.message];
      const Course& sender = course_of(receive.peer);
      if (receive.other != kNone) {
        if (!sender.sent[receive.other]) return false;
        const Time earliest = sender.rank.sends[receive.other].posted + 1;
        if (earliest > time) {
          if (earliest - time > 1) ++early_;  // a clock's step is no fault of it
          farthest_ = std::max(farthest_, earliest - time);
          time = earliest;
        }
      }
    }
    course.now = *event.time = time;
    if (event.kind == Event::Kind::send) course.sent[event.message] = true;
    ++course.next;
    return true;
  }

  /// The earliest message for which a rank waits is not what it was taken for.
  void cut_circle() {
    Course* first = nullptr;
    for (Course& course : courses_)
      if (!course.over() && (first == nullptr || *course.events[course.next].time < *first->events[first->next].time))
        first = &course;
    MessageEnd& receive = first->rank.receives[first->events[first->next].message];
    course_of(receive.peer).rank.sends[receive.other].other = kNone;
    receive.other = kNone;
    --timeline_.messages;
    timeline_.lonely += 2;
    ++cut_;
  }

  void note() {
    if (early_ > 0)
      timeline_.notes.push_back(
          fmt::format("{} of {} messages seemed to arrive before they were sent, by {:.3f} us at "
                      "most; their arrivals were moved",
                      early_, timeline_.messages, static_cast<double>(farthest_) / 1e3));
    if (cut_ > 0) timeline_.notes.push_back(fmt::format("{} messages waited for each other and were left out", cut_));
  }

  Timeline& timeline_;
  std::vector<Course> courses_;
  std::size_t early_ = 0;
  std::size_t cut_ = 0;
  Time farthest_ = 0;
};

}  // namespace

void hold_causality(Timeline& timeline) { Causality(timeline).hold(); }

}  // namespace fab::tools
