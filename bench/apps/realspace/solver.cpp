#include "realspace/solver.h"

#include <array>
#include <chrono>
#include <cmath>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "realspace/symmetric_matrix.h"

namespace realspace {
namespace {

class ConjugateGradients {
 public:
  ConjugateGradients(const Distribution& distribution, std::vector<double> start)
      : distribution_(distribution),
        count_(distribution.owned_count),
        x_{std::move(start), std::vector<double>(count_)},
        w_{std::vector<double>(distribution.slot_count), std::vector<double>(count_)},
        p_{std::vector<double>(count_), std::vector<double>(count_)} {
    distribution.attach(x_.v.data());
    distribution.attach(w_.v.data());
  }

  Solution solve(const SolverLimits& limits, const Progress& progress) {
    const auto begin = std::chrono::steady_clock::now();
    auto [energy, residual] = evaluate();
    int iterations = 0;
    while (iterations < limits.max_iterations) {
      set_residual(energy);
      apply(w_);
      const Gram gram = gram_matrices();
      residual = std::sqrt(gram.s(1, 1));
      progress({iterations, energy, residual, x_.v});
      if (residual <= limits.tolerance) break;
      ++iterations;
      if (!step(gram, energy)) break;
    }
    // The images H x were updated along with the vectors; the result comes from the operator itself.
    std::tie(energy, residual) = evaluate();
    const bool converged = limits.tolerance == 0 || residual <= 2 * limits.tolerance;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    return {std::move(x_.v), {energy}, residual, iterations, converged, took.count()};
  }

 private:
  struct VectorPair {
    std::vector<double> v;
    std::vector<double> hv;  // H v
  };

  struct Gram {
    Matrix s;  // inner products of x, w, p
    Matrix a;  // the same with H between
  };

  void apply(VectorPair& pair) { distribution_.apply({}, pair.v.data(), pair.hv.data()); }

  // Scales x to length 1; returns its energy and residual, by an application of H.
  std::pair<double, double> evaluate() {
    std::array<double, 1> norm_squared = {product(x_.v, x_.v)};
    distribution_.sum_over_ranks(norm_squared);
    for (double& value : x_.v) value /= std::sqrt(norm_squared[0]);
    apply(x_);
    std::array<double, 1> energy = {product(x_.v, x_.hv)};
    distribution_.sum_over_ranks(energy);
    set_residual(energy[0]);
    std::array<double, 1> residual_squared = {product(w_.v, w_.v)};
    distribution_.sum_over_ranks(residual_squared);
    return {energy[0], std::sqrt(residual_squared[0])};
  }

  double product(const std::vector<double>& a, const std::vector<double>& b) const {
    double sum = 0;
    for (std::size_t i = 0; i < count_; ++i) sum += a[i] * b[i];
    return sum;
  }

  void set_residual(double energy) {
    for (std::size_t i = 0; i < count_; ++i) w_.v[i] = x_.hv[i] - energy * x_.v[i];
  }

  Gram gram_matrices() const {
    std::array<double, 12> sums{};
    for (std::size_t i = 0; i < count_; ++i) {
      const double x = x_.v[i], w = w_.v[i], p = p_.v[i];
      const double hx = x_.hv[i], hw = w_.hv[i], hp = p_.hv[i];
      const std::array<double, 12> terms = {x * x,  x * w,  x * p,  w * w,  w * p,  p * p,
                                            x * hx, x * hw, x * hp, w * hw, w * hp, p * hp};
      for (std::size_t k = 0; k < terms.size(); ++k) sums[k] += terms[k];
    }
    distribution_.sum_over_ranks(sums);
    return {symmetric(std::span(sums).first<6>()), symmetric(std::span(sums).last<6>())};
  }

  static Matrix symmetric(std::span<const double, 6> upper) {
    Matrix matrix(3);
    auto entry = upper.begin();
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = i; j < 3; ++j) matrix(i, j) = matrix(j, i) = *entry++;
    }
    return matrix;
  }

  // Moves x to the lowest vector of the span of x, w, p. False: x is as good as the arithmetic allows.
  bool step(const Gram& gram, double& energy) {
    std::optional<EigenSystem> pairs = ritz_pairs(gram.a, gram.s);
    const bool has_last_step = pairs.has_value();  // and it adds to the span
    if (!pairs) pairs = ritz_pairs(gram.a.leading(2), gram.s.leading(2));
    if (!pairs) return false;
    energy = pairs->values[0];
    const double cp = has_last_step ? pairs->vectors(0, 2) : 0;
    combine(x_.v, w_.v, p_.v, pairs->vectors(0, 0), pairs->vectors(0, 1), cp);
    combine(x_.hv, w_.hv, p_.hv, pairs->vectors(0, 0), pairs->vectors(0, 1), cp);
    return true;
  }

  // p = cw w + cp p; x = cx x + p.
  void combine(std::vector<double>& x, const std::vector<double>& w, std::vector<double>& p, double cx, double cw,
               double cp) const {
    for (std::size_t i = 0; i < count_; ++i) {
      p[i] = cw * w[i] + cp * p[i];
      x[i] = cx * x[i] + p[i];
    }
  }

  const Distribution& distribution_;
  std::size_t count_;
  VectorPair x_;
  VectorPair w_;  // residual
  VectorPair p_;  // last step
};

}  // namespace

Solution lowest_state(const Distribution& distribution, const SolverLimits& limits, std::vector<double> start,
                      const Progress& progress) {
  return ConjugateGradients(distribution, std::move(start)).solve(limits, progress);
}

}  // namespace realspace
