#include "providers/sim/simulation.h"

#include "fab/error.h"

namespace fab::sim {

void refuse_time() {
  throw Error(Errc::invalid_argument, "sim::predict: takes longer than 53 days, which is more than can be counted");
}

}  // namespace fab::sim
