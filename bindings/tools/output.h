// Checks the output of a command-line tool: if it could not be written, the exit status says so.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace fab::tools {

/// The first thing in main(): a standard output that cannot be written (a full disk, a closed descriptor) ends the
/// process with a message and exit status 1 instead of its own.
inline void check_output_at_exit() {
  std::atexit([] {
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
    std::perror("standard output cannot be written");
    ::_exit(EXIT_FAILURE);
  });
}

}  // namespace fab::tools
