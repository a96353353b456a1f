// Where the system refuses or limits anonymous files: exchanges go on by the next best way, with one line, and no
// signal ends the process.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <functional>
#include <stdexcept>
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

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

const double kTimeLimitS = time_limit_s(60);

/// From here on this process's calls with these numbers fail.
void refuse_calls(std::vector<unsigned> numbers, unsigned error) {
  std::vector<sock_filter> filter{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const unsigned number : numbers) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    throw std::runtime_error("no seccomp filter");
}

void nothing() {}
void limit_files() {
  const rlimit limit{64 << 10, 64 << 10};
  if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) throw std::runtime_error("setrlimit");
}
void refuse_files() { refuse_calls({SYS_memfd_create}, EPERM); }
void refuse_memory() { refuse_calls({SYS_memfd_create, SYS_shmget}, ENOSYS); }
void refuse_all_shared_memory() { refuse_calls({SYS_memfd_create, SYS_shmget, SYS_fallocate}, ENOSYS); }

/// Exchanges of messages of all lengths, in memory of fab's: "N lines, ok" with the lines that were logged before.
std::string exchange(std::unique_ptr<Store> store, const std::function<void()>& refuse) {
  refuse();
  testing::internal::CaptureStderr();
  std::string end = "ok";
  try {
    Config config = read_config([](const std::string&) { return std::nullopt; });
    config.wait_timeout_s = kTimeLimitS / 2;
    const auto context = open_context(config, std::move(store));
    const auto core = core::Communicator::world(context);
    const int rank = core->rank();
    core->set_topology(DistributedGraph({1 - rank}, {1 - rank}));
    const Communicator communicator = Access::communicator(core);
    for (const std::size_t elements : {1u, 1000u, 200'000u, 2u, 500'000u}) {
      std::vector<int, Allocator<int>> out(elements, rank + 1);
      std::vector<int, Allocator<int>> in(elements, -1);
      neighbor_xchg(communicator, out, in);
      if (std::count(in.begin(), in.end(), 2 - rank) != static_cast<std::ptrdiff_t>(elements)) end = "wrong data";
    }
    context->close(kTimeLimitS);
  } catch (const Error& error) {
    end = error.what();
  }
  const std::string log = testing::internal::GetCapturedStderr();
  return fmt::format("{} lines: {}{}", std::count(log.begin(), log.end(), '\n'), log, end);
}

std::vector<std::string> results(const std::function<void()>& first, const std::function<void()>& second) {
  const auto rank = [](const std::function<void()>& refuse) {
    return [refuse](std::unique_ptr<Store> store) { return exchange(std::move(store), refuse); };
  };
  ForkedJob job({rank(first), rank(second)});
  return {job.result(0, kTimeLimitS), job.result(1, kTimeLimitS)};
}

const std::string kFine = "0 lines: ok";

// One line for the rings, one for the user's memory.
const auto kSystemV = AllOf(StartsWith("2 lines: "), HasSubstr("share System V memory"),
                            HasSubstr("fab::alloc: cannot share memory"), EndsWith("\nok"));

TEST(Refusal, LimitOfFilesOnAllRanks) {
  for (const std::string& result : results(limit_files, limit_files))
    EXPECT_THAT(result, AllOf(kSystemV, HasSubstr("ulimit -f")));
}

TEST(Refusal, LimitOfFilesOnOneRank) {
  const auto both = results(limit_files, nothing);
  EXPECT_THAT(both[0], kSystemV);
  EXPECT_EQ(both[1], kFine);
}

TEST(Refusal, NoAnonymousFilesOnAllRanks) {
  for (const std::string& result : results(refuse_files, refuse_files))
    EXPECT_THAT(result, AllOf(kSystemV, HasSubstr("memfd_create: Operation not permitted")));
}

TEST(Refusal, NoAnonymousFilesOnOneRank) {
  const auto both = results(nothing, refuse_files);
  EXPECT_EQ(both[0], kFine);
  EXPECT_THAT(both[1], kSystemV);
}

const auto kFolder = AllOf(StartsWith("2 lines: "), HasSubstr("share a file in /dev/shm"), HasSubstr("shmget"),
                           HasSubstr("fab::alloc: cannot share memory"), EndsWith("\nok"));

TEST(Refusal, NoSystemVMemoryOnAllRanks) {
  for (const std::string& result : results(refuse_memory, refuse_memory)) EXPECT_THAT(result, kFolder);
}

TEST(Refusal, NoSystemVMemoryOnOneRank) {
  const auto both = results(nothing, refuse_memory);
  EXPECT_EQ(both[0], kFine);
  EXPECT_THAT(both[1], kFolder);
}

TEST(Refusal, NoSharedMemoryOnAllRanks) {
  for (const std::string& result : results(refuse_all_shared_memory, refuse_all_shared_memory))
    EXPECT_THAT(result, AllOf(StartsWith("2 lines: "), HasSubstr("within the node go over the network"),
                              HasSubstr("shmget"), EndsWith("\nok")));
}

TEST(Refusal, NoSharedMemoryOnOneRankIsAnErrorOnBoth) {
  const auto both = results(refuse_all_shared_memory, nothing);
  EXPECT_THAT(both[0], AllOf(HasSubstr("rank 1: "), HasSubstr("FAB_LOCAL=off on all ranks")));
  EXPECT_THAT(both[1], AllOf(HasSubstr("rank 0: "), HasSubstr("FAB_LOCAL=off on all ranks")));
}

// A peer that has ended before this rank met it.
TEST(FirstErrors, AreToldFirst) {
  const auto ends = [](std::unique_ptr<Store> store) {
    const auto context = open_context(read_config([](const std::string&) { return std::nullopt; }), std::move(store));
    return std::string("ended");
  };
  const auto comes_late = [](std::unique_ptr<Store> store) {
    ForkedJob::wait_for_end_of(0);
    return exchange(std::move(store), nothing);
  };
  ForkedJob job({ends, comes_late});
  EXPECT_EQ(job.result(0, kTimeLimitS), "ended");
  EXPECT_THAT(job.result(1, kTimeLimitS), AllOf(HasSubstr("rank 0: it has ended"), testing::Not(HasSubstr("/proc"))));
}

}  // namespace
}  // namespace fab::test
