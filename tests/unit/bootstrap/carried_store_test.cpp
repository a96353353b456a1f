// Values that ranks ask each other for, over messages that a test holds back and orders.
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <random>
#include <stdexcept>
#include <thread>

#include "core/bootstrap/carried_values.h"
#include "fab/error.h"
#include "support/store_answers.h"

namespace fab {
namespace {

using test::Answer;
using test::fetch;
using test::is_answered;
using testing::ElementsAre;
using testing::HasSubstr;

/// The messages between the ranks of a job. Guarded by its mutex.
struct Post {
  explicit Post(int size) : boxes(static_cast<std::size_t>(size)), meetings(static_cast<std::size_t>(size)) {}

  std::vector<std::deque<Carrier::Arrived>> boxes;  ///< by receiver
  std::vector<int> meetings;                        ///< that each rank has come to
  int sent = 0;
  std::mutex mutex;
};

class PostCarrier : public Carrier {
 public:
  PostCarrier(Rank self, Post& post) : self_(static_cast<std::size_t>(self)), post_(post) {}

  void send(Rank to, std::string message) override {
    if (broken) throw std::runtime_error("the wire is cut");
    if (while_sending) while_sending();
    ++calls_;
    const std::lock_guard lock(post_.mutex);
    ++post_.sent;
    post_.boxes[static_cast<std::size_t>(to)].push_back({static_cast<Rank>(self_), std::move(message)});
  }
  std::optional<Arrived> receive() override {
    ++calls_;
    const std::lock_guard lock(post_.mutex);
    auto& box = post_.boxes[self_];
    if (box.empty()) return std::nullopt;
    Arrived arrived = std::move(box.front());
    box.pop_front();
    return arrived;
  }
  bool meet() override {
    if (!in_meeting_) ++post_.meetings[self_];
    in_meeting_ = std::ranges::any_of(post_.meetings, [&](int count) { return count < post_.meetings[self_]; });
    return !in_meeting_;
  }

  bool broken = false;
  std::function<void()> while_sending;

 private:
  const std::size_t self_;
  Post& post_;
  bool in_meeting_ = false;
  int calls_ = 0;  ///< of one thread at a time, which is what the thread sanitizer looks at
};

struct Job {
  explicit Job(int size) : post(size) {
    for (Rank rank = 0; rank < size; ++rank) {
      auto carrier = std::make_unique<PostCarrier>(rank, post);
      carriers.push_back(carrier.get());
      values.push_back(std::make_shared<CarriedValues>(rank, size, std::move(carrier)));
      JobInfo info;
      info.rank = rank;
      info.size = size;
      stores.push_back(open_carried_store(values.back(), info, [] { return std::vector<int>{0, 0, 1}; }));
    }
  }

  /// Each rank in turn, as often as there is something to carry.
  void drive_all() {
    for (int before = -1; before != post.sent;) {
      before = post.sent;
      for (const auto& each : values) each->drive();
    }
  }
  [[nodiscard]] bool is_empty() const {
    return std::ranges::all_of(post.boxes, [](const auto& box) { return box.empty(); });
  }

