#include "support/reduction_oracle.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace fab::test {

namespace {

#if defined(__SIZEOF_FLOAT128__)
using Float128 = __float128;
#else
using Float128 = long double;
#endif
using Wide = __int128;

/// A 16-bit format by its exponent bits, taken apart by arithmetic alone.
template <int kExponentBits>
struct Half {
  std::uint16_t bits;

  static constexpr int kFractionBits = 15 - kExponentBits;
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;

  static double value(unsigned bits) {
    static const std::vector<double> values = [] {
      std::vector<double> all;
      for (unsigned i = 0; i < 1u << 16; ++i) all.push_back(taken_apart(i));
      return all;
    }();
    return values[bits];
  }

  static double taken_apart(unsigned bits) {
    const int exponent = static_cast<int>(bits >> kFractionBits) & ((1 << kExponentBits) - 1);
    const double fraction = std::ldexp(bits & ((1u << kFractionBits) - 1), -kFractionBits);
    double magnitude = std::ldexp(exponent == 0 ? fraction : 1 + fraction, std::max(exponent, 1) - kBias);
    if (exponent == (1 << kExponentBits) - 1) magnitude = fraction == 0 ? INFINITY : NAN;
    return std::copysign(magnitude, bits >> 15 != 0 ? -1.0 : 1.0);
  }

