// A rank gives up a call whose message its peer has not copied yet, and uses its memory again.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "bindings/native/base/access.h"
#include "bindings/native/context/open_context.h"
#include "core/communicator/communicator.h"
#include "fab/fab.h"
#include "process/forked_job.h"
#include "support/time_limit.h"

namespace fab::test {
namespace {

using testing::HasSubstr;

const double kTimeoutS = time_limit_s(1);
const double kTimeLimitS = time_limit_s(30);
constexpr std::size_t kLong = 1 << 20;

/// Rank 0 sends to rank 1.
Communicator one_way(std::unique_ptr<Store> store, double wait_timeout_s) {
  Config config = read_config([](const std::string&) { return std::nullopt; });
  config.wait_timeout_s = wait_timeout_s;
  const auto core = core::Communicator::world(open_context(config, std::move(store)));
  if (core->rank() == 0)
    core->set_topology(DistributedGraph({}, {1}));
  else
    core->set_topology(DistributedGraph({0}, {}));
  return Access::communicator(core);
}

template <class Memory>
std::string exchange(const Communicator& communicator, const Memory& out, Memory& in) {
  try {
    neighbor_xchg(communicator, out.data(), in.data(), Layout::contiguous(out.size()));
  } catch (const Error& error) {
    return error.what();
  }
  return std::ranges::all_of(in, [](char each) { return each == 'o'; }) ? "all of it" : "something else";
}

template <class Memory>
void change_memory_after_a_timeout() {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const auto sender = [pipe](std::unique_ptr<Store> store) {
    const Communicator communicator = one_way(std::move(store), kTimeoutS);
    Memory out(kLong, 'o');
    Memory in(kLong, 'o');
    const std::string end = exchange(communicator, out, in);
    std::ranges::fill(out, 'x');
    if (::write(pipe[1], "", 1) != 1) return std::string("no pipe");
    ForkedJob::end_together(2, kTimeLimitS);
    return end;
  };
  const auto receiver = [pipe](std::unique_ptr<Store> store) {
    const Communicator communicator = one_way(std::move(store), kTimeLimitS);
    Memory out(kLong, 'o');
    Memory in(kLong, 'i');
    char told = 0;
    if (::read(pipe[0], &told, 1) != 1) return std::string("no pipe");
    const std::string end = exchange(communicator, out, in);
    ForkedJob::end_together(2, kTimeLimitS);
    return end;
  };
  ForkedJob job({sender, receiver});
  EXPECT_THAT(job.result(0, kTimeLimitS), HasSubstr("no progress for"));
  EXPECT_THAT(job.result(1, kTimeLimitS), HasSubstr("that rank failed"));
  for (const int end : pipe) ::close(end);
}

TEST(GivenUpSend, IsAnErrorForItsReceiver) { change_memory_after_a_timeout<std::vector<char>>(); }

TEST(GivenUpSend, InFabsMemoryToo) { change_memory_after_a_timeout<std::vector<char, Allocator<char>>>(); }

}  // namespace
}  // namespace fab::test
