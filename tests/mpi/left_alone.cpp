// Every completion call tells the plan whether its run was left alone, by which the next start decides whether it calls
// the progress thread out of a timed sleep. No thread runs here (FAB_PROGRESS=caller): the test says that one sleeps,
// and looks at how it is called.
#include <array>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "bindings/mpi/base/process_context.h"
#include "bindings/mpi/lifecycle/lifecycle.h"
#include "communicators.h"
#include "core/base/ticks.h"

namespace fab::test {
namespace {

struct Way {
  std::string name;
  std::function<void(MPI_Request& request)> complete;
};

std::vector<Way> ways() {
  const auto until = [](auto&& test) {
    int flag = 0;
    while (flag == 0) EXPECT_EQ(test(flag), MPI_SUCCESS);
  };
  return {
      {"Wait", [](MPI_Request& request) { EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS); }},
      {"Waitall", [](MPI_Request& request) { EXPECT_EQ(MPI_Waitall(1, &request, MPI_STATUSES_IGNORE), MPI_SUCCESS); }},
      {"Waitany",
       [](MPI_Request& request) {
         int index = MPI_UNDEFINED;
         EXPECT_EQ(MPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE), MPI_SUCCESS);
       }},
      {"Waitsome",
       [](MPI_Request& request) {
         int count = 0;
         int index = MPI_UNDEFINED;
         EXPECT_EQ(MPI_Waitsome(1, &request, &count, &index, MPI_STATUSES_IGNORE), MPI_SUCCESS);
       }},
      {"Test",
       [=](MPI_Request& request) { until([&](int& flag) { return MPI_Test(&request, &flag, MPI_STATUS_IGNORE); }); }},
      {"Testall",
       [=](MPI_Request& request) {
         until([&](int& flag) { return MPI_Testall(1, &request, &flag, MPI_STATUSES_IGNORE); });
       }},
      {"Testany",
       [=](MPI_Request& request) {
         int index = MPI_UNDEFINED;
         until([&](int& flag) { return MPI_Testany(1, &request, &index, &flag, MPI_STATUS_IGNORE); });
       }},
      {"Testsome",
       [=](MPI_Request& request) {
         int index = MPI_UNDEFINED;
         until([&](int& flag) { return MPI_Testsome(1, &request, &flag, &index, MPI_STATUSES_IGNORE); });
       }},
  };
}

/// An exchange on a ring of its own, whose plan no other exchange has.
class LeftAlone : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    mpi::open_fab();
    if (persistent_) {
      ASSERT_EQ(
          MPI_Neighbor_xchg_init(send_.data(), 1, MPI_INT, recv_.data(), 1, MPI_INT, comm_, MPI_INFO_NULL, &request_),
          MPI_SUCCESS);
    }
  }
  void TearDown() override {
    if (persistent_) {
      EXPECT_EQ(MPI_Request_free(&request_), MPI_SUCCESS);
    }
    let_thread(core::ThreadState::awake);
  }

  /// Returns whether the start needed the thread. Rank 0 starts before the others, so nothing ends within its start.
  bool start() {
    if (world_rank() > 0) MPI_Barrier(MPI_COMM_WORLD);
    let_thread(core::ThreadState::timed_sleep);
    static_cast<void>(thread_call().take_need());
    absences_ = thread_call().absences();
    const int code = persistent_
                         ? MPI_Start(&request_)
                         : MPI_Ineighbor_xchg(send_.data(), 1, MPI_INT, recv_.data(), 1, MPI_INT, comm_, &request_);
    EXPECT_EQ(code, MPI_SUCCESS);
    const bool needed = thread_call().take_need();
    if (world_rank() == 0) MPI_Barrier(MPI_COMM_WORLD);
    return needed;
  }
  /// Returns whether fab knows that the last exchange was left alone.
  bool complete(const Way& way) {
    way.complete(request_);
    return thread_call().absences() != absences_;
  }
  /// Longer than any thread lets runs be left alone.
  static void stay_away() {
    const std::uint64_t begin = core::ticks();
    while (core::ticks() - begin < 5'000'000) {
    }
  }

 private:
  [[nodiscard]] static core::ThreadCall& thread_call() { return mpi::process_engine().thread_call(); }
  static void let_thread(core::ThreadState state) {
    const core::Lock lock(mpi::process_engine());
    thread_call().set_state(state, std::memory_order_relaxed);
  }

  bool persistent_ = GetParam();
  std::array<int, 2> send_{};
  std::array<int, 2> recv_{};
  Comm comm_ = ring();
  MPI_Request request_ = MPI_REQUEST_NULL;
  std::uint32_t absences_ = 0;
};

TEST_P(LeftAlone, NextStartNeedsTheThread) {
  for (const Way& way : ways()) {
    SCOPED_TRACE(way.name);
    start();
    stay_away();
    EXPECT_TRUE(complete(way) || world_rank() > 0);
    EXPECT_TRUE(start() || world_rank() > 0);
    complete(way);
  }
}

// A rank that others kept from its processor was away, and knows. MPI_Wait also tells the plan that it took long, by
// the clock, so it is left out.
TEST_P(LeftAlone, NextStartDoesNotNeedTheThreadOtherwise) {
  const std::vector<Way> all = ways();
  for (const Way& way : std::span(all).subspan(1)) {
    SCOPED_TRACE(way.name);
    start();
    stay_away();
    complete(all.front());
    EXPECT_TRUE(start() || world_rank() > 0);  // the plan's last run was left alone
    const bool away = complete(way);
    EXPECT_TRUE(start() == away || world_rank() > 0);
    complete(way);
  }
}

INSTANTIATE_TEST_SUITE_P(Exchanges, LeftAlone, testing::Bool(),
                         [](const auto& persistent) { return persistent.param ? "Persistent" : "NonBlocking"; });

}  // namespace
}  // namespace fab::test
