// Solves the Poisson equation on a rectangle, zero around it, by conjugate gradients: a halo exchange and two sums over
// all ranks in each iteration.
#include <fab/fab.h>

#include <cmath>
#include <cstdio>
#include <vector>

int main() {
  constexpr std::size_t n = 100;  // own cells per dimension
  const auto context = fab::Context::open();
  fab::HaloExchange halo(
      context.world(),
      {.grid = {context.size(), 1}, .periodic = {false, false}, .block = {.interior = {n, n}, .width = {1, 1}}});
  const auto row = halo.geometry().strides()[0];
  const auto p = halo.field<double>();  // the direction of search, with the halo around it
  std::vector<double> x(p.size()), r(p.size()), q(p.size());

  const auto for_rows = [&](std::size_t first, std::size_t last, auto&& visit) {
    for (std::size_t y = first; y <= last; ++y)
      for (std::size_t i = y * row + 1; i <= y * row + n; ++i) visit(i);
  };
  const auto dot = [&](const auto& a, const auto& b) {
    double sum = 0;
    for_rows(1, n, [&](std::size_t i) { sum += a[i] * b[i]; });
    fab::allreduce(context.world(), sum, fab::ReduceOp::sum);
    return sum;
  };
  const auto multiply = [&](std::size_t i) { q[i] = 4 * p[i] - p[i - 1] - p[i + 1] - p[i - row] - p[i + row]; };

  for_rows(1, n, [&](std::size_t i) { r[i] = p[i] = 1; });
  const double first = dot(r, r);
  double residual = first;
  int iterations = 0;
  for (; residual > 1e-20 * first && iterations < 10'000; ++iterations) {
    halo.start();
    for_rows(2, n - 1, multiply);  // needs no halo
    halo.finish();
    for_rows(1, 1, multiply);
    for_rows(n, n, multiply);
    const double step = residual / dot(p, q);
    for_rows(1, n, [&](std::size_t i) { x[i] += step * p[i], r[i] -= step * q[i]; });
    const double last = residual;
    residual = dot(r, r);
    for_rows(1, n, [&](std::size_t i) { p[i] = r[i] + residual / last * p[i]; });
  }

  double highest = 0;
  for_rows(1, n, [&](std::size_t i) { highest = std::fmax(highest, x[i]); });
  fab::reduce(context.world(), highest, fab::ReduceOp::max);
  if (context.rank() == 0)
    std::printf("%d ranks: residual %.1e after %d iterations, highest value %g\n", context.size(),
                std::sqrt(residual / first), iterations, highest);
}
