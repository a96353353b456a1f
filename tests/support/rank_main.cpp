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

  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    const testing::TestInfo* test = testing::UnitTest::GetInstance()->current_test_info();
    const std::string name = test ? std::string(test->test_suite_name()) + '.' + test->name() : "outside a test";
    std::fprintf(stderr, "[rank %d] %s: %s:%d: %s\n", rank_, name.c_str(),
                 result.file_name() ? result.file_name() : "unknown file", result.line_number(), result.message());
  }

 private:
  int rank_;
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
