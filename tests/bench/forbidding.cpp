// forbidding PROGRAM [ARGUMENTS...]: runs the program where the kernel forbids copies between processes.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "unit/support/forbidden_calls.h"

int main(int argc, char** argv) {
  if (argc < 2) return EXIT_FAILURE;
  if (!fab::test::forbid(SYS_process_vm_readv) || !fab::test::forbid(SYS_process_vm_writev)) {
    std::fputs("system calls cannot be forbidden here\n", stderr);
    return EXIT_FAILURE;
  }
  ::execvp(argv[1], argv + 1);
  std::perror(argv[1]);
  return EXIT_FAILURE;
}
