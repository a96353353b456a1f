#include "bindings/dropin/rules.h"

#include <algorithm>
#include <array>
#include <limits>

namespace fab::dropin {

namespace {

/// One bit for each Form.
using Forms = unsigned;
constexpr Forms bit_of(Form form) noexcept { return 1u << static_cast<unsigned>(form); }
constexpr Forms kBlocking = bit_of(Form::blocking);
constexpr Forms kNonBlocking = bit_of(Form::non_blocking);
constexpr Forms kPersistent = bit_of(Form::persistent);
constexpr Forms kAll = kBlocking | kNonBlocking | kPersistent;

/// Calls between ranks of one node at which MPI was faster, by more than the spread of the measurement.
struct Loss {
  Function function;
  Forms forms;
  std::size_t least_bytes;
  std::size_t most_bytes;
  int most_ranks = kMostRanksMeasured;
};

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kAnySize = std::numeric_limits<std::size_t>::max() - 1;  // kUnknownBytes is no size

// Each was slower on at least one of the processors of docs/lab/drop-in.md, with calls that follow each other.
// Persistent calls of a root of up to 64 B are, too, but not where the program computes in between.
constexpr auto kLosses = std::to_array<Loss>({
    {Function::gather, kAll, 16 * kKiB, 64 * kKiB},
    {Function::scatter, kAll, 4 * kKiB, 16 * kKiB},
    {Function::scatter, kAll, 256 * kKiB, kAnySize},
    {Function::reduce, kBlocking | kNonBlocking, kKiB, 16 * kKiB, 2},
    {Function::reduce, kBlocking, 256 * kKiB, kAnySize},
    {Function::exscan, kNonBlocking, 0, 128},
    {Function::exscan, kBlocking, 64 * kKiB, 512 * kKiB},
});

static_assert(std::ranges::is_sorted(kLosses, {}, &Loss::function));

/// A program computes between its calls, so caches hold its data instead of the library's code. A short blocking call
/// then takes as long as those come from memory, and fab's are more than MPI's: 5 to 20 % longer below these sizes.
constexpr bool is_short(const Situation& situation, std::size_t bytes) noexcept {
  return situation.form == Form::blocking && bytes < (situation.one_node ? 4 * kKiB : 32 * kKiB);
}

bool covers(const Loss& loss, const Situation& situation, std::size_t bytes) noexcept {
  return situation.one_node && situation.ranks <= loss.most_ranks && (loss.forms & bit_of(situation.form)) != 0 &&
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
