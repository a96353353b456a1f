// How a process may come to its end. Usage: fab_native_closing twice | one_does_not | static | global
// Exit status 0 when closing took as long as it may; what it logs the caller looks at.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "fab/fab.h"
#include "support/time_limit.h"

namespace {

/// fab waits for others for ten seconds.
const double kAtOnceS = fab::test::time_limit_s(5);

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

fab::Context meet() {
  fab::Context context = fab::Context::open();
  fab::barrier(context.world());
  return context;
}

int at_once(double start_s) {
  const double taken_s = now_s() - start_s;
  if (taken_s < kAtOnceS) return 0;
  std::fprintf(stderr, "closing took %.1f s\n", taken_s);
  return 1;
}

int close_twice() {
  double start_s = 0;
  {
    fab::Context context = meet();
    start_s = now_s();
    context.close();
    context.close();
  }
  return at_once(start_s);
}

/// Rank 1 leaves by an exception, the others close.
int one_does_not() {
  double start_s = 0;
  try {
    fab::Context context = meet();
    start_s = now_s();
    if (context.rank() == 1) throw std::runtime_error("none of fab's business");
    context.close();
  } catch (const std::runtime_error&) {
  }
  return at_once(start_s);
}

std::optional<fab::Context> global;

int close_at_exit() {
  static fab::Context context = meet();
  return 0;
}

int close_global_at_exit() {
  global.emplace(meet());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[argc - 1] : "";  // after the options of other tests
  if (std::strcmp(way, "twice") == 0) return close_twice();
  if (std::strcmp(way, "one_does_not") == 0) return one_does_not();
  if (std::strcmp(way, "static") == 0) return close_at_exit();
  if (std::strcmp(way, "global") == 0) return close_global_at_exit();
  std::fprintf(stderr, "usage: %s twice | one_does_not | static | global\n", argv[0]);
  return 2;
}
