// When a call builds its schedule, and when it finds a cached plan.
#include "core/communicator/plan_cache.h"

#include <gtest/gtest.h>

#include <optional>

#include "core/run/wait.h"
#include "unit/harness/recording_rig.h"

namespace fab::test {
namespace {

/// Starts calls whose shape is a list of words and perhaps a layout, and counts how often a schedule was built.
class PlanCaching : public testing::Test {
 protected:
  void make_rig(std::size_t plan_cache) {
    RecordingRig::Options options;
    options.config.plan_cache = plan_cache;
    rig_ = std::make_unique<RecordingRig>(options);
  }

  core::Run& start(std::uint64_t call, std::vector<std::int64_t> words = {}, const Layout& layout = {}) {
    const core::Lock lock(rig_->engine());
    const auto describe = [&](core::CallShape& shape) {
      for (const std::int64_t word : words) shape.add(word);
      shape.add(layout);
    };
    const std::array<std::byte*, 2> bases{buffers_.send.data(), buffers_.recv.data()};
    return rig_->world()->start(call, describe, bases, [this] {
      ++builds_;
      return exchange_with({1}, 8);
    });
  }
  void end(core::Run& run) {
    rig_->provider().settle_all(8);
    rig_->poll();
    EXPECT_TRUE(run.done() && run.status().ok()) << run.status().message;
    rig_->let_go(run);
  }

  void remember(const core::CallBrief& brief, const Layout& layout) {
    const core::Lock lock(rig_->engine());
    rig_->world()->remember(brief, {{&layout}});
  }
  const core::Plan* found_by(const core::CallBrief& brief) {
    const core::Lock lock(rig_->engine());
    core::RunPool* const pool = rig_->world()->plan_of(brief);
    return pool == nullptr ? nullptr : &pool->plan();
  }
  /// Of a call by its shape, which is remembered by its brief.
  const core::Plan* plan_of_call(std::uint64_t call, const core::CallBrief& brief, const Layout& layout = {}) {
    core::Run& run = start(call, {}, layout);
    remember(brief, layout);
    const core::Plan* const plan = &run.plan();
    end(run);
    return plan;
  }

