// main() of a benchmark that Google Benchmark runs.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdlib>

#include "bindings/tools/output.h"

namespace fab::bench {

/// Runs what is registered, by Google Benchmark's options. Returns the exit status.
inline int run_google_benchmarks(int argc, char** argv) {
  tools::check_output_at_exit();
  ::benchmark::Initialize(&argc, argv);
  if (::benchmark::ReportUnrecognizedArguments(argc, argv)) return EXIT_FAILURE;
  ::benchmark::RunSpecifiedBenchmarks();
  ::benchmark::Shutdown();
  return EXIT_SUCCESS;
}

}  // namespace fab::bench