  /// The nearest number, by search; the even one of two. Bits of positive numbers are in the order of the numbers.
  static Half nearest(double exact) {
    if (std::isnan(exact)) return {0x7fff};
    const unsigned sign = std::signbit(exact) ? 0x8000 : 0;
    const double magnitude = std::fabs(exact);
    const unsigned infinity = ((1u << kExponentBits) - 1) << kFractionBits;
    unsigned low = 0;
    unsigned high = infinity;
    while (high - low > 1) {
      const unsigned middle = (low + high) / 2;
      (value(middle) <= magnitude ? low : high) = middle;
    }
    // Infinity stands where the next finite number would.
    const double above = high == infinity ? std::ldexp(1.0, kBias + 1) : value(high);
    const double middle = (value(low) + above) / 2;
    const bool up = magnitude > middle || (magnitude == middle && high % 2 == 0);
    return {static_cast<std::uint16_t>(sign | (up ? high : low))};
  }
};
using Binary16 = Half<5>;
using Brain16 = Half<8>;

template <class T>
struct Number {
  T re;
  T im;
};

struct Raw {
  std::uint8_t bits;
};

template <class T>
struct Truth {
  T bits;
};

template <class T>
constexpr bool kIsFloat = std::is_floating_point_v<T> || std::is_same_v<T, Float128>;

/// Calls `visit` with a null pointer to the type in which this file computes.
template <class Visit>
auto with_type(ElementType type, Visit&& visit) {
  switch (type) {
    case ElementType::int8:
      return visit(static_cast<std::int8_t*>(nullptr));
    case ElementType::int16:
      return visit(static_cast<std::int16_t*>(nullptr));
    case ElementType::int32:
      return visit(static_cast<std::int32_t*>(nullptr));
    case ElementType::int64:
      return visit(static_cast<std::int64_t*>(nullptr));
    case ElementType::uint8:
      return visit(static_cast<std::uint8_t*>(nullptr));
    case ElementType::uint16:
      return visit(static_cast<std::uint16_t*>(nullptr));
    case ElementType::uint32:
      return visit(static_cast<std::uint32_t*>(nullptr));
    case ElementType::uint64:
      return visit(static_cast<std::uint64_t*>(nullptr));
    case ElementType::float16:
      return visit(static_cast<Binary16*>(nullptr));
    case ElementType::bfloat16:
      return visit(static_cast<Brain16*>(nullptr));
    case ElementType::float32:
      return visit(static_cast<float*>(nullptr));
    case ElementType::float64:
      return visit(static_cast<double*>(nullptr));
    case ElementType::long_double:
      return visit(static_cast<long double*>(nullptr));
    case ElementType::float128:
      return visit(static_cast<Float128*>(nullptr));
    case ElementType::float32_complex:
      return visit(static_cast<Number<float>*>(nullptr));
    case ElementType::float64_complex:
      return visit(static_cast<Number<double>*>(nullptr));
    case ElementType::long_double_complex:
      return visit(static_cast<Number<long double>*>(nullptr));
    case ElementType::float128_complex:
      return visit(static_cast<Number<Float128>*>(nullptr));
    case ElementType::logical8:
      return visit(static_cast<Truth<std::uint8_t>*>(nullptr));
    case ElementType::logical16:
      return visit(static_cast<Truth<std::uint16_t>*>(nullptr));
    case ElementType::logical32:
      return visit(static_cast<Truth<std::uint32_t>*>(nullptr));
    case ElementType::logical64:
      return visit(static_cast<Truth<std::uint64_t>*>(nullptr));
    case ElementType::int16_int32:
      return visit(static_cast<Located<std::int16_t>*>(nullptr));
    case ElementType::int32_int32:
      return visit(static_cast<Located<std::int32_t>*>(nullptr));
    case ElementType::int64_int32:
      return visit(static_cast<Located<std::int64_t>*>(nullptr));
    case ElementType::float32_int32:
      return visit(static_cast<Located<float>*>(nullptr));
    case ElementType::float64_int32:
      return visit(static_cast<Located<double>*>(nullptr));
    case ElementType::long_double_int32:
      return visit(static_cast<Located<long double>*>(nullptr));
    case ElementType::float32_float32:
      return visit(static_cast<Located<float, float>*>(nullptr));
    case ElementType::float64_float64:
      return visit(static_cast<Located<double, double>*>(nullptr));
    case ElementType::byte:
      break;
  }
  return visit(static_cast<Raw*>(nullptr));
}

template <class T>
T read(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <class T>
bool is_nan(T value) {
  return !(value == value);
}
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

/// Draws numbers of each kind.
class Drawing {
 public:
  Drawing(std::mt19937_64& random, Values values) : random_(random), tame_(values == Values::tame) {}

  template <class T>
  void draw(T& number) {
    if (tame_ && kIsFloat<T>) {
      number = static_cast<T>(static_cast<int>(pick(2000)) - 1000) / 8;
    } else if constexpr (std::is_same_v<T, Float128> && !std::is_same_v<T, long double>) {
      double high = 0;
      double low = 0;
      draw(high);
      draw(low);
      number = pick(2) == 0 || is_nan(high * low) ? Float128{high} : Float128{high} * 3 + Float128{low} / 7;
    } else if constexpr (kIsFloat<T>) {
      number = floating<T>();
    } else {
      number = whole<T>();
    }
  }
  template <int kExponentBits>
  void draw(Half<kExponentBits>& number) {
    number.bits = pick(4) == 0 ? static_cast<std::uint16_t>(random_())
                               : Half<kExponentBits>::nearest(static_cast<double>(floating<float>())).bits;
  }
  template <class T>
  void draw(Number<T>& number) {
    draw(number.re);
    draw(number.im);
  }
  template <class T>
  void draw(Truth<T>& truth) {
    truth.bits = pick(3) == 0 ? T{0} : tame_ ? T{1} : whole<T>();
  }
  void draw(Raw& raw) { raw.bits = static_cast<std::uint8_t>(random_()); }
  template <class Value, class Location>
  void draw(Located<Value, Location>& pair) {
    draw(pair.value);
    pair.location = static_cast<Location>(static_cast<int>(pick(9)) - 4);
  }

  std::uint64_t pick(std::uint64_t values) { return random_() % values; }

 private:
  template <class T>
  T floating() {
    using Limits = std::numeric_limits<T>;
    const T extremes[] = {T{0},
                          -T{0},
                          T{1},
                          -T{1},
                          Limits::max(),
                          -Limits::max(),
                          Limits::min(),
                          Limits::denorm_min(),
                          -Limits::min(),
                          -Limits::epsilon(),
                          Limits::infinity(),
                          -Limits::infinity(),
                          Limits::quiet_NaN(),
                          -Limits::quiet_NaN()};
    if (pick(3) == 0) return extremes[pick(std::size(extremes))];
    const int exponent = static_cast<int>(pick(40)) - 20;
    return std::ldexp(std::uniform_real_distribution<T>(-1, 1)(random_), exponent);
  }
  template <class T>
  T whole() {
    if (tame_) return static_cast<T>(static_cast<int>(pick(12)) - (std::is_signed_v<T> ? 6 : 0));
    using Limits = std::numeric_limits<T>;
    const T extremes[] = {
        T{0}, T{1}, Limits::max(), Limits::min(), static_cast<T>(Limits::max() - 1), static_cast<T>(-1)};
    return pick(3) == 0 ? extremes[pick(std::size(extremes))] : static_cast<T>(random_());
  }

  std::mt19937_64& random_;
  bool tame_;
};

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

void draw(ElementType type, Values values, std::mt19937_64& random, const std::byte* other, std::byte* element) {
  Drawing drawing(random, values);
  with_type(type, [&]<class T>(T*) {
    T value;
    std::memset(&value, static_cast<int>(drawing.pick(256)), sizeof(T));  // padding
    drawing.draw(value);
    if (other != nullptr && drawing.pick(4) == 0) value = read<T>(other);
    std::memcpy(element, &value, sizeof(T));
  });
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
