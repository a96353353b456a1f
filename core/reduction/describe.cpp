// Sizes and names of element types and operations, and the text of a reduction for messages.
#include <fmt/core.h>

#include "core/reduction/kernels.h"

namespace fab {

namespace {

struct TypeRow {
  std::string_view name;
  std::size_t bytes;
};

/// In the order of ElementType.
constexpr std::array<TypeRow, kElementTypes> kTypeRows = {{
    {"int8", 1},
    {"int16", 2},
    {"int32", 4},
    {"int64", 8},
    {"uint8", 1},
    {"uint16", 2},
    {"uint32", 4},
    {"uint64", 8},
    {"float16", 2},
    {"bfloat16", 2},
    {"float32", 4},
    {"float64", 8},
    {"long_double", sizeof(long double)},
    {"float128", 16},
    {"float32_complex", 8},
    {"float64_complex", 16},
    {"long_double_complex", 2 * sizeof(long double)},
    {"float128_complex", 32},
    {"logical8", 1},
    {"logical16", 2},
    {"logical32", 4},
    {"logical64", 8},
    {"byte", 1},
    {"int16_int32", sizeof(Located<std::int16_t, std::int32_t>)},
    {"int32_int32", sizeof(Located<std::int32_t, std::int32_t>)},
    {"int64_int32", sizeof(Located<std::int64_t, std::int32_t>)},
    {"float32_int32", sizeof(Located<float, std::int32_t>)},
    {"float64_int32", sizeof(Located<double, std::int32_t>)},
    {"long_double_int32", sizeof(Located<long double, std::int32_t>)},
    {"float32_float32", sizeof(Located<float, float>)},
    {"float64_float64", sizeof(Located<double, double>)},
}};
static_assert(kTypeRows.back().bytes != 0, "a row for each type");

/// In the order of ReduceOp.
constexpr std::array<std::string_view, kReduceOps> kOpNames = {
    "sum",     "product", "min",     "max",          "logical_and",  "logical_or", "logical_xor",
    "bit_and", "bit_or",  "bit_xor", "min_location", "max_location", "replace",    "user"};
static_assert(!kOpNames.back().empty(), "a name for each operation");

}  // namespace

std::size_t element_bytes(ElementType type) noexcept {
  const auto row = static_cast<std::size_t>(type);
  return row < kElementTypes ? kTypeRows[row].bytes : 0;
}

std::string_view to_string(ElementType type) noexcept {
  const auto row = static_cast<std::size_t>(type);
  return row < kElementTypes ? kTypeRows[row].name : "no element type";
}

std::string_view to_string(ReduceOp op) noexcept {
  const auto row = static_cast<std::size_t>(op);
  return row < kReduceOps ? kOpNames[row] : "no operation";
}

std::string to_string(Reduction reduction) {
  return fmt::format("{} of {}", to_string(reduction.op), to_string(reduction.type));
}

}  // namespace fab
