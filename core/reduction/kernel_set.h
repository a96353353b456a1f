// All kernels, made for the processor that the including file is compiled for. Nothing in here has linkage, so that
// each such file keeps its own.
#pragma once

#include <cstddef>
#include <cstring>

#include "core/reduction/kernels.h"
#include "core/reduction/narrow_floats.h"
#include "core/reduction/operations.h"

namespace fab {
namespace {

/// How an element lies in memory, at any address. A structure goes by its fields, which lets the compiler see columns
/// of numbers, and leaves padding alone.
template <class T>
struct Memory {
  static T load(const std::byte* from) noexcept {
    T value;
    std::memcpy(&value, from, sizeof(T));
    return value;
  }
  static void store(T value, std::byte* to) noexcept { std::memcpy(to, &value, sizeof(T)); }
};

template <class T>
struct Memory<Complex<T>> {
  static Complex<T> load(const std::byte* from) noexcept {
    return {Memory<T>::load(from), Memory<T>::load(from + sizeof(T))};
  }
  static void store(Complex<T> value, std::byte* to) noexcept {
    Memory<T>::store(value.re, to);
    Memory<T>::store(value.im, to + sizeof(T));
  }
};

template <class Value, class Location>
struct Memory<Located<Value, Location>> {
  using Pair = Located<Value, Location>;
  static constexpr std::size_t kLocation = offsetof(Pair, location);

  static Pair load(const std::byte* from) noexcept {
    return {Memory<Value>::load(from), Memory<Location>::load(from + kLocation)};
  }
  static void store(Pair pair, std::byte* to) noexcept {
    Memory<Value>::store(pair.value, to);
    Memory<Location>::store(pair.location, to + kLocation);
  }
};

template <class Op, class T>
void combine(const std::byte* __restrict in, std::byte* __restrict inout, std::size_t numbers) noexcept {
  for (std::size_t i = 0; i < numbers; ++i) {
    std::byte* const here = inout + i * sizeof(T);
    Memory<T>::store(Op::apply(Memory<T>::load(in + i * sizeof(T)), Memory<T>::load(here)), here);
  }
}

#if defined(__SIZEOF_FLOAT128__)
using Float128 = __float128;
#elif __LDBL_MANT_DIG__ == 113
using Float128 = long double;
#else
#define FAB_NO_FLOAT128
#endif

template <class T>
constexpr void add_logical(KernelSet& set, ElementType type) {
  set[{ReduceOp::logical_and, type}] = {combine<LogicalAnd, T>};
  set[{ReduceOp::logical_or, type}] = {combine<LogicalOr, T>};
  set[{ReduceOp::logical_xor, type}] = {combine<LogicalXor, T>};
}

template <std::size_t kBytes>
constexpr void add_bits(KernelSet& set, ElementType type) {
  set[{ReduceOp::bit_and, type}] = {combine<BitAnd, std::uint8_t>, kBytes};
  set[{ReduceOp::bit_or, type}] = {combine<BitOr, std::uint8_t>, kBytes};
  set[{ReduceOp::bit_xor, type}] = {combine<BitXor, std::uint8_t>, kBytes};
}

template <class Signed, class Unsigned>
constexpr void add_integer(KernelSet& set, ElementType type) {
  set[{ReduceOp::sum, type}] = {combine<Sum, Unsigned>};
  set[{ReduceOp::product, type}] = {combine<Product, Unsigned>};
  set[{ReduceOp::min, type}] = {combine<Min, Signed>};
  set[{ReduceOp::max, type}] = {combine<Max, Signed>};
  add_logical<Unsigned>(set, type);
  add_bits<sizeof(Unsigned)>(set, type);
}

template <class T>
constexpr void add_narrow(KernelSet& set, ElementType type) {
  set[{ReduceOp::sum, type}] = {combine<Widened<Sum>, T>};
  set[{ReduceOp::product, type}] = {combine<Widened<Product>, T>};
  set[{ReduceOp::min, type}] = {combine<Widened<Min>, T>};
  set[{ReduceOp::max, type}] = {combine<Widened<Max>, T>};
}

template <class T>
constexpr void add_floating(KernelSet& set, ElementType type, ElementType complex) {
  set[{ReduceOp::sum, type}] = {combine<Sum, T>};
  set[{ReduceOp::product, type}] = {combine<Product, T>};
  set[{ReduceOp::min, type}] = {combine<Min, T>};
  set[{ReduceOp::max, type}] = {combine<Max, T>};
  set[{ReduceOp::sum, complex}] = {combine<Sum, T>, 2};
  set[{ReduceOp::product, complex}] = {combine<Product, Complex<T>>};
}

template <class Value, class Location>
constexpr void add_pair(KernelSet& set, ElementType type) {
  using T = Located<Value, Location>;
  set[{ReduceOp::min_location, type}] = {combine<Locate<Ascending>, T>};
  set[{ReduceOp::max_location, type}] = {combine<Locate<Descending>, T>};
}

constexpr KernelSet make_kernel_set() {
  KernelSet set;
  add_integer<std::int8_t, std::uint8_t>(set, ElementType::int8);
  add_integer<std::int16_t, std::uint16_t>(set, ElementType::int16);
  add_integer<std::int32_t, std::uint32_t>(set, ElementType::int32);
  add_integer<std::int64_t, std::uint64_t>(set, ElementType::int64);
  add_integer<std::uint8_t, std::uint8_t>(set, ElementType::uint8);
  add_integer<std::uint16_t, std::uint16_t>(set, ElementType::uint16);
  add_integer<std::uint32_t, std::uint32_t>(set, ElementType::uint32);
  add_integer<std::uint64_t, std::uint64_t>(set, ElementType::uint64);
  add_narrow<Float16>(set, ElementType::float16);
  add_narrow<BFloat16>(set, ElementType::bfloat16);
  add_floating<float>(set, ElementType::float32, ElementType::float32_complex);
  add_floating<double>(set, ElementType::float64, ElementType::float64_complex);
  add_floating<long double>(set, ElementType::long_double, ElementType::long_double_complex);
#if !defined(FAB_NO_FLOAT128)
  add_floating<Float128>(set, ElementType::float128, ElementType::float128_complex);
#endif
  add_logical<std::uint8_t>(set, ElementType::logical8);
  add_logical<std::uint16_t>(set, ElementType::logical16);
  add_logical<std::uint32_t>(set, ElementType::logical32);
  add_logical<std::uint64_t>(set, ElementType::logical64);
  add_bits<1>(set, ElementType::byte);
  add_pair<std::int16_t, std::int32_t>(set, ElementType::int16_int32);
  add_pair<std::int32_t, std::int32_t>(set, ElementType::int32_int32);
  add_pair<std::int64_t, std::int32_t>(set, ElementType::int64_int32);
  add_pair<float, std::int32_t>(set, ElementType::float32_int32);
  add_pair<double, std::int32_t>(set, ElementType::float64_int32);
  add_pair<long double, std::int32_t>(set, ElementType::long_double_int32);
  add_pair<float, float>(set, ElementType::float32_float32);
  add_pair<double, double>(set, ElementType::float64_float64);
  return set;
}

}  // namespace
}  // namespace fab
