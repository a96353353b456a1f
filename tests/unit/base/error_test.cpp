#include "fab/error.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace fab {
namespace {

TEST(ErrorTest, CategoryIsFabAndUnique) {
  EXPECT_STREQ(error_category().name(), "fab");
  EXPECT_EQ(&error_category(), &make_error_code(Errc::timed_out).category());
}

TEST(ErrorTest, EveryCodeHasItsOwnText) {
  std::set<std::string> texts{error_category().message(0)};
  for (int value = 1; value <= static_cast<int>(Errc::no_resources); ++value) {
    EXPECT_TRUE(texts.insert(error_category().message(value)).second) << value;
  }
  EXPECT_EQ(error_category().message(9999), error_category().message(0));
}

TEST(ErrorTest, WhatBeginsWithTheMessage) {
  const Error error(Errc::invalid_rank, "call: rank is 7");
  EXPECT_EQ(std::string(error.what()).rfind("call: rank is 7", 0), 0U) << error.what();
  EXPECT_EQ(error.errc(), Errc::invalid_rank);
}

TEST(ErrorTest, CodesCompareWithErrorCodes) {
  const std::error_code code = Errc::truncated;
  EXPECT_TRUE(code == Errc::truncated);
  EXPECT_FALSE(code == Errc::mismatch);
}

TEST(StatusTest, DefaultIsSuccess) {
  EXPECT_TRUE(Status{}.ok());
  const Status failed{.code = Errc::cancelled, .message = "closed"};
  EXPECT_FALSE(failed.ok());
  EXPECT_EQ(failed.errc(), Errc::cancelled);
}

}  // namespace
}  // namespace fab
