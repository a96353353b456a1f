#include "realspace/filtered_subspace.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "realspace/block.h"

namespace realspace {
namespace {

class FilteredSubspace {
 public:
  FilteredSubspace(const Distribution& distribution, int filter_degree, int states, std::vector<double> start)
      : distribution_(distribution),
        degree_(filter_degree),
        states_(static_cast<std::size_t>(states)),
        points_(distribution.owned_count),
        width_(distribution.width),
        x_(std::move(start)),
        y_(distribution.slot_count * width_),
        image_(points_ * width_),
        sums_(2 * width_ * width_) {
    distribution.attach(x_.data());
    distribution.attach(y_.data());
  }

  Solution solve(const SolverLimits& limits, const Progress& progress) {
    const auto begin = std::chrono::steady_clock::now();
    take_best_states();
    int iterations = 0;
    double residual = 0;
    for (;; ++iterations) {
      begin_filter();
      residual = largest_residual();
      progress({iterations, total_energy(), residual, x_});
      if (residual <= limits.tolerance || iterations == limits.max_iterations) break;
      end_filter();
      take_best_states();
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    energies_.resize(states_);
    const bool converged = limits.tolerance == 0 || residual <= limits.tolerance;
    return {std::move(x_), std::move(energies_), residual, iterations, converged, took.count()};
  }

 private:
  double total_energy() const {
    return std::accumulate(energies_.begin(), energies_.begin() + static_cast<std::ptrdiff_t>(states_), 0.0);
  }

  // x becomes the orthonormal states in its span.
  void take_best_states() {
    distribution_.apply({}, x_.data(), image_.data());
    const std::span<double> inner(sums_.data(), width_ * width_);
    const std::span<double> with_h(sums_.data() + inner.size(), inner.size());
    upper_products(points_, width_, x_.data(), x_.data(), inner);
    upper_products(points_, width_, x_.data(), image_.data(), with_h);
    distribution_.sum_over_ranks(sums_);
    std::optional<EigenSystem> pairs = ritz_pairs(symmetric(width_, with_h), symmetric(width_, inner));
    if (!pairs) throw std::runtime_error("the vectors of the subspace have become linearly dependent");
    energies_ = std::move(pairs->values);
    combine_rows(points_, pairs->vectors, x_.data());
  }

  // The polynomial's interval of small values, and its first step: y = sigma / e (H - center) x, where it is 1 at the
  // lowest energy.
  void begin_filter() {
    center_ = (distribution_.highest_hartree + energies_.back()) / 2;
    half_width_ = (distribution_.highest_hartree - energies_.back()) / 2;
    sigma_ = half_width_ / (energies_.front() - center_);
    distribution_.apply({sigma_ / half_width_, center_, 0}, x_.data(), y_.data());
  }

  // By the recurrence p_(i+1) = 2 sigma_(i+1) / e (H - center) p_i - sigma_i sigma_(i+1) p_(i-1), scaled as p_1 is.
  void end_filter() {
    const double first_sigma = sigma_;
    for (int i = 2; i <= degree_; ++i) {
      const double next_sigma = 1 / (2 / first_sigma - sigma_);
      distribution_.apply({2 * next_sigma / half_width_, center_, -sigma_ * next_sigma}, y_.data(), x_.data());
      std::swap(x_, y_);
      sigma_ = next_sigma;
    }
    std::swap(x_, y_);
  }

  // Of the states asked for, from the filter's first step.
  double largest_residual() {
    const std::span<double> squared(sums_.data(), width_);
    std::fill(squared.begin(), squared.end(), 0.0);
    for (std::size_t p = 0; p < points_; ++p) {
      for (std::size_t k = 0; k < width_; ++k) {
        const std::size_t i = p * width_ + k;
        const double residual = y_[i] * half_width_ / sigma_ + (center_ - energies_[k]) * x_[i];
        squared[k] += residual * residual;
      }
    }
    distribution_.sum_over_ranks(squared);
    return std::sqrt(*std::max_element(squared.begin(), squared.begin() + static_cast<std::ptrdiff_t>(states_)));
  }

  const Distribution& distribution_;
  const int degree_;
  const std::size_t states_;
  const std::size_t points_;
  const std::size_t width_;
  std::vector<double> x_;
  std::vector<double> y_;
  std::vector<double> image_;  // H x
  std::vector<double> sums_;
  std::vector<double> energies_;
  double center_ = 0;
  double half_width_ = 0;
  double sigma_ = 0;
};

}  // namespace

std::size_t block_width(int states) {
  const auto wanted = static_cast<std::size_t>(states);
  const std::size_t least = wanted + std::max<std::size_t>(2, wanted / 8);
  return (least + kBlockStep - 1) / kBlockStep * kBlockStep;
}

Solution lowest_states(const Distribution& distribution, const SolverLimits& limits, int filter_degree, int states,
                       std::vector<double> start, const Progress& progress) {
  return FilteredSubspace(distribution, filter_degree, states, std::move(start)).solve(limits, progress);
}

}  // namespace realspace
