#include "collectives/building_blocks/halving.h"

namespace fab::collectives {

std::vector<HalvingStep> halving_steps(int number, int size, HalvingOrder order) {
  std::vector<HalvingStep> steps;
  int first = 0;
  int count = size;
  for (int step = 1; step < size; step *= 2) {
    const int bit = order == HalvingOrder::near_first ? step : size / 2 / step;
    count /= 2;
    const int upper = first + count;
    const bool keeps_lower = (number & bit) == 0;
    steps.push_back({.partner = number ^ bit,
                     .first = keeps_lower ? first : upper,
                     .given = keeps_lower ? upper : first,
                     .count = count});
    first = steps.back().first;
  }
  return steps;
}

}  // namespace fab::collectives
