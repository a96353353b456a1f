// What programs of one thread find wrong: said at once, and counted for the exit status.
#pragma once

#include <cstdio>

inline int failures = 0;

inline void expect(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  ++failures;
}
