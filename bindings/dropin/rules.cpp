#include "bindings/dropin/rules.h"

#include <algorithm>
#include <array>
#include <limits>

namespace fab::dropin {

namespace {

enum class Forms : unsigned char { blocking, all };

/// Calls between ranks of one node at which MPI was faster, by more than the spread of the measurement.
struct Loss {
  Function function;
  Forms forms;
  std::size_t least_bytes;
  std::size_t most_bytes;
};

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kAnySize = std::numeric_limits<std::size_t>::max() - 1;  // kUnknownBytes is no size

// Each was slower on at least one of the processors of docs/lab/drop-in.md, with calls that follow each other.
constexpr auto kLosses = std::to_array<Loss>({
    {Function::gather, Forms::all, 16 * kKiB, 64 * kKiB},
    {Function::scatter, Forms::all, 4 * kKiB, 16 * kKiB},
    {Function::scatter, Forms::all, 256 * kKiB, kAnySize},
    {Function::reduce, Forms::all, kKiB, 16 * kKiB},
    {Function::reduce, Forms::blocking, 256 * kKiB, kAnySize},
});

static_assert(std::ranges::is_sorted(kLosses, {}, &Loss::function));

/// A program computes between its calls, so caches hold its data instead of the library's code. A short blocking call
/// then takes as long as those come from memory, and fab's are more than MPI's: 5 to 20 % longer below these sizes.
constexpr bool is_short(const Situation& situation, std::size_t bytes) noexcept {
  return situation.form == Form::blocking && bytes < (situation.one_node ? 4 * kKiB : 32 * kKiB);
}

bool covers(const Loss& loss, const Situation& situation, std::size_t bytes) noexcept {
  return situation.one_node && (loss.forms == Forms::all || situation.form == Form::blocking) &&
         bytes >= loss.least_bytes && bytes <= loss.most_bytes;
}

}  // namespace

bool pays(const Situation& situation, const Shape& shape) noexcept {
  if (situation.ranks < 2 || shape.user_operation) return false;
  if (needs_topology(situation.function)) return true;
  if (situation.ranks > kMostRanksMeasured || is_short(situation, shape.bytes)) return false;
  const auto* const first = std::ranges::lower_bound(kLosses, situation.function, {}, &Loss::function);
  const auto* const last = std::ranges::upper_bound(kLosses, situation.function, {}, &Loss::function);
  return std::none_of(first, last, [&](const Loss& loss) { return covers(loss, situation, shape.bytes); });
}

}  // namespace fab::dropin