  Post post;
  std::vector<PostCarrier*> carriers;
  std::vector<std::shared_ptr<CarriedValues>> values;
  std::vector<std::unique_ptr<Store>> stores;
};

std::string value_of(std::future<Answer>& answer) {
  if (!is_answered(answer)) return "no answer";
  const Answer got = answer.get();
  return got.value.value_or("failed: " + got.reason);
}

TEST(CarriedStore, AValueComesWhenBothRanksDrive) {
  Job job(2);
  job.stores[1]->publish("a", std::string("\0x", 2));
  std::future<Answer> answer = fetch(*job.stores[0], 1, "a");
  EXPECT_TRUE(job.values[0]->is_urgent());
  job.values[0]->drive();
  EXPECT_FALSE(is_answered(answer));
  job.values[1]->drive();
  job.values[0]->drive();
  EXPECT_EQ(value_of(answer), std::string("\0x", 2));
  EXPECT_FALSE(job.values[0]->is_urgent());
}

TEST(CarriedStore, AnAskWaitsUntilItsKeyIsPublished) {
  Job job(2);
  std::future<Answer> answer = fetch(*job.stores[0], 1, "late");
  job.drive_all();
  job.stores[1]->publish("early", "1");
  job.drive_all();
  EXPECT_FALSE(is_answered(answer));
  job.stores[1]->publish("late", "2");
  job.drive_all();
  EXPECT_EQ(value_of(answer), "2");
}

TEST(CarriedStore, OwnValuesAndThoseThatCameTakeNoMessage) {
  Job job(2);
  job.stores[0]->publish("a", "own");
  job.stores[1]->publish("a", "other's");
  std::future<Answer> first = fetch(*job.stores[0], 1, "a");
  std::future<Answer> with_it = fetch(*job.stores[0], 1, "a");
  job.drive_all();
  EXPECT_EQ(value_of(first), "other's");
  EXPECT_EQ(value_of(with_it), "other's");
  EXPECT_EQ(job.post.sent, 2);  // one ask, one answer
  std::future<Answer> later = fetch(*job.stores[0], 1, "a");
  std::future<Answer> own = fetch(*job.stores[0], 0, "a");
  EXPECT_EQ(value_of(later), "other's");
  EXPECT_EQ(value_of(own), "own");
  std::future<Answer> own_later = fetch(*job.stores[0], 0, "b");
  job.stores[0]->publish("b", "own, later");
  EXPECT_EQ(value_of(own_later), "own, later");
  EXPECT_EQ(job.post.sent, 2);
}

TEST(CarriedStore, AnAskBringsTheValuesOfItsSender) {
  Job job(2);
  for (const auto& store : job.stores) store->publish("a", std::to_string(store->job().rank));
  std::future<Answer> of_0 = fetch(*job.stores[0], 1, "a");
  job.values[0]->drive();
  job.values[1]->drive();
  std::future<Answer> of_1 = fetch(*job.stores[1], 0, "a");
  EXPECT_EQ(value_of(of_1), "0");  // without rank 0
}

// What exchanges rely on: a rank that has the values of all its neighbours may leave fab, and drive no more.
TEST(CarriedStore, NoRankWaitsForANeighbourThatHasAllItNeeds) {
  constexpr int kSize = 6;
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    Job job(kSize);
    std::vector<std::vector<std::future<Answer>>> fetches(kSize);
    const auto starts = [&](std::size_t rank) { return !fetches[rank].empty(); };
    const auto start = [&](std::size_t rank) {
      job.stores[rank]->publish("a", std::to_string(rank));
      for (const int distance : {1, 2, kSize - 1, kSize - 2})
        fetches[rank].push_back(fetch(*job.stores[rank], (static_cast<Rank>(rank) + distance) % kSize, "a"));
    };
    const auto is_done = [&](std::size_t rank) {
      return starts(rank) && std::ranges::all_of(fetches[rank], [](const auto& each) { return is_answered(each); });
    };
    int turns = 0;
    for (std::size_t done = 0; done < kSize && turns < 10'000; ++turns) {
      const std::size_t rank = random() % kSize;
      if (!starts(rank)) {
        start(rank);
      } else if (!is_done(rank)) {
        job.values[rank]->drive();
        if (is_done(rank)) ++done;
      }
      auto& box = job.post.boxes[rank];
      std::ranges::shuffle(box, random);
    }
    for (std::size_t rank = 0; rank < kSize; ++rank) EXPECT_TRUE(is_done(rank)) << "rank " << rank << ", seed " << seed;
  }
}

TEST(CarriedStore, ACarrierThatDrivesFromWithinDoesNotComeBack) {
  Job job(2);
  job.carriers[0]->while_sending = [&] { job.values[0]->drive(); };
  job.stores[1]->publish("a", "1");
  std::future<Answer> answer = fetch(*job.stores[0], 1, "a");
  job.drive_all();
  EXPECT_EQ(value_of(answer), "1");
}

TEST(CarriedStore, ThreadsTakeTurns) {
  Job job(2);
  std::atomic<bool> over{false};
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < 2; ++thread)
    threads.emplace_back([&] {
      while (!over)
        for (const auto& each : job.values) each->drive();
    });
  for (int key = 0; key < 100; ++key) {
    const std::string name = std::to_string(key);
    std::future<Answer> answer = fetch(*job.stores[0], 1, name);
    job.stores[1]->publish(name, name);
    EXPECT_EQ(answer.get().value, name);
  }
  std::future<Answer> open = fetch(*job.stores[0], 1, "never");
  job.stores[0]->leave();
  EXPECT_EQ(value_of(open), "failed: the store was closed");
  over = true;
}

TEST(CarriedStore, ABrokenCarrierEndsAllFetchesWithItsReason) {
  Job job(2);
  job.carriers[0]->broken = true;
  std::future<Answer> open = fetch(*job.stores[0], 1, "a");
  job.drive_all();
  EXPECT_EQ(value_of(open), "failed: the wire is cut");
  std::future<Answer> later = fetch(*job.stores[0], 1, "b");
  EXPECT_EQ(value_of(later), "failed: the wire is cut");
  EXPECT_FALSE(job.values[0]->is_urgent());
  EXPECT_FALSE(job.values[0]->part(false));
  EXPECT_TRUE(job.values[1]->part(false));  // both have come
  EXPECT_TRUE(job.values[0]->part(false));
}

