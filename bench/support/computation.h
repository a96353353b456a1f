// Work for the processor that takes a wanted time: what a program does while its messages travel.
#pragma once

#include <vector>

namespace bench {

/// Multiplies a small matrix with a vector, again and again, in cache.
class Computation {
 public:
  /// Measures its own speed, for some milliseconds.
  Computation();

  /// How many rounds take that long when no other process disturbs; at least one.
  [[nodiscard]] long rounds_for(double microseconds) const;
  /// A fixed amount of work: a process that takes the processor meanwhile makes it last longer.
  void run(long rounds);
  /// Work until the clock says so, as much as that may be: the OSU benchmarks' computation.
  void run_for(double microseconds);

 private:
  void round();

  std::vector<float> matrix_;
  std::vector<float> x_;
  std::vector<float> y_;
  double us_per_round_ = 0;
};

}  // namespace bench