  std::unique_ptr<RecordingRig> rig_;
  Buffers buffers_{8};
  int builds_ = 0;
};

TEST_F(PlanCaching, EqualShapesBuildOnce) {
  make_rig(8);
  const Layout layout = Layout::vector(3, 1, 8, Layout::contiguous(4));
  for (int i = 0; i < 5; ++i) end(start(1, {4, -2}, Layout::vector(3, 1, 8, Layout::contiguous(4))));
  EXPECT_EQ(builds_, 1);
  EXPECT_EQ(rig_->cached_plans(), 1u);
}

TEST_F(PlanCaching, EveryPartOfTheShapeCounts) {
  make_rig(64);
  const Layout layout = Layout::vector(3, 1, 8, Layout::contiguous(4));
  end(start(1, {4, 2}, layout));
  end(start(2, {4, 2}, layout));
  end(start(1, {2, 4}, layout));
  end(start(1, {4}, layout));
  end(start(1, {4, 2, 0}, layout));
  end(start(1, {4, 2}));
  end(start(1, {4, 2}, Layout::vector(3, 1, 9, Layout::contiguous(4))));
  EXPECT_EQ(builds_, 7);
  EXPECT_EQ(rig_->cached_plans(), 7u);
}

TEST_F(PlanCaching, TheLongestUnusedGoesFirst) {
  make_rig(2);
  end(start(1));
  end(start(2));
  end(start(1));
  end(start(3));  // 2 goes
  EXPECT_EQ(builds_, 3);
  end(start(1));
  end(start(3));
  EXPECT_EQ(builds_, 3);
  end(start(2));
  EXPECT_EQ(builds_, 4);
  EXPECT_EQ(rig_->cached_plans(), 2u);
}

TEST_F(PlanCaching, CallsThatTakeTurnsFindTheirOwnPlans) {
  make_rig(3);
  const auto plan_of = [this](std::uint64_t call) {
    core::Run& run = start(call);
    const core::Plan* const plan = &run.plan();
    end(run);
    return plan;
  };
  end(start(9));  // which has gone when the others take turns
  const std::array plans = {plan_of(1), plan_of(2), plan_of(3)};
  for (const std::uint64_t call : {1u, 2u, 3u, 1u, 2u, 3u, 3u, 1u, 1u, 2u, 1u, 3u, 2u, 1u, 3u, 2u})
    EXPECT_EQ(plan_of(call), plans[call - 1]) << call;
  EXPECT_EQ(builds_, 4);
}

// What finds no plan by its brief is started by its shape, and remembered.
TEST_F(PlanCaching, ABriefFindsItsPlanInAnyOrder) {
  make_rig(3);
  const core::CallBrief one{{1, 7}};
  const core::CallBrief two{{2, 7}};
  EXPECT_EQ(found_by(one), nullptr);
  const core::Plan* const first = plan_of_call(1, one);
  EXPECT_EQ(found_by(one), first);
  const core::Plan* const second = plan_of_call(2, two);
  EXPECT_EQ(found_by(two), second);
  EXPECT_EQ(plan_of_call(1, one), first);
  EXPECT_EQ(found_by(two), second);
  EXPECT_EQ(found_by(two), second) << "although the first one comes next";
  EXPECT_EQ(found_by(one), first);
  EXPECT_EQ(found_by(core::CallBrief{{2, 8}}), nullptr);
  EXPECT_EQ(found_by(two), second);
}

// Otherwise another layout could lie there, and a call with it be taken for this one.
TEST_F(PlanCaching, ABriefKeepsTheLayoutsThatItNames) {
  make_rig(3);
  const Layout data = Layout::vector(3, 1, 8, Layout::contiguous(4));
  const auto made = [&](std::ptrdiff_t extent) { return data.resized(0, extent); };
  const auto address = [](const Layout& layout) { return reinterpret_cast<std::uintptr_t>(layout.nodes().data()); };
  std::optional<Layout> send = made(100);
  std::optional<Layout> recv = made(100);  // equal, and elsewhere
  const core::CallBrief brief{{1, address(*send), address(*recv)}};
  end(start(1, {}, *send));
  {
    const core::Lock lock(rig_->engine());
    rig_->world()->remember(brief, {{&*send, &*recv}});
  }
  ASSERT_NE(found_by(brief), nullptr);
  send.reset();
  recv.reset();
  std::vector<Layout> others;
  for (std::ptrdiff_t extent = 101; extent < 200; ++extent) {
    others.push_back(made(extent));
    EXPECT_NE(address(others.back()), brief.words[1]);
    EXPECT_NE(address(others.back()), brief.words[2]);
  }
}

// Calls that say the same but for the numbers in their arrays have the same brief.
TEST_F(PlanCaching, NumbersTellCallsOfOneBriefApart) {
  make_rig(3);
  const core::CallBrief brief{{32, 7}};
  std::array<int, 2> counts{1, 2};
  const std::array<int, 3> places{3, 4, 5};
  const auto numbers = [&] { return core::CallNumbers{{{counts, {}, places}}}; };
  const auto plan_of = [&](const core::CallNumbers& each) -> const core::Plan* {
    const core::Lock lock(rig_->engine());
    core::RunPool* const pool = rig_->world()->plan_of(brief, &each);
    return pool == nullptr ? nullptr : &pool->plan();
  };
  const auto started = [&](std::uint64_t call) {
    core::Run& run = start(call);
    {
      const core::Lock lock(rig_->engine());
      const core::CallNumbers its_numbers = numbers();
      rig_->world()->remember(brief, {}, &its_numbers);
    }
    const core::Plan* const plan = &run.plan();
    end(run);
    return plan;
  };
  EXPECT_EQ(plan_of(numbers()), nullptr);
  const core::Plan* const first = started(1);
  EXPECT_EQ(plan_of(numbers()), first);
  counts = {1, 3};
  EXPECT_EQ(plan_of(numbers()), nullptr) << "the arrays lie where they lay";
  const core::Plan* const second = started(2);
  EXPECT_EQ(plan_of(numbers()), second);
  counts = {1, 2};
  EXPECT_EQ(plan_of(numbers()), first);
  EXPECT_EQ(plan_of(core::CallNumbers{{{{}, {}, places}}}), nullptr) << "an array is missing";
  EXPECT_EQ(plan_of(core::CallNumbers{{{counts, {}, std::span(places).first(2)}}}), nullptr);
  EXPECT_EQ(started(1), first) << "by its shape";
  EXPECT_EQ(plan_of(numbers()), first);
}

TEST_F(PlanCaching, WithoutABriefNothingIsForgotten) {
  make_rig(3);
  const core::CallBrief one{{1}};
  const core::Plan* const plan = plan_of_call(1, one);
  EXPECT_EQ(plan_of_call(1, {}), plan);
  EXPECT_EQ(found_by(one), plan);
}

TEST_F(PlanCaching, APlanThatGoesWhileItRunsIsKeptUntilTheRunIsDone) {
  make_rig(1);
  core::Run& first = start(1);
  core::Run& second = start(2);
  core::Run& third = start(3);
  EXPECT_EQ(rig_->cached_plans(), 1u);
  rig_->provider().settle_all(8);
  rig_->poll();
  for (core::Run* run : {&first, &second, &third}) {
    EXPECT_TRUE(run->done() && run->status().ok());
    rig_->let_go(*run);
  }
}

TEST_F(PlanCaching, WithoutRoomEveryCallBuilds) {
  make_rig(0);
  for (int i = 0; i < 3; ++i) end(start(1));
  EXPECT_EQ(builds_, 3);
  EXPECT_EQ(rig_->cached_plans(), 0u);
}

TEST_F(PlanCaching, RunsOfOneShapeAtTheSameTimeShareThePlan) {
  make_rig(8);
  core::Run& first = start(1);
  core::Run& second = start(1);
  EXPECT_NE(&first, &second);
  EXPECT_EQ(&first.plan(), &second.plan());
  EXPECT_EQ(builds_, 1);
  rig_->provider().settle_all(8);
  rig_->poll();
  rig_->let_go(first);
  rig_->let_go(second);
}

}  // namespace
}  // namespace fab::test
