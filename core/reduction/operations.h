// What each operation does to two numbers: `in` comes from the lower ranks. To be included by kernel_set.h only, into a
// namespace without linkage: compiled for several kinds of processor, none of this may be shared by the linker.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace fab {
namespace {

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

struct Min {
  template <class T>
  static T apply(T in, T here) noexcept {
    const T lesser = in < here || (in == here && __builtin_signbit(in)) ? in : here;
    return is_nan(in) ? in : lesser;
  }
  template <Whole T>
  static T apply(T in, T here) noexcept {
    return in < here ? in : here;
  }
};

struct Max {
  template <class T>
  static T apply(T in, T here) noexcept {
    const T greater = in > here || (in == here && !__builtin_signbit(in)) ? in : here;
    return is_nan(in) ? in : greater;
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
    const bool in_first = Order::before(in.value, here.value) || (is_nan(in.value) && !is_nan(here.value));
    const bool here_first = Order::before(here.value, in.value) || (is_nan(here.value) && !is_nan(in.value));
    return in_first || (!here_first && in.location < here.location) ? in : here;
  }
};

struct Ascending {
  template <class T>
  static bool before(T a, T b) noexcept {
    return a < b;
  }
};

struct Descending {
  template <class T>
  static bool before(T a, T b) noexcept {
    return a > b;
  }
};

}  // namespace
}  // namespace fab
