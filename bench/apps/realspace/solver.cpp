#include "realspace/solver.h"

#include <array>
#include <cmath>
#include <optional>
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
        p_{std::vector<double>(count_), std::vector<double>(count_)} {}

  Solution solve(const SolverLimits& limits, const Progress& progress) {
    auto [energy, residual] = evaluate();
    int iterations = 0;
    while (iterations < limits.max_iterations) {
      set_residual(energy);
      apply(w_);
      const Gram gram = gram_matrices();
      residual = std::sqrt(gram.s[1][1]);
      progress(iterations, energy, residual);
      if (residual <= limits.tolerance) break;
      ++iterations;
      if (!step(gram, energy)) break;
    }
    // The images H x were updated along with the vectors; the result comes from the operator itself.
    std::tie(energy, residual) = evaluate();
    const bool converged = limits.tolerance == 0 || residual <= 2 * limits.tolerance;
    return {std::move(x_.v), energy, residual, iterations, converged};
  }

 private:
  struct VectorPair {
    std::vector<double> v;
    std::vector<double> hv;  // H v
  };

  struct Gram {
    Matrix3 s{};  // inner products of x, w, p
    Matrix3 a{};  // the same with H between
  };

  void apply(VectorPair& pair) { distribution_.apply(pair.v.data(), pair.hv.data()); }

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
    const auto symmetric = [](const double* m) {
      return Matrix3{Vector3{m[0], m[1], m[2]}, Vector3{m[1], m[3], m[4]}, Vector3{m[2], m[4], m[5]}};
    };
    return {symmetric(sums.data()), symmetric(sums.data() + 6)};
  }

  // Moves x to the lowest vector of the span of x, w, p. False: x is as good as the arithmetic allows.
  bool step(const Gram& gram, double& energy) {
    std::optional<RitzPair> pair = lowest_ritz_pair(gram.a, gram.s, 3);
    if (!pair) pair = lowest_ritz_pair(gram.a, gram.s, 2);  // no last step yet, or it adds nothing
    if (!pair) return false;
    energy = pair->value;
    const auto [cx, cw, cp] = pair->coefficients;
    combine(x_.v, w_.v, p_.v, cx, cw, cp);
    combine(x_.hv, w_.hv, p_.hv, cx, cw, cp);
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
