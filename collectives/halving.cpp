#include "collectives/halving.h"

namespace fab::collectives {

std::vector<HalvingStep> halving_steps(int number, int size) {
  std::vector<HalvingStep> steps;
  int first = 0;
  int count = size;
  for (int bit = 1; bit < size; bit *= 2) {
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
