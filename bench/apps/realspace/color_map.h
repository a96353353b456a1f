#ifndef BENCH_APPS_REALSPACE_COLOR_MAP_H
#define BENCH_APPS_REALSPACE_COLOR_MAP_H

#include "realspace/canvas.h"

namespace realspace {

// The colour of `value` in 0 .. 1 (beyond: the end's colour), from near black over violet and red to pale yellow.
Color color_map(double value);

}  // namespace realspace

#endif
