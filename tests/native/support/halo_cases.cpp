#include "native/support/halo_cases.h"

namespace fab::test {

std::vector<int> grid_of(int ranks, std::size_t dimensions, std::size_t first) {
  std::vector<int> factors;
  for (int factor = 2, rest = ranks; rest > 1; ++factor)
    for (; rest % factor == 0; rest /= factor) factors.insert(factors.begin(), factor);
  std::vector<int> grid(dimensions, 1);
  for (std::size_t i = 0; i < factors.size(); ++i) grid[(first + i) % dimensions] *= factors[i];
  return grid;
}

std::vector<HaloCase> halo_cases(int ranks) {
  const auto grid = [ranks](std::size_t dimensions, std::size_t first = 0) {
    return grid_of(ranks, dimensions, first);
  };
  return {
      {.name = "1-D", .grid = grid(1), .periodic = {true}, .interior = {5}, .width = {1}},
      {.name = "1-D, wide", .grid = grid(1), .periodic = {true}, .interior = {3}, .width = {3}, .words = 2},
      {.name = "1-D, ends", .grid = grid(1), .periodic = {false}, .interior = {4}, .width = {2}, .uneven = true},
      {.name = "2-D faces", .grid = grid(2), .periodic = {true, true}, .interior = {4, 6}, .width = {1, 2}},
      {.name = "2-D corners",
       .grid = grid(2, 1),
       .periodic = {true, false},
       .interior = {4, 3},
       .width = {2, 3},
       .corners = true,
       .uneven = true},
      {.name = "2-D, one way",
       .grid = grid(2),
       .periodic = {true, true},
       .interior = {3, 3},
       .width = {0, 2},
       .corners = true},
      {.name = "2-D, none",
       .grid = grid(2),
       .periodic = {true, true},
       .interior = {3, 3},
       .width = {0, 0},
       .corners = true},
      {.name = "3-D faces",
       .grid = grid(3, 1),
       .periodic = {true, false, true},
       .interior = {4, 5, 3},
       .width = {1, 2, 3},
       .words = 3,
       .uneven = true},
      {.name = "3-D corners",
       .grid = grid(3),
       .periodic = {true, true, true},
       .interior = {5, 4, 3},
       .width = {3, 2, 1},
       .corners = true,
       .uneven = true},
      {.name = "3-D, long faces",
       .grid = grid(3),
       .periodic = {true, true, false},
       .interior = {20, 30, 40},
       .width = {2, 2, 2},
       .words = 4,
       .corners = true},
      {.name = "4-D faces",
       .grid = grid(4, 2),
       .periodic = {false, true, true, false},
       .interior = {2, 3, 3, 2},
       .width = {1, 1, 2, 1}},
      {.name = "4-D corners",
       .grid = grid(4),
       .periodic = {true, true, false, true},
       .interior = {2, 2, 3, 2},
       .width = {1, 2, 1, 0},
       .corners = true,
       .uneven = true},
  };
}

}  // namespace fab::test
