#include "support/rank_main.h"

#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace fab::test {
namespace {

class FailurePrinter : public testing::EmptyTestEventListener {
 public:
  explicit FailurePrinter(int rank) : rank_(rank) {}

  // GoogleTest holds its lock during OnTestPartResult: the test cannot be asked for there.
  void OnTestStart(const testing::TestInfo& test) override {
    test_ = std::string(test.test_suite_name()) + '.' + test.name();
  }
  void OnTestEnd(const testing::TestInfo&) override { test_ = kOutside; }

  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    const char* file = result.file_name() == nullptr ? "unknown file" : result.file_name();
    std::fprintf(stderr, "[rank %d] %s: %s:%d: %s\n", rank_, test_.c_str(), file, result.line_number(),
                 result.message());
  }

 private:
  static constexpr const char* kOutside = "outside a test";

  int rank_;
  std::string test_ = kOutside;
};

int expected_ranks(int argc, char** argv) {
  constexpr std::string_view kOption = "--expect-ranks=";
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with(kOption)) return std::atoi(argument.substr(kOption.size()).data());
  }
  return 0;
}

}  // namespace

int run_tests(int argc, char** argv, int rank, int size) {
  testing::InitGoogleMock(&argc, argv);
  if (const int expected = expected_ranks(argc, argv); expected != 0 && expected != size) {
    std::fprintf(stderr, "[rank %d] the job has %d ranks instead of %d\n", rank, size, expected);
    return EXIT_FAILURE;
  }
  testing::UnitTest& tests = *testing::UnitTest::GetInstance();
  if (rank != 0) {
    testing::TestEventListeners& listeners = tests.listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailurePrinter(rank));
  }
  const int status = RUN_ALL_TESTS();
  if (tests.test_to_run_count() == 0) {
    std::fprintf(stderr, "[rank %d] no test matches\n", rank);
    return EXIT_FAILURE;
  }
  return status;
}

}  // namespace fab::test
