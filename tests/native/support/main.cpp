// main() of the tests whose process knows no MPI: the launcher combines the ranks' exit statuses.
#include "support/launched.h"
#include "support/rank_main.h"

// Asks the launcher rather than fab, which is what is being tested.
int main(int argc, char** argv) {
  return fab::test::run_tests(argc, argv, fab::test::launched_rank(), fab::test::launched_ranks());
}
