// fork(): a child hurts its parent neither by what it writes nor by how it ends, and fab goes on beside children of all
// kinds.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
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

const double kTimeLimitS = time_limit_s(60);
const auto kChildLimitS =
    static_cast<unsigned>(time_limit_s(30));  ///< a child that hangs is killed, which its parent sees

using SharedVector = std::vector<int, Allocator<int>>;
constexpr std::size_t kShort = 1000;            ///< elements; many blocks have one region
constexpr std::size_t kLong = (65u << 20) / 4;  ///< a region to itself

/// What a child destroys when it exits.
struct Globals {
  SharedVector memory;
  std::shared_ptr<core::Context> context;
  std::optional<Communicator> communicator;
  std::optional<PersistentExchange> exchange;
  std::optional<Request> request;
  SharedVector sent;
  SharedVector received;
  ~Globals() {
    request.reset();
    exchange.reset();
    communicator.reset();
    if (context != nullptr) context->close(kTimeLimitS);
  }
};
Globals globals;

/// How a child that does this ended, as waitpid has it.
template <class Child>
int run_child(Child child) {
  const pid_t process = ::fork();
  if (process == 0) {
    ::alarm(kChildLimitS);
    child();
    std::exit(0);
  }
  int status = -1;
  return ::waitpid(process, &status, 0) == process ? status : -1;
}

SharedVector counted(std::size_t elements) {
  SharedVector values(elements);
  std::iota(values.begin(), values.end(), 1);
  return values;
}

class ForkedMemory : public testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override { globals.memory = counted(GetParam()); }
  void TearDown() override { globals.memory = {}; }
};

TEST_P(ForkedMemory, IsWholeAfterAChildThatOnlyExits) {
  EXPECT_EQ(run_child([] {}), 0);
  EXPECT_TRUE(globals.memory == counted(GetParam()));
}

TEST_P(ForkedMemory, IsReadByAChild) {
  EXPECT_EQ(run_child([] {
              if (globals.memory != counted(GetParam())) ::_exit(1);
            }),
            0);
}

TEST_P(ForkedMemory, DoesNotShowWhatAChildWrites) {
  EXPECT_EQ(run_child([] {
              std::fill(globals.memory.begin(), globals.memory.end(), -1);
              ::_exit(globals.memory.front() == -1 ? 0 : 1);
            }),
            0);
  EXPECT_TRUE(globals.memory == counted(GetParam()));
}

TEST_P(ForkedMemory, IsNotGivenToAChildAgain) {
  EXPECT_EQ(run_child([] {
              const int* const parents = globals.memory.data();
              globals.memory = {};
              const SharedVector own(GetParam(), -2);
              const SharedVector more(GetParam(), -3);
              if (own.data() == parents || more.data() == parents) ::_exit(1);
            }),
            0);
  EXPECT_TRUE(globals.memory == counted(GetParam()));
}

TEST_P(ForkedMemory, IsWholeAfterAGrandchild) {
  EXPECT_EQ(run_child([] {
              globals.received = counted(GetParam());
              const int status = run_child([] { std::fill(globals.received.begin(), globals.received.end(), -1); });
              if (status != 0 || globals.received != counted(GetParam())) ::_exit(1);
            }),
            0);
  EXPECT_TRUE(globals.memory == counted(GetParam()));
}

// Whose handlers do not run, as with _Fork().
TEST_P(ForkedMemory, IsNotTakenByAChildOfABareClone) {
  const auto process = static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
  if (process == 0) {
    globals.memory = {};
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(process, &status, 0), process);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(globals.memory == counted(GetParam()));
}

INSTANTIATE_TEST_SUITE_P(Sizes, ForkedMemory, testing::Values(kShort, kLong));

constexpr std::size_t kElements = 200'000;

/// Two ranks that are each other's only neighbour, with an exchange that is started again and again.
void open_pair(std::unique_ptr<Store> store, const std::string& provider) {
  Config config = read_config([](const std::string&) { return std::nullopt; });
  config.local = provider == "local";
  if (!config.local) config.provider = provider;
  config.wait_timeout_s = kTimeLimitS / 2;
  globals.context = open_context(config, std::move(store));
  const auto core = core::Communicator::world(globals.context);
  core->set_topology(DistributedGraph({1 - core->rank()}, {1 - core->rank()}));
  globals.communicator = Access::communicator(core);
  globals.sent.assign(kElements, 0);
  globals.received.assign(kElements, 0);
  globals.exchange.emplace(neighbor_xchg.persistent(*globals.communicator, globals.sent.data(), globals.received.data(),
                                                    Layout::contiguous(kElements * sizeof(int))));
}

void close_pair() {
  globals.request.reset();
  globals.exchange.reset();
  globals.communicator.reset();
  globals.context->close(kTimeLimitS);
  globals.context.reset();
}

/// Returns how many elements are wrong.
std::size_t exchange_beside(int number, const std::function<void()>& during) {
  const int rank = globals.communicator->rank();
  for (std::size_t i = 0; i < kElements; ++i) globals.sent[i] = static_cast<int>(i) + number + rank;
  std::fill(globals.received.begin(), globals.received.end(), -1);
  globals.exchange->start();
  during();
  globals.exchange->wait();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < kElements; ++i)
    if (globals.received[i] != static_cast<int>(i) + number + 1 - rank) ++wrong;
  return wrong;
}

