#include "support/reduction_oracle.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "support/element_numbers.h"

namespace fab::test {

namespace {

using Wide = __int128;

template <class T>
bool is_negative(T value) {
  return value < 0 || (value == 0 && __builtin_signbit(value));
}

/// IEEE 754-2019, 9.6.
template <class T>
T minimum(T a, T b) {
  if (is_nan(a)) return a;
  if (is_nan(b)) return b;
  if (a == 0 && b == 0) return is_negative(a) ? a : b;
  return a < b ? a : b;
}
template <class T>
T maximum(T a, T b) {
  return -minimum<T>(-a, -b);
}

template <class T>
T apply_float(ReduceOp op, T in, T here) {
  switch (op) {
    case ReduceOp::sum:
      return in + here;
    case ReduceOp::product:
      return in * here;
    case ReduceOp::min:
      return minimum(in, here);
    default:
      return maximum(in, here);
  }
}

Wide apply_whole(ReduceOp op, Wide in, Wide here) {
  switch (op) {
    case ReduceOp::sum:
      return in + here;
    case ReduceOp::product:
      return static_cast<Wide>(static_cast<unsigned __int128>(in) * static_cast<unsigned __int128>(here));
    case ReduceOp::min:
      return std::min(in, here);
    case ReduceOp::max:
      return std::max(in, here);
    case ReduceOp::logical_and:
      return in != 0 && here != 0 ? 1 : 0;
    case ReduceOp::logical_or:
      return in != 0 || here != 0 ? 1 : 0;
    case ReduceOp::logical_xor:
      return (in != 0) != (here != 0) ? 1 : 0;
    case ReduceOp::bit_and:
      return in & here;
    case ReduceOp::bit_or:
      return in | here;
    default:
      return in ^ here;
  }
}

template <class T>
T apply(ReduceOp op, T in, T here) {
  if constexpr (kIsFloat<T>)
    return apply_float(op, in, here);
  else
    return static_cast<T>(apply_whole(op, in, here));
}

template <int kExponentBits>
Half<kExponentBits> apply(ReduceOp op, Half<kExponentBits> in, Half<kExponentBits> here) {
  using Format = Half<kExponentBits>;
  return Format::nearest(apply_float(op, Format::value(in.bits), Format::value(here.bits)));
}

template <class T>
Number<T> apply(ReduceOp op, Number<T> in, Number<T> here) {
  if (op == ReduceOp::sum) return {in.re + here.re, in.im + here.im};
  // Each product by itself: nothing may be fused.
  volatile T products[] = {in.re * here.re, in.im * here.im, in.re * here.im, in.im * here.re};
  return {products[0] - products[1], products[2] + products[3]};
}

Raw apply(ReduceOp op, Raw in, Raw here) { return {static_cast<std::uint8_t>(apply_whole(op, in.bits, here.bits))}; }

template <class T>
Truth<T> apply(ReduceOp op, Truth<T> in, Truth<T> here) {
  return {static_cast<T>(apply_whole(op, in.bits, here.bits))};
}

template <class Value, class Location>
Located<Value, Location> apply(ReduceOp op, Located<Value, Location> in, Located<Value, Location> here) {
  const auto lesser_location = [&] { return in.location < here.location ? in : here; };
  if (is_nan(in.value) || is_nan(here.value)) {
    if (is_nan(in.value) && is_nan(here.value)) return lesser_location();
    return is_nan(in.value) ? in : here;
  }
  if (in.value == here.value) return lesser_location();
  return (in.value < here.value) == (op == ReduceOp::min_location) ? in : here;
}

template <class T>
bool same_bits(T a, T b, std::size_t bytes = sizeof(T)) {
  return std::memcmp(&a, &b, bytes) == 0;
}

/// The x87 format has padding of its own.
template <class T>
constexpr std::size_t kValueBytes = std::is_same_v<T, long double>&& std::numeric_limits<long double>::digits == 64
                                        ? 10
                                        : sizeof(T);

template <class T>
bool equal(T a, T b) {
  if constexpr (kIsFloat<T>)
    if (is_nan(a) && is_nan(b)) return true;
  return same_bits(a, b, kValueBytes<T>);
}
template <int kExponentBits>
bool equal(Half<kExponentBits> a, Half<kExponentBits> b) {
  using Format = Half<kExponentBits>;
  return (is_nan(Format::value(a.bits)) && is_nan(Format::value(b.bits))) || same_bits(a, b);
}
template <class T>
bool equal(Number<T> a, Number<T> b) {
  return equal(a.re, b.re) && equal(a.im, b.im);
}
template <class Value, class Location>
bool equal(Located<Value, Location> a, Located<Value, Location> b) {
  return equal(a.value, b.value) && equal(a.location, b.location);
}

bool is_one_of(ElementType type, ElementType first, ElementType last) { return first <= type && type <= last; }

}  // namespace

std::vector<Reduction> all_reductions() {
  std::vector<Reduction> all;
  for (std::size_t op = 0; op < kReduceOps; ++op)
    for (std::size_t type = 0; type < kElementTypes; ++type)
      all.push_back({static_cast<ReduceOp>(op), static_cast<ElementType>(type)});
  return all;
}

bool is_in_the_standard(Reduction reduction) {
  const ElementType type = reduction.type;
  const bool integer = is_one_of(type, ElementType::int8, ElementType::uint64);
  const bool floating = is_one_of(type, ElementType::float16, ElementType::float128);
  const bool complex = is_one_of(type, ElementType::float32_complex, ElementType::float128_complex);
  const bool logical = is_one_of(type, ElementType::logical8, ElementType::logical64);
  switch (reduction.op) {
    case ReduceOp::sum:
    case ReduceOp::product:
      return integer || floating || complex;
    case ReduceOp::min:
    case ReduceOp::max:
      return integer || floating;
    case ReduceOp::logical_and:
    case ReduceOp::logical_or:
    case ReduceOp::logical_xor:
      return integer || logical;
    case ReduceOp::bit_and:
    case ReduceOp::bit_or:
    case ReduceOp::bit_xor:
      return integer || type == ElementType::byte;
    case ReduceOp::min_location:
    case ReduceOp::max_location:
      return is_one_of(type, ElementType::int16_int32, ElementType::float64_float64);
    case ReduceOp::replace:
      return true;
    case ReduceOp::user:
      return false;
  }
  return false;
}

void reduce_one(Reduction reduction, const std::byte* in, std::byte* inout) {
  with_type(reduction.type, [&]<class T>(T*) {
    const T result = reduction.op == ReduceOp::replace ? read<T>(in) : apply(reduction.op, read<T>(in), read<T>(inout));
    std::memcpy(inout, &result, sizeof(T));
  });
}

bool same(ElementType type, const std::byte* a, const std::byte* b) {
  return with_type(type, [&]<class T>(T*) { return equal(read<T>(a), read<T>(b)); });
}

}  // namespace fab::test
