// Segments that a killed process leaves in /dev/shm disturb no later job.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>

#include "bindings/native/base/access.h"
#include "bindings/native/context/open_context.h"
#include "core/communicator/communicator.h"
#include "fab/fab.h"

namespace fab::test {
namespace {

/// The file that libfabric's shm makes for an endpoint of a process.
std::filesystem::path segment_of(pid_t process, int endpoint) {
  return "/dev/shm/" + std::to_string(process) + ":0:" + std::to_string(endpoint);
}

std::shared_ptr<core::Context> open_over_shm() {
  Config config = read_config([](const std::string&) { return std::nullopt; });
  config.provider = "shm";
  config.local = false;
  auto stores = open_memory_stores(1);
  return open_context(config, std::move(stores.front()));
}

/// As if a process had been killed that had this one's number.
void leave_a_segment() {
  const auto context = open_over_shm();
  std::filesystem::copy_file(segment_of(::getpid(), 0), segment_of(::getpid(), 1));
}

/// Opens fab over shm although the file is there, and exchanges with itself. The exit status of a process.
int exchange_beside_stale_segment() {
  leave_a_segment();
  const auto context = open_over_shm();
  const auto core = core::Communicator::world(context);
  core->set_topology(Cartesian({1}, {true}));
  const std::array<int, 2> out{1, 2};
  std::array<int, 2> in{};
  neighbor_xchg(Access::communicator(core), out, in);
  return in == std::array{2, 1} ? 0 : 2;
}

TEST(StaleSegment, IsInNoJobsWay) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    try {
      ::_exit(exchange_beside_stale_segment());
    } catch (const std::exception& error) {
      fprintf(stderr, "%s\n", error.what());
      ::_exit(1);
    }
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  std::filesystem::remove(segment_of(child, 1));
}

}  // namespace
}  // namespace fab::test
