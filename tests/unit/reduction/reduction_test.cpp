// Reductions of every type, with the kernels of every processor, against the oracle.
#include "fab/reduction.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/reduction/kernels.h"
#include "fab/reducible.h"
#include "support/reduction_oracle.h"

namespace fab {
namespace {

using test::all_reductions;

/// The kernels for one kind of processor.
struct Processor {
  const char* name;
  const KernelSet& kernels;
};

void PrintTo(const Processor& processor, std::ostream* out) { *out << processor.name; }

std::vector<Processor> processors() {
  std::vector<Processor> all = {{"generic", kGenericKernels}};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) all.push_back({"avx2", kAvx2Kernels});
#endif
  return all;
}

/// Elements at an address that suits nothing, between bytes that must not be written; on the heap, exactly.
class Elements {
 public:
  Elements(ElementType type, std::size_t count, std::size_t misalignment)
      : type_(type),
        count_(count),
        before_(kGuard + misalignment),
        bytes_(before_ + count * element_bytes(type), kFence) {}

  void draw(std::mt19937_64& random, const Elements* other) {
    for (std::size_t i = 0; i < count_; ++i)
      test::draw(type_, test::Values::any, random, other == nullptr ? nullptr : other->at(i), at(i));
  }
  [[nodiscard]] std::byte* at(std::size_t i) { return bytes_.data() + before_ + i * element_bytes(type_); }
  [[nodiscard]] const std::byte* at(std::size_t i) const { return bytes_.data() + before_ + i * element_bytes(type_); }
  [[nodiscard]] bool has_its_guard() const {
    return std::all_of(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(before_),
                       [](std::byte byte) { return byte == kFence; });
  }
  bool operator==(const Elements&) const = default;

 private:
  static constexpr std::size_t kGuard = 64;
  static constexpr std::byte kFence{0xA5};

  ElementType type_;
  std::size_t count_;
  std::size_t before_;
  std::vector<std::byte> bytes_;
};

std::byte* bytes_of(std::uint16_t& number) { return reinterpret_cast<std::byte*>(&number); }

/// Two random arrays, reduced by `run` and by the oracle.
template <class Run>
void check(Reduction reduction, std::size_t count, std::mt19937_64& random, const Run& run) {
  Elements in(reduction.type, count, random() % 64);
  Elements inout(reduction.type, count, random() % 64);
  in.draw(random, nullptr);
  inout.draw(random, &in);
  const Elements same_in = in;
  Elements expected = inout;
  for (std::size_t i = 0; i < count; ++i) test::reduce_one(reduction, in.at(i), expected.at(i));

  run(reduction, in.at(0), inout.at(0), count);
  for (std::size_t i = 0; i < count; ++i)
    if (!test::same(reduction.type, inout.at(i), expected.at(i)))
      FAIL() << to_string(reduction) << ", element " << i << " of " << count;
  ASSERT_TRUE(inout.has_its_guard());
  ASSERT_TRUE(in == same_in);
}

class ReductionTest : public testing::TestWithParam<Processor> {
 protected:
  static void run(Reduction reduction, const void* in, void* inout, std::size_t count) {
    const Kernel kernel = GetParam().kernels[reduction];
    ASSERT_NE(kernel.function, nullptr) << to_string(reduction);
    kernel.function(static_cast<const std::byte*>(in), static_cast<std::byte*>(inout), count * kernel.parts);
  }

