// A peer that dies, or never comes, ends a wait with an error that names it, and nothing hangs.
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <numeric>
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
using testing::HasSubstr;

const double kTimeoutS = time_limit_s(1);
const double kExtraTimeoutS =
    time_limit_s(6);  ///< of a network card's provider, which takes seconds to connect in an emulation
const double kTimeLimitS = time_limit_s(30);

/// EXTRA_PROVIDER names one that only some machines have.
std::string extra_provider() {
  const char* name = std::getenv("EXTRA_PROVIDER");
  return name == nullptr ? "" : name;
}

/// Two ranks that are each other's only neighbour.
class Pair {
 public:
  Pair(std::unique_ptr<Store> store, const std::string& provider) {
    Config config = read_config([](const std::string&) { return std::nullopt; });
    config.local = provider == "local";
    if (!config.local) config.provider = provider;
    config.wait_timeout_s = provider == extra_provider() ? kExtraTimeoutS : kTimeoutS;
    context_ = open_context(config, std::move(store));
    const auto core = core::Communicator::world(context_);
    const int other = 1 - core->rank();
    core->set_topology(DistributedGraph({other}, {other}));
    communicator_ = std::make_unique<Communicator>(Access::communicator(core));
  }

  void exchange(std::size_t bytes) {
    std::vector<char> out(bytes, 'o');
    std::vector<char> in(bytes, 'i');
    neighbor_xchg(*communicator_, out.data(), in.data(), Layout::contiguous(bytes));
  }

 private:
  std::shared_ptr<core::Context> context_;
  std::unique_ptr<Communicator> communicator_;
};

/// What an exchange that cannot succeed says.
std::string failing_exchange(Pair& pair, std::size_t bytes) {
  try {
    pair.exchange(bytes);
    return "no error";
  } catch (const Error& error) {
    return std::string(error.errc() == Errc::timed_out ? "timed out: " : "failed: ") + error.what();
  }
}

class PeerLoss : public testing::TestWithParam<std::tuple<std::string, std::size_t>> {
 protected:
  static std::string provider() { return std::get<0>(GetParam()); }
  static std::size_t bytes() { return std::get<1>(GetParam()); }
};

TEST_P(PeerLoss, PeerThatIsKilledWhileAnExchangeIsPending) {
  const auto survivor = [](std::unique_ptr<Store> store) {
    Pair pair(std::move(store), provider());
    pair.exchange(bytes());
    ForkedJob::mark();
    return failing_exchange(pair, bytes());
  };
  const auto victim = [](std::unique_ptr<Store> store) {
    Pair pair(std::move(store), provider());
    pair.exchange(bytes());
    ForkedJob::mark();
    ::pause();
    return std::string();
  };
  ForkedJob job({survivor, victim});
  ASSERT_TRUE(job.wait_for_mark(0, kTimeLimitS));
  ASSERT_TRUE(job.wait_for_mark(1, kTimeLimitS));
  job.kill(1);
  EXPECT_THAT(job.result(0, kTimeLimitS),
              AllOf(HasSubstr("neighbor_xchg"), HasSubstr("rank 1"), Not(HasSubstr("no error"))));
}

TEST_P(PeerLoss, PeerThatNeverStartsTheExchange) {
  const auto waiting = [](std::unique_ptr<Store> store) {
    Pair pair(std::move(store), provider());
    pair.exchange(bytes());
    return failing_exchange(pair, bytes());
  };
  const auto absent = [](std::unique_ptr<Store> store) {
    Pair pair(std::move(store), provider());
    pair.exchange(bytes());
    ::pause();
    return std::string();
  };
  ForkedJob job({waiting, absent});
  EXPECT_THAT(job.result(0, kTimeLimitS), AllOf(HasSubstr("timed out"), HasSubstr("neighbor_xchg"),
                                                HasSubstr("receive from rank 1"), HasSubstr("FAB_WAIT_TIMEOUT")));
}

TEST_P(PeerLoss, PeerThatNeverOpensFab) {
  const auto waiting = [](std::unique_ptr<Store> store) {
    Pair pair(std::move(store), provider());
    return failing_exchange(pair, bytes());
  };
  const auto absent = [](std::unique_ptr<Store>) {
    ::pause();
    return std::string();
  };
  ForkedJob job({waiting, absent});
  EXPECT_THAT(job.result(0, kTimeLimitS),
              AllOf(HasSubstr("timed out"), HasSubstr("rank 1"), HasSubstr("has not published its address")));
}

std::string test_name(const testing::TestParamInfo<std::tuple<std::string, std::size_t>>& info) {
  std::string name = std::get<0>(info.param);
  for (char& character : name)
    if (character == ';') character = '_';
  return name + "_" + std::to_string(std::get<1>(info.param));
}

INSTANTIATE_TEST_SUITE_P(Providers, PeerLoss,
                         testing::Combine(testing::Values("local", "net", "tcp;ofi_rxm", "shm"),
                                          testing::Values(8, 1 << 20)),
                         test_name);

std::vector<std::string> extra_providers() {
  return extra_provider().empty() ? std::vector<std::string>() : std::vector{extra_provider()};
}

INSTANTIATE_TEST_SUITE_P(Extra, PeerLoss,
                         testing::Combine(testing::ValuesIn(extra_providers()), testing::Values(8, 1 << 20)),
                         test_name);

}  // namespace
}  // namespace fab::test
