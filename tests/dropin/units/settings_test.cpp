#include "bindings/dropin/settings.h"

#include <gmock/gmock.h>

#include <string>

#include "fab/error.h"

namespace fab::dropin {
namespace {

std::string error_of(std::string_view text) {
  try {
    static_cast<void>(parse_settings(text, false));
    return "none";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(DropinSettings, Words) {
  EXPECT_EQ(parse_settings("auto", false).mode, Mode::automatic);
  EXPECT_EQ(parse_settings("all", false).mode, Mode::all);
  EXPECT_EQ(parse_settings("off", false).mode, Mode::off);
  EXPECT_TRUE(parse_settings("all", false).wants(Function::bcast));
  EXPECT_FALSE(parse_settings("off", false).wants(Function::bcast));
  EXPECT_TRUE(parse_settings("auto", true).stats);
}

TEST(DropinSettings, ListsOfFunctions) {
  const Settings settings = parse_settings("allreduce,neighbor_alltoallv", false);
  EXPECT_EQ(settings.mode, Mode::listed);
  EXPECT_TRUE(settings.wants(Function::allreduce));
  EXPECT_TRUE(settings.wants(Function::neighbor_alltoallv));
  EXPECT_FALSE(settings.wants(Function::neighbor_alltoall));
}

TEST(DropinSettings, RefusesOtherNamesAndListsTheFunctions) {
  for (const char* text : {"allreduce,", ",", "MPI_Bcast", "bcast;reduce"})
    EXPECT_THAT(error_of(text), testing::AllOf(testing::HasSubstr("is no function that fab carries"),
                                               testing::HasSubstr("barrier,bcast,gather")));
}

}  // namespace
}  // namespace fab::dropin
