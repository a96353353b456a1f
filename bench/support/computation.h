// Work for the processor that takes a wanted time: what a program does while its messages travel.
#pragma once

#include <vector>

namespace bench {

/// Multiplies a small matrix with a vector, again and again, in cache. A fixed amount of work, not a fixed time:
/// whoever takes the processor away meanwhile makes it last longer.
class Computation {
 public:
  /// Measures its own speed, for some milliseconds.
  Computation();

  /// How many rounds take that long when nobody disturbs; at least one.
  [[nodiscard]] long rounds_for(double microseconds) const;
  void run(long rounds);

 private:
  void round();

  std::vector<float> matrix_;
  std::vector<float> x_;
  std::vector<float> y_;
  double us_per_round_ = 0;
};

}  // namespace bench
