// Halo exchanges of all kinds.
#pragma once

#include <cstddef>
#include <vector>

#include "native/support/halo_model.h"

namespace fab::test {

/// The ranks as a grid of d dimensions: prime factors, the largest first, to dimension first, first + 1, ...
[[nodiscard]] std::vector<int> grid_of(int ranks, std::size_t dimensions, std::size_t first = 0);

[[nodiscard]] std::vector<HaloCase> halo_cases(int ranks);

}  // namespace fab::test