  template <class T>
  static T result(ReduceOp op, T in, T here) {
    run({op, element_type_of<T>()}, &in, &here, 1);
    return here;
  }
};

// The oracle knows two operands and no place, so this also shows that results do not depend on places.
TEST_P(ReductionTest, EveryElementIsWhatTheOperationSays) {
  constexpr std::size_t kCounts[] = {0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65};
  std::mt19937_64 random(4711);
  for (const Reduction reduction : all_reductions()) {
    if (!is_defined(reduction) || reduction.op == ReduceOp::replace) continue;
    for (const std::size_t count : kCounts) check(reduction, count, random, run);
    check(reduction, random() % 1001, random, run);
    if (HasFatalFailure()) return;
  }
}

TEST(ReduceTest, EveryElementIsWhatTheOperationSays) {
  std::mt19937_64 random(42);
  for (const Reduction reduction : all_reductions()) {
    if (is_defined(reduction)) check(reduction, random() % 101, random, reduce_elements);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST_P(ReductionTest, NarrowFormatsRoundEveryNumberRightly) {
  constexpr std::size_t kNumbers = 1 << 16;
  constexpr std::uint16_t kOthers[] = {0x3c01, 0x3f81};
  std::vector<std::uint16_t> all(kNumbers);
  for (std::size_t i = 0; i < kNumbers; ++i) all[i] = static_cast<std::uint16_t>(i);
  for (const ElementType type : {ElementType::float16, ElementType::bfloat16})
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::product})
      for (const std::uint16_t other : kOthers) {
        std::vector<std::uint16_t> here(kNumbers, other);
        run({op, type}, all.data(), here.data(), kNumbers);
        for (std::size_t i = 0; i < kNumbers; ++i) {
          std::uint16_t expected = other;
          test::reduce_one({op, type}, bytes_of(all[i]), bytes_of(expected));
          if (!test::same(type, bytes_of(here[i]), bytes_of(expected)))
            FAIL() << to_string(Reduction{op, type}) << ": " << i << " and " << other << " give " << here[i] << ", not "
                   << expected;
        }
      }
}

TEST_P(ReductionTest, EqualValuesAreFoundAtTheLeastLocation) {
  using Pair = Located<double>;
  for (const ReduceOp op : {ReduceOp::min_location, ReduceOp::max_location}) {
    EXPECT_EQ(result<Pair>(op, {2.5, 7}, {2.5, 3}), (Pair{2.5, 3}));
    EXPECT_EQ(result<Pair>(op, {2.5, 3}, {2.5, 7}), (Pair{2.5, 3}));
    EXPECT_EQ(result<Pair>(op, {0.0, 3}, {-0.0, 7}).location, 3);
    EXPECT_EQ(result<Pair>(op, {-0.0, 7}, {0.0, 3}).location, 3);
  }
  EXPECT_EQ(result<Pair>(ReduceOp::min_location, {1.0, 9}, {2.0, 1}), (Pair{1.0, 9}));
  EXPECT_EQ(result<Pair>(ReduceOp::max_location, {1.0, 1}, {2.0, 9}), (Pair{2.0, 9}));
}

TEST_P(ReductionTest, ANanIsFound) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (const ReduceOp op : {ReduceOp::min, ReduceOp::max})
    for (const float other : {1.0f, std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity()}) {
      EXPECT_NE(result(op, kNan, other), result(op, kNan, other));
      EXPECT_NE(result(op, other, kNan), result(op, other, kNan));
    }
  using Pair = Located<float>;
  for (const ReduceOp op : {ReduceOp::min_location, ReduceOp::max_location}) {
    EXPECT_EQ(result<Pair>(op, {kNan, 5}, {1.0f, 2}).location, 5);
    EXPECT_EQ(result<Pair>(op, {1.0f, 2}, {kNan, 5}).location, 5);
    EXPECT_EQ(result<Pair>(op, {kNan, 5}, {kNan, 2}).location, 2);
  }
}

TEST_P(ReductionTest, NegativeZeroIsTheLesser) {
  const auto check_type = [](auto zero) {
    EXPECT_TRUE(std::signbit(result(ReduceOp::min, zero, -zero)));
    EXPECT_TRUE(std::signbit(result(ReduceOp::min, -zero, zero)));
    EXPECT_FALSE(std::signbit(result(ReduceOp::max, zero, -zero)));
    EXPECT_FALSE(std::signbit(result(ReduceOp::max, -zero, zero)));
  };
  check_type(0.0f);
  check_type(0.0);
  check_type(0.0L);
}

