#include "core/base/config.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "core/base/log.h"
#include "fab/error.h"
#include "unit/support/environment_of.h"

namespace fab {
namespace {

using fab::test::environment_of;
using testing::HasSubstr;

Config read(const std::string& name, const std::string& value) { return read_config(environment_of({{name, value}})); }

/// The message of the error that the value causes; a failure when it causes none.
std::string refusal_of(const std::string& name, const std::string& value) {
  try {
    static_cast<void>(read(name, value));
  } catch (const Error& error) {
    EXPECT_EQ(error.errc(), Errc::configuration);
    return error.what();
  }
  ADD_FAILURE() << name << "=" << value << " was accepted";
  return "";
}

TEST(Config, DefaultsStandInTheRows) {
  const Config config = read_config(environment_of({}));
  EXPECT_EQ(config.provider, "");
  EXPECT_EQ(config.interface, "");
  EXPECT_EQ(config.tcp_congestion, "auto");
  EXPECT_EQ(config.progress, ProgressMode::automatic);
  EXPECT_EQ(config.engines, 1);
  EXPECT_EQ(config.progress_cpu, -1);
  EXPECT_EQ(config.poll_us, 10'000);
  EXPECT_EQ(config.log, LogLevel::warn);
  EXPECT_EQ(config.wait_timeout_s, 0);
  EXPECT_EQ(config.peer_timeout_s, 30);
  EXPECT_EQ(config.exit_timeout_s, 1);
  EXPECT_EQ(config.combine_bytes, 32768u);
  EXPECT_EQ(config.segment_bytes, 65536u);
  for (const std::string& algorithm : config.algorithms) EXPECT_EQ(algorithm, "");
  EXPECT_EQ(config.rules, "");
  EXPECT_EQ(config.file_rules, nullptr);
  EXPECT_EQ(config.plan_cache, 64u);
  EXPECT_FALSE(config.check);
  EXPECT_EQ(config.sequence_start, 0u);
  for (const ConfigRow& row : config_rows()) EXPECT_EQ(row.print(config), row.default_value) << row.name;
}

TEST(Config, RowsAreCompleteAndUnique) {
  std::set<std::string> names;
  for (const ConfigRow& row : config_rows()) {
    EXPECT_TRUE(std::string_view(row.name).starts_with("FAB_")) << row.name;
    EXPECT_TRUE(std::string_view(row.help).ends_with('.')) << row.name;
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
  }
  EXPECT_EQ(names.size(), 28u + kCollectives);
}

TEST(Config, ValidValuesAreReadAndPrinted) {
  EXPECT_EQ(read("FAB_PROVIDER", "tcp;ofi_rxm").provider, "tcp;ofi_rxm");
  EXPECT_EQ(read("FAB_IFACE", "eth0").interface, "eth0");
  EXPECT_EQ(read("FAB_TCP_CONGESTION", "kernel").tcp_congestion, "kernel");
  EXPECT_EQ(read("FAB_LOCAL_LONG", "auto").local_long, LocalLong::automatic);
  EXPECT_EQ(read("FAB_LOCAL_LONG", "map").local_long, LocalLong::map);
  EXPECT_EQ(read("FAB_LOCAL_LONG", "read").local_long, LocalLong::read);
  EXPECT_EQ(read("FAB_LOCAL_LONG", "ring").local_long, LocalLong::ring);
  EXPECT_EQ(read("FAB_ONE_SIDED", "auto").one_sided, OneSidedMode::automatic);
  EXPECT_EQ(read("FAB_ONE_SIDED", "on").one_sided, OneSidedMode::on);
  EXPECT_EQ(read("FAB_ONE_SIDED", "off").one_sided, OneSidedMode::off);
  EXPECT_EQ(read("FAB_ALGO_NEIGHBOR", "auto").neighbor_paths, NeighborPaths::automatic);
  EXPECT_EQ(read("FAB_ALGO_NEIGHBOR", "direct").neighbor_paths, NeighborPaths::direct);
  EXPECT_EQ(read("FAB_ALGO_NEIGHBOR", "by_node").neighbor_paths, NeighborPaths::by_node);
  EXPECT_EQ(read("FAB_ALGO_DISCOVER", "auto").discover, DiscoverAlgorithm::automatic);
  EXPECT_EQ(read("FAB_ALGO_DISCOVER", "nbx").discover, DiscoverAlgorithm::nbx);
  EXPECT_EQ(read("FAB_ALGO_DISCOVER", "census").discover, DiscoverAlgorithm::census);
  EXPECT_EQ(read("FAB_ALGO_DISCOVER", "exchange").discover, DiscoverAlgorithm::exchange);
  EXPECT_EQ(read("FAB_REQUESTS", "fab").requests, Requests::fab);
  EXPECT_EQ(read("FAB_REQUESTS", "mpi").requests, Requests::mpi);
  EXPECT_EQ(read("FAB_PROGRESS", "thread").progress, ProgressMode::thread);
  EXPECT_EQ(read("FAB_PROGRESS", "caller").progress, ProgressMode::caller);
  EXPECT_EQ(read("FAB_ENGINES", "64").engines, 64);
  EXPECT_EQ(read("FAB_PROGRESS_CPU", "3").progress_cpu, 3);
  EXPECT_EQ(read("FAB_POLL_US", "0").poll_us, 0);
  EXPECT_EQ(read("FAB_LOG", "debug").log, LogLevel::debug);
  EXPECT_EQ(read("FAB_WAIT_TIMEOUT", "0.25").wait_timeout_s, 0.25);
  EXPECT_EQ(read("FAB_PEER_TIMEOUT", "2").peer_timeout_s, 2);
  EXPECT_EQ(read("FAB_PEER_TIMEOUT", "0").peer_timeout_s, 0);
  EXPECT_EQ(read("FAB_EXIT_TIMEOUT", "2.5").exit_timeout_s, 2.5);
  EXPECT_EQ(read("FAB_COMBINE_BYTES", "0").combine_bytes, 0u);
  EXPECT_EQ(read("FAB_COMBINE_BYTES", "64k").combine_bytes, std::size_t{64} << 10);
  EXPECT_EQ(read("FAB_COMBINE_BYTES", "2m").combine_bytes, std::size_t{2} << 20);
  EXPECT_EQ(read("FAB_SEGMENT_BYTES", "8k").segment_bytes, 8192u);
  EXPECT_EQ(read("FAB_ALGO_REDUCE", "chain").algorithms[static_cast<std::size_t>(Collective::reduce)], "chain");
  EXPECT_EQ(read("FAB_ALGO_REDUCE", "auto").algorithms[static_cast<std::size_t>(Collective::reduce)], "");
  EXPECT_EQ(read("FAB_RULES", "rules.json").rules, "rules.json");
  EXPECT_EQ(read("FAB_PLAN_CACHE", "0").plan_cache, 0u);
  EXPECT_EQ(read("FAB_SEQUENCE_START", "18446744073709551615").sequence_start, ~std::uint64_t{0});
  EXPECT_TRUE(read("FAB_LOCAL", "on").local);
  EXPECT_FALSE(read("FAB_LOCAL", "off").local);
  for (const char* on : {"1", "on"}) EXPECT_TRUE(read("FAB_CHECK", on).check) << on;
  for (const char* off : {"0", "off"}) EXPECT_FALSE(read("FAB_CHECK", off).check) << off;
}

TEST(Config, PrintedValuesAreReadBack) {
  const Environment chosen = environment_of({{"FAB_PROVIDER", "net"},
                                             {"FAB_PROGRESS", "thread"},
                                             {"FAB_PROGRESS_CPU", "1"},
                                             {"FAB_LOG", "info"},
                                             {"FAB_WAIT_TIMEOUT", "1.5"},
                                             {"FAB_COMBINE_BYTES", "1k"},
                                             {"FAB_CHECK", "on"}});
  const Config config = read_config(chosen);
  std::map<std::string, std::string> printed;
  for (const ConfigRow& row : config_rows()) printed[row.name] = row.print(config);
  const Config again = read_config(environment_of(printed));
  for (const ConfigRow& row : config_rows()) EXPECT_EQ(row.print(again), row.print(config)) << row.name;
  EXPECT_EQ(printed["FAB_COMBINE_BYTES"], "1024");
  EXPECT_EQ(printed["FAB_CHECK"], "1");
}

TEST(Config, ValuesThatNoClockAndNoSumHoldAreRefused) {
  EXPECT_EQ(read("FAB_WAIT_TIMEOUT", "1000000000").wait_timeout_s, 1e9);
  for (const char* seconds : {"1000000001", "9300000000", "1e300"})
    EXPECT_THAT(refusal_of("FAB_WAIT_TIMEOUT", seconds), HasSubstr("a number from 0 to 1000000000"));
  EXPECT_EQ(read("FAB_COMBINE_BYTES", "4611686018427387904").combine_bytes, std::size_t{1} << 62);
  for (const char* name : {"FAB_COMBINE_BYTES", "FAB_SEGMENT_BYTES"}) {
    EXPECT_NE(refusal_of(name, "4611686018427387905"), "");
    EXPECT_NE(refusal_of(name, "4398046511105m"), "");
  }
  EXPECT_NE(refusal_of("FAB_PLAN_CACHE", "1000000001"), "");
}

TEST(Config, RefusalsQuoteShortlyAndWithoutControlCharacters) {
  EXPECT_THAT(refusal_of("FAB_LOG", "a\x1b[2Jb\n"), HasSubstr("the value \"a\\x1b[2Jb\\n\" is not valid"));
  const std::string refusal = refusal_of("FAB_LOG", std::string(100'000, 'x'));
  EXPECT_THAT(refusal, HasSubstr("xxx...\" (100000 bytes)"));
  EXPECT_LT(refusal.size(), 500u);
}

TEST(Config, InvalidValuesAreRefused) {
  const std::multimap<std::string, std::string> invalid = {
      {"FAB_PROGRESS", "Thread"},
      {"FAB_PROGRESS", ""},
      {"FAB_ENGINES", "0"},
      {"FAB_ENGINES", "65"},
      {"FAB_PROGRESS_CPU", "-2"},
      {"FAB_PROGRESS_CPU", "1x"},
      {"FAB_PROGRESS_CPU", " 1"},
      {"FAB_PROGRESS_CPU", "99999999999"},
      {"FAB_POLL_US", "-1"},
      {"FAB_POLL_US", "1000001"},
      {"FAB_POLL_US", "1.5"},
      {"FAB_LOG", "loud"},
      {"FAB_WAIT_TIMEOUT", "-1"},
      {"FAB_WAIT_TIMEOUT", "nan"},
      {"FAB_PEER_TIMEOUT", "1"},
      {"FAB_PEER_TIMEOUT", "30001"},
      {"FAB_PEER_TIMEOUT", "2.5"},
      {"FAB_EXIT_TIMEOUT", "0.4"},
      {"FAB_EXIT_TIMEOUT", "inf"},
      {"FAB_WAIT_TIMEOUT", "inf"},
      {"FAB_WAIT_TIMEOUT", "5s"},
      {"FAB_COMBINE_BYTES", "k"},
      {"FAB_COMBINE_BYTES", "-1"},
      {"FAB_COMBINE_BYTES", "1kb"},
      {"FAB_COMBINE_BYTES", "1g"},
      {"FAB_COMBINE_BYTES", "1.5k"},
      {"FAB_PLAN_CACHE", ""},
      {"FAB_TCP_CONGESTION", ""},
      {"FAB_COMBINE_BYTES", "18446744073709551615k"},
      {"FAB_CHECK", "yes"},
      {"FAB_CHECK", "2"},
      {"FAB_SEGMENT_BYTES", "many"},
      {"FAB_ALGO_BCAST", ""},
      {"FAB_SEQUENCE_START", "-1"},
      {"FAB_SEQUENCE_START", "0x10"},
  };
  for (const auto& [name, value] : invalid) {
    const std::string message = refusal_of(name, value);
    EXPECT_THAT(message, HasSubstr(name));
    EXPECT_THAT(message, HasSubstr("\"" + value + "\""));
  }
}

TEST(Config, RefusalNamesWhatIsValid) {
  EXPECT_THAT(refusal_of("FAB_LOG", "loud"), HasSubstr("off, error, warn, info or debug"));
  EXPECT_THAT(refusal_of("FAB_COMBINE_BYTES", "1g"), HasSubstr("suffixes k and m"));
}

TEST(Config, NearestVariable) {
  EXPECT_EQ(nearest_variable("FAB_PROVIDR"), "FAB_PROVIDER");
  EXPECT_EQ(nearest_variable("FAB_LOGS"), "FAB_LOG");
  EXPECT_EQ(nearest_variable("FAB_LGO"), "FAB_LOG");
  EXPECT_EQ(nearest_variable("FAB_TIMEOUT"), "FAB_WAIT_TIMEOUT");
  EXPECT_EQ(nearest_variable("FAB_INTERFACE"), "FAB_IFACE");
  EXPECT_EQ(nearest_variable("FAB_XYZ"), "");
  EXPECT_EQ(nearest_variable(""), "");
}

/// A variable of this process for as long as the object lives.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~ScopedVariable() { unsetenv(name_); }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  const char* name_;
};

std::string stderr_of_read_config() {
  testing::internal::CaptureStderr();
  static_cast<void>(read_config());
  return testing::internal::GetCapturedStderr();
}

TEST(Config, UnknownVariablesWarnOnceEach) {
  const ScopedVariable log("FAB_LOG", "warn");
  const ScopedVariable misspelt("FAB_CHEK", "1");
  const ScopedVariable strange("FAB_QQQQQQQQ", "1");
  const std::string text = stderr_of_read_config();
  EXPECT_THAT(text,
              HasSubstr("fab[-] warn: environment variable FAB_CHEK is not one of fab's; did you mean FAB_CHECK?\n"));
  EXPECT_THAT(text, HasSubstr("fab[-] warn: environment variable FAB_QQQQQQQQ is not one of fab's\n"));
  EXPECT_EQ(text.find("FAB_CHEK"), text.rfind("FAB_CHEK"));
}

TEST(Config, UnknownVariablesAreSilentWhenWarningsAreOff) {
  const ScopedVariable log("FAB_LOG", "error");
  const ScopedVariable misspelt("FAB_CHEK", "1");
  EXPECT_EQ(stderr_of_read_config(), "");
}

TEST(Log, OneLineAMessage) {
  testing::internal::CaptureStderr();
  const Log log(LogLevel::info, 3);
  log.write(LogLevel::info, "chose {}\nover {}", "net", "shm");
  log.write(LogLevel::debug, "not shown");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "fab[3] info: chose net over shm\n");
}

}  // namespace
}  // namespace fab
