// Providers that promise more than they keep are no choice.
#include "providers/ofi/survey.h"

#include <gmock/gmock.h>

#include "providers/ofi/features.h"

namespace fab::ofi {
namespace {

TEST(Survey, RefusesWhatPromisesTooMuch) {
  for (const char* kept : {"net", "tcp", "tcp;ofi_rxm", "verbs;ofi_rxm", "shm", "sm2", "sockets"})
    EXPECT_EQ(fault_of(kept), "");
  const Config config;
  const JobInfo job;
  const Survey survey(config, job);
  ASSERT_FALSE(survey.candidates().empty());
  EXPECT_TRUE(survey.best().usable);
  for (const Candidate& candidate : survey.candidates())
    if (const auto fault = fault_of(candidate.provider); !fault.empty()) {
      EXPECT_FALSE(candidate.usable) << candidate.provider;
      EXPECT_EQ(candidate.reason, fault);
    }
}

}  // namespace
}  // namespace fab::ofi
