// main() of the tests whose process knows no MPI: the launcher combines the ranks' exit statuses.
#include <cstdlib>

#include "support/rank_main.h"

namespace {

// Read from the launcher rather than from fab, which is what is being tested.
int variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? -1 : std::atoi(value);
}

}  // namespace

int main(int argc, char** argv) {
  return fab::test::run_tests(argc, argv, variable("OMPI_COMM_WORLD_RANK"), variable("OMPI_COMM_WORLD_SIZE"));
}