TEST_P(ReductionTest, LogicalResultsAreZeroOrOne) {
  EXPECT_EQ(result(ReduceOp::logical_and, 4, 2), 1);
  EXPECT_EQ(result(ReduceOp::logical_or, 0, -7), 1);
  EXPECT_EQ(result(ReduceOp::logical_xor, 4, 2), 0);
  const std::int32_t fortran_true = -1;  // as other compilers than gfortran write it
  std::int32_t here = 2;
  run({ReduceOp::logical_and, ElementType::logical32}, &fortran_true, &here, 1);
  EXPECT_EQ(here, 1);
}

INSTANTIATE_TEST_SUITE_P(Processors, ReductionTest, testing::ValuesIn(processors()),
                         [](const auto& param_info) { return param_info.param.name; });

TEST(ReductionKindTest, DefinedIsWhatTheStandardDefines) {
  for (const Reduction reduction : all_reductions()) {
    const bool no_float128 =
        (reduction.type == ElementType::float128 || reduction.type == ElementType::float128_complex) &&
        !is_defined({ReduceOp::sum, ElementType::float128});
    if (no_float128 && reduction.op != ReduceOp::replace) {
      EXPECT_FALSE(is_defined(reduction)) << to_string(reduction);
    } else {
      EXPECT_EQ(is_defined(reduction), test::is_in_the_standard(reduction)) << to_string(reduction);
    }
  }
  EXPECT_FALSE(is_defined({static_cast<ReduceOp>(test::kReduceOps), ElementType::int32}));
  EXPECT_FALSE(is_defined({ReduceOp::replace, static_cast<ElementType>(test::kElementTypes)}));
}

TEST(ReductionKindTest, EveryNameIsGivenOnce) {
  std::set<std::string> names;
  for (const Reduction reduction : all_reductions()) names.insert(to_string(reduction));
  EXPECT_EQ(names.size(), all_reductions().size());
  EXPECT_EQ(to_string({ReduceOp::min_location, ElementType::float64_int32}), "min_location of float64_int32");
}

template <class T>
constexpr bool kIs(ElementType type) {
  return element_type_of<T>() == type;
}

template <class... T>
void expect_bytes() {
  EXPECT_EQ((std::vector<std::size_t>{element_bytes(element_type_of<T>())...}),
            (std::vector<std::size_t>{sizeof(T)...}));
}

TEST(ReductionKindTest, CxxTypesAreElements) {
  static_assert(kIs<int>(ElementType::int32) && kIs<unsigned short>(ElementType::uint16));
  static_assert(kIs<std::int64_t>(ElementType::int64) && kIs<unsigned long long>(ElementType::uint64));
  static_assert(kIs<long>(sizeof(long) == 8 ? ElementType::int64 : ElementType::int32));
  static_assert(kIs<float>(ElementType::float32) && kIs<std::complex<double>>(ElementType::float64_complex));
  static_assert(kIs<bool>(ElementType::logical8) && kIs<std::byte>(ElementType::byte));
  static_assert(kIs<Located<long double>>(ElementType::long_double_int32));
  static_assert(kIs<Located<float, float>>(ElementType::float32_float32));
  static_assert(!Reducible<char> && !Reducible<wchar_t> && !Reducible<int*> && !Reducible<Located<char>>);

  expect_bytes<signed char, short, int, long, long long>();
  expect_bytes<unsigned char, unsigned short, unsigned, unsigned long, unsigned long long>();
  expect_bytes<float, double, long double>();
  expect_bytes<std::complex<float>, std::complex<double>, std::complex<long double>, bool, std::byte>();
  expect_bytes<Located<short>, Located<int>, Located<long>, Located<float>, Located<double>, Located<long double>>();
  expect_bytes<Located<float, float>, Located<double, double>>();
  EXPECT_EQ(element_bytes(static_cast<ElementType>(test::kElementTypes)), 0u);
}

}  // namespace
}  // namespace fab
