// What each operation does to two numbers: `in` comes from the lower ranks. This is compiled for several kinds of
// processor, so the linker must not share any of it: it is for kernel_set.h only, has no linkage, and calls no function
// of the standard library.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace fab {
namespace {

/// std::bit_cast, which would be shared.
template <class To, class From>
constexpr To bits_as(From from) noexcept {
  return __builtin_bit_cast(To, from);
}

template <class T>
concept Whole = std::integral<T>;

// Overflow of signed numbers is undefined and narrow numbers are promoted to signed ones, so sums and products are
// those of unsigned numbers of at least 32 bits; their low bits are right for signed ones, too.
template <Whole T>
using Modular = std::conditional_t<(sizeof(T) < 4), std::uint32_t, T>;

struct Sum {
  template <class T>
  static T apply(T in, T here) noexcept {
    return in + here;
  }
  template <Whole T>
  static T apply(T in, T here) noexcept {
    return static_cast<T>(static_cast<Modular<T>>(in) + static_cast<Modular<T>>(here));
  }
};

template <class T>
struct Complex {
  T re;
  T im;
};

struct Product {
  template <class T>
  static T apply(T in, T here) noexcept {
    return in * here;
  }
  template <Whole T>
  static T apply(T in, T here) noexcept {
    return static_cast<T>(static_cast<Modular<T>>(in) * static_cast<Modular<T>>(here));
  }
  template <class T>
  static Complex<T> apply(Complex<T> in, Complex<T> here) noexcept {
    return {in.re * here.re - in.im * here.im, in.re * here.im + in.im * here.re};
  }
};

template <class T>
bool is_nan(T value) noexcept {
  return value != value;
}

/// As many bits as the number has.
template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// Formats whose numbers fit registers for integers, so that the sign of a zero is a matter of bits.
template <class T>
concept HasBits = std::same_as<T, float> || std::same_as<T, double>;

// Equal numbers have equal bits, but for zeros: the bits of both together are the lesser, those in common the greater.
template <HasBits T>
T least_of_equal(T a, T b) noexcept {
  return bits_as<T>(bits_as<Bits<T>>(a) | bits_as<Bits<T>>(b));
}
template <HasBits T>
T greatest_of_equal(T a, T b) noexcept {
  return bits_as<T>(bits_as<Bits<T>>(a) & bits_as<Bits<T>>(b));
}
template <class T>
T least_of_equal(T a, T b) noexcept {
  return __builtin_signbit(a) ? a : b;
}
template <class T>
T greatest_of_equal(T a, T b) noexcept {
  return __builtin_signbit(a) ? b : a;
}

struct Min {
  template <class T>
  static T apply(T in, T here) noexcept {
    const T lesser = in < here || is_nan(in) ? in : here;
    return in == here ? least_of_equal(in, here) : lesser;
  }
  template <Whole T>
  static T apply(T in, T here) noexcept {
    return in < here ? in : here;
  }
};

struct Max {
  template <class T>
  static T apply(T in, T here) noexcept {
    const T greater = in > here || is_nan(in) ? in : here;
    return in == here ? greatest_of_equal(in, here) : greater;
  }
  template <Whole T>
  static T apply(T in, T here) noexcept {
    return in > here ? in : here;
  }
};

struct LogicalAnd {
  template <Whole T>
  static T apply(T in, T here) noexcept {
    return static_cast<T>((in != 0) & (here != 0));
  }
};

struct LogicalOr {
  template <Whole T>
  static T apply(T in, T here) noexcept {
    return static_cast<T>((in | here) != 0);
  }
};

struct LogicalXor {
  template <Whole T>
  static T apply(T in, T here) noexcept {
    return static_cast<T>((in != 0) ^ (here != 0));
  }
};

struct BitAnd {
  template <Whole T>
  static T apply(T in, T here) noexcept {
    return in & here;
  }
};

struct BitOr {
  template <Whole T>
  static T apply(T in, T here) noexcept {
    return in | here;
  }
};

struct BitXor {
  template <Whole T>
  static T apply(T in, T here) noexcept {
    return in ^ here;
  }
};

/// Which of two pairs stays: one whose value comes first in Order, or is as good and lies at the lesser location.
template <class Order>
struct Locate {
  template <class T>
  static T apply(T in, T here) noexcept {
    const bool takes_in = Order::is_first(in.value, here.value) ||
                          (!Order::is_first(here.value, in.value) && in.location < here.location);
    return {takes_in ? in.value : here.value, takes_in ? in.location : here.location};
  }
};

// A NaN is before all other numbers, and compares to nothing.

struct Ascending {
  template <class T>
  static bool is_first(T a, T b) noexcept {
    return !(a >= b) && !is_nan(b);
  }
};

struct Descending {
  template <class T>
  static bool is_first(T a, T b) noexcept {
    return !(a <= b) && !is_nan(b);
  }
};

}  // namespace
}  // namespace fab
