// How fast reductions are, in bytes of a vector per second: fab's kernels for each kind of processor against a plain
// loop that the compiler was told not to vectorise. Google Benchmark's options apply (--benchmark_filter=float64, say).
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <functional>
#include <vector>

#include "core/reduction/kernels.h"

namespace {

using namespace fab;

/// Combines the elements of two arrays.
using Way = void (*)(Reduction reduction, const std::byte* in, std::byte* inout, std::size_t elements);

template <const KernelSet& kKernels>
void with_kernels(Reduction reduction, const std::byte* in, std::byte* inout, std::size_t elements) {
  const Kernel& kernel = kKernels[reduction];
  kernel.function(in, inout, elements * kernel.parts);
}

template <class T, class Op>
void in_a_loop(Reduction, const std::byte* in, std::byte* inout, std::size_t elements) {
  const T* const from = reinterpret_cast<const T*>(in);
  T* const into = reinterpret_cast<T*>(inout);
  for (std::size_t i = 0; i < elements; ++i) into[i] = Op()(from[i], into[i]);
}

void measure(benchmark::State& state, Reduction reduction, Way way) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  const std::vector<std::byte> in(bytes);
  std::vector<std::byte> inout(bytes);
  for ([[maybe_unused]] auto _ : state) {
    way(reduction, in.data(), inout.data(), bytes / element_bytes(reduction.type));
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

void add(Reduction reduction, const char* name, Way way) {
  // The first cache, the second, and beyond.
  for (const std::int64_t bytes : {std::int64_t{8} << 10, std::int64_t{256} << 10, std::int64_t{16} << 20})
    benchmark::RegisterBenchmark(fmt::format("{}, {}", to_string(reduction), name).c_str(), measure, reduction, way)
        ->Arg(bytes);
}

template <class T, class Op>
void add_all(ReduceOp op) {
  const Reduction reduction{op, element_type_of<T>()};
  add(reduction, "loop", in_a_loop<T, Op>);
  add(reduction, "generic", with_kernels<kGenericKernels>);
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) add(reduction, "avx2", with_kernels<kAvx2Kernels>);
#endif
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

}  // namespace

int main(int argc, char** argv) {
  add_all<double, std::plus<>>(ReduceOp::sum);
  add_all<float, std::plus<>>(ReduceOp::sum);
  add_all<int, std::plus<>>(ReduceOp::sum);
  add_all<double, Greater>(ReduceOp::max);
  add_all<int, Greater>(ReduceOp::max);
  add_all<long long, Greater>(ReduceOp::max);
  add_all<std::complex<double>, ComplexProduct>(ReduceOp::product);
  add_all<int, std::logical_and<>>(ReduceOp::logical_and);
  add_all<int, std::bit_xor<>>(ReduceOp::bit_xor);
  add_all<Located<float>, Nearer>(ReduceOp::min_location);
  add_all<Located<double>, Nearer>(ReduceOp::min_location);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
