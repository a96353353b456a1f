// Usage: native SIZE. Succeeds when fab says that the job has SIZE ranks.
#include <fab/fab.h>

#include <cstdlib>
#include <iostream>

int main(int argc, char** argv) {
  const auto context = fab::Context::open();
  std::cout << "rank " << context.rank() << " of " << context.size() << '\n';
  const bool expected = argc == 2 && context.size() == std::atoi(argv[1]) && context.rank() < context.size();
  return expected ? EXIT_SUCCESS : EXIT_FAILURE;
}