TEST(CarriedStore, AMessageOfAnotherKindEndsAllFetches) {
  Job job(2);
  std::future<Answer> open = fetch(*job.stores[0], 1, "a");
  job.post.boxes[0].push_back({1, "\x7f"});
  job.drive_all();
  EXPECT_THAT(value_of(open), HasSubstr("rank 1 sent 1 bytes that are no message of fab's"));
}

TEST(CarriedStore, LeavingEndsFetchesAndAnswersOn) {
  Job job(2);
  job.stores[0]->publish("a", "0");
  std::future<Answer> open = fetch(*job.stores[0], 1, "a");
  job.stores[0]->leave();
  EXPECT_EQ(value_of(open), "failed: the store was closed");
  std::future<Answer> of_1 = fetch(*job.stores[1], 0, "a");
  job.drive_all();
  EXPECT_EQ(value_of(of_1), "0");
  std::future<Answer> later = fetch(*job.stores[0], 1, "b");
  EXPECT_EQ(value_of(later), "failed: the store was closed");
}

TEST(CarriedStore, HasNoFence) {
  Job job(2);
  EXPECT_THROW(static_cast<void>(job.stores[0]->fence(0, {})), Error);
}

/// Ranks part in any order, one step at a time. Returns whether all do, and none before all have begun.
testing::AssertionResult all_part(Job& job, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<bool> parted(job.values.size());
  std::vector<bool> begun(job.values.size());
  for (int step = 0; step < 10'000; ++step) {
    const std::size_t rank = random() % job.values.size();
    if (parted[rank]) continue;
    begun[rank] = true;
    parted[rank] = job.values[rank]->part(false);
    if (parted[rank] && std::ranges::find(begun, false) != begun.end())
      return testing::AssertionFailure() << "rank " << rank << " parted alone";
    if (std::ranges::find(parted, false) == parted.end()) return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << "not all ranks have parted";
}

TEST(CarriedStore, RanksPartTogetherAndLeaveNoMessage) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    Job job(4);
    std::vector<std::future<Answer>> answers;
    for (Rank rank = 0; rank < 3; ++rank) {
      job.stores[static_cast<std::size_t>(rank)]->publish("a", std::to_string(rank));
      answers.push_back(fetch(*job.stores[static_cast<std::size_t>(rank)], rank + 1, "a"));
    }
    ASSERT_TRUE(all_part(job, seed)) << "seed " << seed;
    EXPECT_EQ(value_of(answers[0]), "1");
    EXPECT_EQ(value_of(answers[1]), "2");
    EXPECT_THAT(value_of(answers[2]), HasSubstr("rank 3 has ended without having opened fab"));
    EXPECT_TRUE(job.is_empty()) << "seed " << seed;
  }
}

TEST(CarriedStore, ARankThatIsNotAnsweredParts) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Job job(3);
    std::future<Answer> answer = fetch(*job.stores[0], 1, "a");
    job.values[0]->drive();
    job.post.boxes[1].clear();  // rank 1 never hears of it
    ASSERT_FALSE(all_part(job, seed)) << "seed " << seed;
    for (const auto& each : job.values) EXPECT_TRUE(each->part(true)) << "seed " << seed;
    EXPECT_THAT(job.post.meetings, ElementsAre(1, 1, 1));
  }
}

TEST(CarriedStore, TheEndOfTheCarrierEndsFetches) {
  Job job(2);
  std::future<Answer> open = fetch(*job.stores[0], 1, "a");
  job.values[0]->end();
  EXPECT_EQ(value_of(open), "failed: the store was closed");
  job.values[0]->drive();
}

TEST(CarriedStore, KnowsItsPlace) {
  const Job job(3);
  EXPECT_EQ(job.stores[2]->job().rank, 2);
  EXPECT_THAT(job.stores[2]->nodes(), ElementsAre(0, 0, 1));
  EXPECT_THROW(fetch(*job.stores[0], 3, "a"), Error);
}

TEST(CarriedMessage, IsReadAsItWasWritten) {
  const CarriedMessage message{CarriedMessage::Kind::answer, "key", {{"a", ""}, {"b", std::string("\0\xff", 2)}}};
  const std::string bytes = write_message(message);
  const std::optional<CarriedMessage> read = read_message(bytes);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->kind, message.kind);
  EXPECT_EQ(read->key, message.key);
  EXPECT_EQ(read->values, message.values);
}

TEST(CarriedMessage, PartsAreRefused) {
  const std::string bytes = write_message({CarriedMessage::Kind::ask, "key", {{"a", "1"}}});
  const std::size_t without_values = write_message({CarriedMessage::Kind::ask, "key", {}}).size();
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_EQ(read_message(bytes.substr(0, length)).has_value(), length == without_values) << length;
}

}  // namespace
}  // namespace fab
