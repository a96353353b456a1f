#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

#include "support/element_numbers.h"
#include "support/reduction_oracle.h"

namespace fab::test {

namespace {

/// Draws numbers of each kind.
class Drawing {
 public:
  Drawing(std::mt19937_64& random, Values values) : random_(random), tame_(values == Values::tame) {}

  template <class T>
  void draw(T& number) {
    if constexpr (kIsFloat<T>)
      number = tame_ ? static_cast<T>(static_cast<int>(pick(2000)) - 1000) / 8 : floating<T>();
    else
      number = whole<T>();
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
    if constexpr (std::is_same_v<T, Float128> && !std::is_same_v<T, long double>) {
      const double high = floating<double>();
      const double low = floating<double>();
      return pick(2) == 0 || is_nan(high * low) ? T{high} : T{high} * 3 + T{low} / 7;
    } else {
      return standard_floating<T>();
    }
  }
  template <class T>
  T standard_floating() {
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

}  // namespace

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

}  // namespace fab::test
