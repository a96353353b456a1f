#include "bindings/mpi/lifecycle/whereabouts.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace fab::mpi {
namespace {

using Variables = std::map<std::string, std::string>;

Environment of(const Variables& variables) {
  return [variables](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

/// By each launcher.
std::vector<Variables> on_one_node(const std::string& ranks) {
  return {{{"OMPI_COMM_WORLD_SIZE", ranks}, {"OMPI_COMM_WORLD_LOCAL_SIZE", ranks}},
          {{"PMI_SIZE", ranks}, {"MPI_LOCALNRANKS", ranks}},
          {{"SLURM_STEP_NUM_TASKS", ranks}, {"SLURM_STEP_NUM_NODES", "1"}}};
}

std::vector<Variables> four_on_two_nodes() {
  return {{{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}},
          {{"PMI_SIZE", "4"}, {"MPI_LOCALNRANKS", "2"}},
          {{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_STEP_NUM_NODES", "2"}}};
}

/// They leave something out.
std::vector<Variables> that_say_little() {
  return {{}, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}}, {{"PMI_SIZE", "4"}}, {{"SLURM_STEP_NUM_TASKS", "4"}}};
}

TEST(Whereabouts, OneNodeWhereTheLauncherSaysSo) {
  for (const Variables& each : on_one_node("4")) EXPECT_EQ(share_memory(true, of(each)), true);
}

TEST(Whereabouts, UnknownOnSeveralNodesAndUnderOtherLaunchers) {
  for (const Variables& each : four_on_two_nodes()) EXPECT_EQ(share_memory(true, of(each)), std::nullopt);
  for (const Variables& each : that_say_little()) EXPECT_EQ(share_memory(true, of(each)), std::nullopt);
}

TEST(Whereabouts, NoNodeWithoutSharedMemory) {
  for (const Variables& each : on_one_node("4")) EXPECT_EQ(share_memory(false, of(each)), false);
}

TEST(Whereabouts, OfTheLauncherThatStartedTheRanksInAJobStep) {
  Variables variables = on_one_node("4").front();
  variables.merge(Variables{{"SLURM_STEP_NUM_TASKS", "2"}, {"SLURM_STEP_NUM_NODES", "2"}});
  EXPECT_EQ(share_memory(true, of(variables)), true);
}

TEST(Whereabouts, ANetworkIsNeededBetweenNodesAndWhereSharedMemoryIsOff) {
  for (const Variables& each : on_one_node("4")) {
    EXPECT_FALSE(need_network(true, of(each)));
    EXPECT_TRUE(need_network(false, of(each)));
  }
  for (const Variables& each : four_on_two_nodes()) EXPECT_TRUE(need_network(true, of(each)));
}

TEST(Whereabouts, NoNetworkIsNeededForOneRankOrWhereTheLauncherSaysLittle) {
  for (const Variables& each : on_one_node("1")) EXPECT_FALSE(need_network(false, of(each)));
  for (const Variables& each : that_say_little()) EXPECT_FALSE(need_network(false, of(each)));
}

}  // namespace
}  // namespace fab::mpi
