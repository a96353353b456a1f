#include "support/launched.h"

#include <cstdlib>
#include <string>

namespace fab::test {

namespace {

int number(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? -1 : std::atoi(value);
}

int first_of(const char* by_open_mpi, const char* by_slurm) {
  const int value = number(by_open_mpi);
  return value >= 0 ? value : number(by_slurm);
}

/// Of Slurm's list, such as 3(x2),1: on two nodes three, on the next one.
int ranks_on(int node, const char* list) {
  int nodes = 0;
  while (list != nullptr && *list != '\0') {
    char* end = nullptr;
    const auto ranks = static_cast<int>(std::strtol(list, &end, 10));
    if (end == list) break;
    long times = 1;
    if (std::string(end).starts_with("(x")) times = std::strtol(end + 2, &end, 10);
    nodes += static_cast<int>(times);
    if (node < nodes) return ranks;
    while (*end == ')' || *end == ',') ++end;
    list = end;
  }
  return -1;
}

}  // namespace

int launched_rank() { return first_of("OMPI_COMM_WORLD_RANK", "SLURM_PROCID"); }

int launched_ranks() { return first_of("OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"); }

int launched_ranks_here() {
  const int ranks = number("OMPI_COMM_WORLD_LOCAL_SIZE");
  return ranks >= 0 ? ranks : ranks_on(number("SLURM_NODEID"), std::getenv("SLURM_STEP_TASKS_PER_NODE"));
}

}  // namespace fab::test
