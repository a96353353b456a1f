#include "bindings/dropin/rules.h"

#include <algorithm>
#include <array>
#include <limits>

namespace fab::dropin {

namespace {

enum class Where : unsigned char { node, network };
enum class Forms : unsigned char { blocking, all };

/// Calls at which MPI was faster, by more than the spread of the measurement.
struct Loss {
  Function function;
  Where where;
  Forms forms;
  std::size_t least_bytes;
  std::size_t most_bytes;
};

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kAnySize = std::numeric_limits<std::size_t>::max() - 1;  // kUnknownBytes is no size

// Each was slower on at least one of the processors of docs/lab/drop-in.md. Within a node blocking calls of short
// vectors take a few hundred nanoseconds, of which the way through the drop-in library is a part. A scan times how fast
// one rank can send to the next one. Long vectors travel in chains: a network between nodes might show another picture
// than the loopback interface on which they were measured.
constexpr auto kLosses = std::to_array<Loss>({
    {Function::barrier, Where::node, Forms::blocking, 0, kAnySize},
    {Function::bcast, Where::node, Forms::blocking, 0, 4 * kKiB - 1},
    {Function::bcast, Where::network, Forms::all, 256 * kKiB, kAnySize},
    {Function::gather, Where::node, Forms::blocking, 0, 4 * kKiB - 1},
    {Function::gather, Where::node, Forms::all, 16 * kKiB, 64 * kKiB},
    {Function::scatter, Where::node, Forms::blocking, 0, 4 * kKiB - 1},
    {Function::scatter, Where::node, Forms::all, 4 * kKiB, 16 * kKiB},
    {Function::scatter, Where::node, Forms::all, 256 * kKiB, kAnySize},
    {Function::allgather, Where::node, Forms::blocking, 0, 4 * kKiB - 1},
    {Function::allgather, Where::network, Forms::all, 256 * kKiB, kAnySize},
    {Function::alltoall, Where::node, Forms::blocking, 0, 4 * kKiB - 1},
    {Function::alltoall, Where::network, Forms::all, 256 * kKiB, kAnySize},
    {Function::reduce, Where::node, Forms::blocking, 0, 16 * kKiB},
    {Function::reduce, Where::node, Forms::all, kKiB, 16 * kKiB},
    {Function::reduce, Where::node, Forms::blocking, 256 * kKiB, kAnySize},
    {Function::reduce, Where::network, Forms::blocking, 256 * kKiB, kAnySize},
    {Function::allreduce, Where::node, Forms::blocking, 0, 511},
    {Function::reduce_scatter, Where::node, Forms::blocking, 0, 511},
    {Function::reduce_scatter_block, Where::node, Forms::blocking, 0, 511},
    {Function::scan, Where::node, Forms::blocking, 0, 511},
    {Function::scan, Where::network, Forms::blocking, 0, 64 * kKiB},
    {Function::scan, Where::network, Forms::all, 256 * kKiB, kAnySize},
    {Function::exscan, Where::node, Forms::blocking, 0, 511},
    {Function::exscan, Where::network, Forms::blocking, 0, 64 * kKiB},
    {Function::exscan, Where::network, Forms::all, 256 * kKiB, kAnySize},
});

static_assert(std::ranges::is_sorted(kLosses, {}, &Loss::function));

bool covers(const Loss& loss, const Situation& situation, std::size_t bytes) noexcept {
  const Where where = situation.one_node ? Where::node : Where::network;
  return loss.where == where && (loss.forms == Forms::all || situation.form == Form::blocking) &&
         bytes >= loss.least_bytes && bytes <= loss.most_bytes;
}

}  // namespace

bool pays(const Situation& situation, const Shape& shape) noexcept {
  if (situation.ranks < 2 || shape.user_operation) return false;
  if (needs_topology(situation.function)) return true;
  if (situation.ranks > kMostRanksMeasured) return false;
  const auto* const first = std::ranges::lower_bound(kLosses, situation.function, {}, &Loss::function);
  const auto* const last = std::ranges::upper_bound(kLosses, situation.function, {}, &Loss::function);
  return std::none_of(first, last, [&](const Loss& loss) { return covers(loss, situation, shape.bytes); });
}

}  // namespace fab::dropin
