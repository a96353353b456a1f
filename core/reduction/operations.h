// The arithmetic of each operation on two numbers; `in` comes from the lower ranks. This is compiled for several kinds
// of processor, so the linker must not share any of it: it is for kernel_set.h only, has no linkage, and calls no
// function of the standard library.
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
  return __builtin_isnan(value);
}
template <Whole T>
bool is_nan(T) noexcept {
  return false;
}

/// Formats whose numbers fit the registers of integers.
template <class T>
concept HasBits = std::same_as<T, float> || std::same_as<T, double>;

template <HasBits T>
using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

struct Min {
  /// The two comparisons differ for equal operands and for NaNs alone, and then between them yield both operands. All
  /// bits of these together are those of the negative zero if there is one, and those of a NaN if there is one.
  template <HasBits T>
  static T apply(T in, T here) noexcept {
    const T one = in < here ? in : here;
    const T other = here < in ? here : in;
    return bits_as<T>(bits_as<Bits<T>>(one) | bits_as<Bits<T>>(other));
  }
  template <class T>
  static T apply(T in, T here) noexcept {
    if (in == here) return __builtin_signbit(in) ? in : here;
    return in < here || is_nan(in) ? in : here;
  }
  template <Whole T>
  static T apply(T in, T here) noexcept {
    return in < here ? in : here;
  }
};

// By its sign bit: a compiler that sees a minus gives the comparisons of Max another shape, which is slower.
template <HasBits T>
T negated(T value) noexcept {
  constexpr auto kSign = Bits<T>{1} << (8 * sizeof(T) - 1);
  return bits_as<T>(bits_as<Bits<T>>(value) ^ kSign);
}
template <class T>
T negated(T value) noexcept {
  return -value;
}

struct Max {
  template <class T>
  static T apply(T in, T here) noexcept {
    return negated(Min::apply(negated(in), negated(here)));
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

// A NaN comes before all other numbers, and compares to nothing.

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
