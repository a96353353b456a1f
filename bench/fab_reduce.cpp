// How fast reductions are, in bytes of a vector per second: fab's kernels for each kind of processor against a plain
// loop that the compiler was told not to vectorise. Google Benchmark's options apply (--benchmark_filter=double, say).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <complex>
#include <functional>
#include <vector>

#include "bench/support/google_benchmark.h"
#include "core/reduction/kernels.h"
#include "fab/reducible.h"

namespace {

using namespace fab;

template <class Combine>
void measure(benchmark::State& state, const Combine& combine) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  const std::vector<std::byte> in(bytes);
  std::vector<std::byte> inout(bytes);
  for ([[maybe_unused]] auto _ : state) {
    combine(in.data(), inout.data(), bytes);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

template <class T, class Op>
void loop(benchmark::State& state) {
  measure(state, [](const std::byte* in, std::byte* inout, std::size_t bytes) {
    const T* const from = reinterpret_cast<const T*>(in);
    T* const into = reinterpret_cast<T*>(inout);
    for (std::size_t i = 0; i < bytes / sizeof(T); ++i) into[i] = Op()(from[i], into[i]);
  });
}

template <class T, ReduceOp kOp>
void kernel(benchmark::State& state, const KernelSet& kernels) {
  const Kernel& kernel = kernels[{kOp, element_type_of<T>()}];
  measure(state, [&](const std::byte* in, std::byte* inout, std::size_t bytes) {
    kernel.function(in, inout, bytes / sizeof(T) * kernel.parts);
  });
}

template <class T, ReduceOp kOp>
void generic(benchmark::State& state) {
  kernel<T, kOp>(state, kGenericKernels);
}

template <class T, ReduceOp kOp>
void avx2(benchmark::State& state) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return kernel<T, kOp>(state, kAvx2Kernels);
#endif
  state.SkipWithError("this processor has no AVX2");
}

struct Greater {
  template <class T>
  T operator()(T a, T b) const {
    return std::max(a, b);
  }
};

/// The textbook's; std::complex's operator looks for infinities.
struct ComplexProduct {
  template <class T>
  std::complex<T> operator()(std::complex<T> a, std::complex<T> b) const {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }
};

struct Nearer {
  template <class Value>
  Located<Value> operator()(Located<Value> a, Located<Value> b) const {
    return a.value < b.value || (a.value == b.value && a.location < b.location) ? a : b;
  }
};

/// The first cache, the second, and beyond.
void sizes(benchmark::internal::Benchmark* benchmark) { benchmark->Arg(8 << 10)->Arg(256 << 10)->Arg(16 << 20); }

#define FAB_MEASURE(op, T, Loop)                                                               \
  BENCHMARK_TEMPLATE(loop, T, Loop)->Name(#op " of " #T ", loop")->Apply(sizes);               \
  BENCHMARK_TEMPLATE(generic, T, ReduceOp::op)->Name(#op " of " #T ", generic")->Apply(sizes); \
  BENCHMARK_TEMPLATE(avx2, T, ReduceOp::op)->Name(#op " of " #T ", avx2")->Apply(sizes)

FAB_MEASURE(sum, double, std::plus<>);
FAB_MEASURE(sum, float, std::plus<>);
FAB_MEASURE(sum, int, std::plus<>);
FAB_MEASURE(max, double, Greater);
FAB_MEASURE(max, int, Greater);
FAB_MEASURE(max, long, Greater);
FAB_MEASURE(product, std::complex<double>, ComplexProduct);
FAB_MEASURE(logical_and, int, std::logical_and<>);
FAB_MEASURE(bit_xor, int, std::bit_xor<>);
FAB_MEASURE(min_location, Located<float>, Nearer);
FAB_MEASURE(min_location, Located<double>, Nearer);

}  // namespace

int main(int argc, char** argv) { return fab::bench::run_google_benchmarks(argc, argv); }
