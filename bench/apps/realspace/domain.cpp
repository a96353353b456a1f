#include "realspace/domain.h"

#include <algorithm>
#include <map>
#include <utility>

namespace realspace {
namespace {

using Points = std::vector<std::int32_t>;

void sort_unique(Points& points) {
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
}

// What a domain's points have to do with each foreign rank; both lists ascend, so both sides agree on the order.
struct Trade {
  Points ghosts;
  Points sent;
};

class DomainBuilder {
 public:
  DomainBuilder(const Grid& grid, const std::vector<int>& part_of_point, int rank)
      : grid_(grid), part_of_point_(part_of_point), rank_(rank), slot_of_point_(grid.size(), -1) {}

  Domain build(const std::vector<int>& neighbor_ranks) {
    sort_points();
    number_owned();
    for (int neighbor : neighbor_ranks) add_neighbor(neighbor);
    fill_stencil();
    return std::move(domain_);
  }

 private:
  int part(std::int32_t point) const { return part_of_point_[static_cast<std::size_t>(point)]; }
  std::int32_t& slot(std::int32_t point) { return slot_of_point_[static_cast<std::size_t>(point)]; }

  void sort_points() {
    for (std::int32_t point = 0; point < static_cast<std::int32_t>(grid_.size()); ++point) {
      if (part(point) == rank_) sort_point(point);
    }
    domain_.inner_count = domain_.owned.size();
    domain_.owned.insert(domain_.owned.end(), boundary_.begin(), boundary_.end());
  }

  void sort_point(std::int32_t point) {
    bool is_inner = true;
    for_each_stencil_neighbor(grid_, point, [&](std::int32_t other) {
      if (other == Grid::kNoPoint || part(other) == rank_) return;
      is_inner = false;
      trades_[part(other)].ghosts.push_back(other);
      trades_[part(other)].sent.push_back(point);
    });
    (is_inner ? domain_.owned : boundary_).push_back(point);
  }

  void number_owned() {
    for (std::size_t i = 0; i < domain_.owned.size(); ++i) slot(domain_.owned[i]) = static_cast<std::int32_t>(i);
  }

  void add_neighbor(int neighbor_rank) {
    Trade& trade = trades_.at(neighbor_rank);
    sort_unique(trade.ghosts);
    sort_unique(trade.sent);
    Domain::Neighbor neighbor{neighbor_rank, {}, static_cast<int>(trade.ghosts.size())};
    for (std::int32_t point : trade.sent) neighbor.send_slots.push_back(slot(point));
    for (std::int32_t point : trade.ghosts) {
      slot(point) = static_cast<std::int32_t>(domain_.owned_count() + domain_.ghost_count);
      ++domain_.ghost_count;
    }
    domain_.neighbors.push_back(std::move(neighbor));
  }

  void fill_stencil() {
    domain_.stencil.resize(domain_.owned.size());
    for (std::size_t i = 0; i < domain_.owned.size(); ++i) {
      auto entry = domain_.stencil[i].begin();
      for_each_stencil_neighbor(grid_, domain_.owned[i], [&](std::int32_t other) {
        *entry++ = other == Grid::kNoPoint ? static_cast<std::int32_t>(domain_.zero_slot()) : slot(other);
      });
    }
  }

  const Grid& grid_;
  const std::vector<int>& part_of_point_;
  int rank_;
  Points slot_of_point_;
  Points boundary_;
  std::map<int, Trade> trades_;
  Domain domain_;
};

}  // namespace

Domain make_domain(const Grid& grid, const std::vector<int>& part_of_point, int rank,
                   const std::vector<int>& neighbor_ranks) {
  return DomainBuilder(grid, part_of_point, rank).build(neighbor_ranks);
}

}  // namespace realspace
