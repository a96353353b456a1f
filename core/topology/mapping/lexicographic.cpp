// Row-major and column-major order.
#include <numeric>
#include <utility>

#include "fab/mapping.h"

namespace fab {

Mapping Mapping::row_major(const Cartesian& grid) {
  std::vector<Rank> ranks(static_cast<std::size_t>(grid.size()));
  std::iota(ranks.begin(), ranks.end(), 0);
  return Mapping(std::move(ranks));
}

Mapping Mapping::column_major(const Cartesian& grid) {
  std::vector<Rank> ranks(static_cast<std::size_t>(grid.size()));
  for (int place = 0; place < grid.size(); ++place) {
    Rank rank = 0;
    int rest = place;
    int stride = grid.size();
    for (std::size_t d = grid.dims().size(); d-- > 0; rest /= grid.dims()[d]) {
      stride /= grid.dims()[d];
      rank += rest % grid.dims()[d] * stride;
    }
    ranks[static_cast<std::size_t>(place)] = rank;
  }
  return Mapping(std::move(ranks));
}

}  // namespace fab