class ForkBesideExchange : public testing::TestWithParam<std::string> {
 protected:
  /// Both ranks have an exchange active while rank 0 does this; "ok", or what went wrong.
  static std::vector<std::string> results(const std::function<std::string()>& during) {
    const auto rank = [during](bool acts) {
      return [during, acts](std::unique_ptr<Store> store) {
        open_pair(std::move(store), GetParam());
        std::string text = "ok";
        for (int number = 0; number < 6; ++number) {
          const std::size_t wrong = exchange_beside(number, [&] {
            if (acts && number % 2 == 1 && text == "ok") text = during();
          });
          if (wrong > 0) text = fmt::format("{} wrong elements in exchange {}", wrong, number);
        }
        close_pair();
        return text;
      };
    };
    ForkedJob job({rank(true), rank(false)});
    return {job.result(0, kTimeLimitS), job.result(1, kTimeLimitS)};
  }
};

const std::vector<std::string> kBothFine{"ok", "ok"};

std::string ended_well(int status) {
  return status == 0 ? "ok" : fmt::format("the child ended with status {}", status);
}

TEST_P(ForkBesideExchange, ChildThatExits) {
  EXPECT_EQ(results([] { return ended_well(run_child([] {})); }), kBothFine);
}

TEST_P(ForkBesideExchange, ChildThatWritesToTheBuffers) {
  EXPECT_EQ(results([] {
              return ended_well(run_child([] {
                std::fill(globals.sent.begin(), globals.sent.end(), -7);
                std::fill(globals.received.begin(), globals.received.end(), -8);
              }));
            }),
            kBothFine);
}

TEST_P(ForkBesideExchange, ChildThatCallsFabGetsErrors) {
  const auto error_of = [](const std::function<void()>& call) -> std::string {
    try {
      call();
      return "no error";
    } catch (const Error& error) {
      return error.errc() == Errc::cancelled ? "cancelled" : error.what();
    }
  };
  const auto child = [error_of] {
    int value = 0;
    // It may have been complete when the process forked.
    if (!globals.exchange->test() && error_of([] { globals.exchange->wait(); }) != "cancelled") ::_exit(1);
    if (error_of([&] { neighbor_xchg(*globals.communicator, &value, &value, Layout::contiguous(4)); }) != "cancelled")
      ::_exit(2);
    if (error_of([&] { neighbor_xchg.start(*globals.communicator, &value, &value, Layout::contiguous(4)).wait(); }) !=
        "cancelled")
      ::_exit(3);
    // Or the block had come.
    if (!globals.exchange->test_source(0) && error_of([] { globals.exchange->wait_source(0); }) != "cancelled")
      ::_exit(4);
    if (error_of([] {
          globals.exchange->wait();
          globals.exchange->start();
        }) != "cancelled")
      ::_exit(5);
  };
  EXPECT_EQ(results([&] { return ended_well(run_child(child)); }), kBothFine);
}

TEST_P(ForkBesideExchange, ChildThatOpensItsOwnFab) {
  const auto child = [] {
    const auto context = open_context(globals.context->config(), open_singleton_store());
    const auto core = core::Communicator::world(context);
    core->set_topology(Cartesian({1}, {true}));
    const SharedVector out{1, 2};
    SharedVector in(2);
    neighbor_xchg(Access::communicator(core), out, in);
    if (in != SharedVector{2, 1}) ::_exit(1);
  };
  EXPECT_EQ(results([&] { return ended_well(run_child(child)); }), kBothFine);
}

TEST_P(ForkBesideExchange, SystemAndPopen) {
  EXPECT_EQ(results([] {
              const int status = std::system("true");
              FILE* const pipe = ::popen("echo out", "r");
              std::array<char, 8> text{};
              const bool read = pipe != nullptr && std::fgets(text.data(), text.size(), pipe) != nullptr;
              if (!read || std::string(text.data()) != "out\n" || ::pclose(pipe) != 0) return std::string("popen");
              return ended_well(status);
            }),
            kBothFine);
}

TEST_P(ForkBesideExchange, SpawnAndVfork) {
  EXPECT_EQ(results([] {
              std::string name = "true";
              char* const arguments[] = {name.data(), nullptr};
              pid_t process = -1;
              int status = -1;
              if (::posix_spawnp(&process, "true", nullptr, nullptr, arguments, environ) != 0 ||
                  ::waitpid(process, &status, 0) != process || status != 0)
                return std::string("posix_spawn");
              process = ::vfork();
              if (process == 0) ::_exit(0);
              if (::waitpid(process, &status, 0) != process) return std::string("vfork");
              return ended_well(status);
            }),
            kBothFine);
}

std::string provider_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), ';', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Providers, ForkBesideExchange, testing::Values("local", "net", "tcp;ofi_rxm"), provider_name);

}  // namespace
}  // namespace fab::test
