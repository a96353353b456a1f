// The processor of the progress thread, and that application threads keep theirs.
#include <gmock/gmock.h>
#include <sched.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "unit/harness/recording_rig.h"

namespace fab::test {
namespace {

namespace fs = std::filesystem;

/// The kernel's number of this process's progress thread; 0 when there is none.
pid_t progress_thread() {
  for (const fs::directory_entry& task : fs::directory_iterator("/proc/self/task")) {
    std::string name;
    std::ifstream(task.path() / "comm") >> name;
    if (name == "fab-progress") return static_cast<pid_t>(std::stoi(task.path().filename()));
  }
  return 0;
}

cpu_set_t processors_of(pid_t thread) {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(::sched_getaffinity(thread, sizeof(set), &set), 0);
  return set;
}

int last_of(const cpu_set_t& set) {
  int last = -1;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) last = cpu;
  return last;
}

RecordingRig::Options options_with(int cpu) {
  RecordingRig::Options options;
  options.config.progress = ProgressMode::thread;
  options.config.progress_cpu = cpu;
  return options;
}

TEST(ProgressThreadPin, RunsOnTheProcessorThatTheUserNames) {
  const int cpu = last_of(processors_of(0));
  const RecordingRig rig(options_with(cpu));
  const pid_t thread = progress_thread();
  ASSERT_NE(thread, 0);
  const cpu_set_t set = processors_of(thread);
  EXPECT_EQ(CPU_COUNT(&set), 1);
  EXPECT_EQ(last_of(set), cpu);
}

TEST(ProgressThreadPin, RunsWhereTheProcessMayUnlessTold) {
  const RecordingRig rig(options_with(-1));
  const cpu_set_t own = processors_of(0);
  const cpu_set_t set = processors_of(progress_thread());
  EXPECT_TRUE(CPU_EQUAL(&set, &own));
}

TEST(ProgressThreadPin, WarnsOfAProcessorThatIsNotThere) {
  testing::internal::CaptureStderr();
  { const RecordingRig rig(options_with(CPU_SETSIZE - 1)); }
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::HasSubstr("FAB_PROGRESS_CPU=1023: cannot pin the progress thread: Invalid argument"));
}

TEST(ProgressThreadPin, LeavesSignalsToTheApplication) {
  const RecordingRig rig(options_with(-1));
  std::ifstream status("/proc/self/task/" + std::to_string(progress_thread()) + "/status");
  std::string line;
  while (std::getline(status, line) && !line.starts_with("SigBlk:")) {
  }
  const unsigned long long blocked = std::stoull(line.substr(line.find('\t') + 1), nullptr, 16);
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGALRM, SIGCHLD})
    EXPECT_NE(blocked & (1ull << (signal - 1)), 0u) << "signal " << signal;
}

}  // namespace
}  // namespace fab::test
