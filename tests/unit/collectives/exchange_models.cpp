// The expected results of alltoall, alltoallv, reduce_scatter, scan and exscan.
#include <algorithm>
#include <map>
#include <tuple>

#include "collectives/calls/exchange_calls.h"
#include "unit/collectives/collective_model.h"

namespace fab::test {

namespace {

using collectives::BlockList;
using collectives::CollectiveCall;
using Shape = CollectiveShape;

constexpr std::size_t kQuarters[] = {4, 0, 9, 1, 3};

/// Very different sizes, some of them none.
std::size_t size_of(const Shape& shape, int number) { return (shape.elements * kQuarters[number % 5] + 3) / 4; }

Bytes part_of(const Shape& shape, const Bytes& bytes, std::size_t first, std::size_t elements) {
  const auto begin = bytes.begin() + static_cast<std::ptrdiff_t>(first * shape.element_bytes);
  return {begin, begin + static_cast<std::ptrdiff_t>(elements * shape.element_bytes)};
}

bool everywhere(const Shape& shape, Rank) { return shape.in_place; }
bool some(const Shape& shape, Rank rank) { return shape.in_place && rank % 3 != 1; }
std::size_t at_the_start(const Shape&, Rank) { return 0; }
std::size_t one_vector(const Shape& shape, Rank) { return shape.elements; }

// All-to-all. In place what two ranks send each other has the same size.

/// What `from` sends `to`, in elements.
template <bool kEqual>
std::size_t pair_size(const Shape& shape, Rank from, Rank to) {
  if (kEqual) return shape.elements;
  return size_of(shape, shape.in_place ? from + to : 2 * from + to);
}

enum class Side { send, recv };

/// The blocks of one side of a rank, the last rank's first where they differ in size.
template <bool kEqual>
struct Blocks {
  Blocks(const Shape& shape, Rank rank, Side side) {
    for (Rank peer = 0; peer < shape.ranks; ++peer)
      counts.push_back(static_cast<int>(side == Side::send ? pair_size<kEqual>(shape, rank, peer)
                                                           : pair_size<kEqual>(shape, peer, rank)));
    displacements.assign(counts.size(), 0);
    if (kEqual)
      for (std::size_t i = 1; i < counts.size(); ++i) displacements[i] = displacements[i - 1] + counts[i - 1];
    else
      for (std::size_t i = counts.size() - 1; i-- > 0;) displacements[i] = displacements[i + 1] + counts[i + 1];
  }
  [[nodiscard]] std::size_t count(Rank peer) const {
    return static_cast<std::size_t>(counts[static_cast<std::size_t>(peer)]);
  }
  [[nodiscard]] std::size_t first(Rank peer) const {
    return static_cast<std::size_t>(displacements[static_cast<std::size_t>(peer)]);
  }
  [[nodiscard]] std::size_t total() const {
    std::size_t elements = 0;
    for (const int count : counts) elements += static_cast<std::size_t>(count);
    return elements;
  }
  std::vector<int> counts;
  std::vector<int> displacements;
  std::vector<BlockShape> shapes;  ///< the same, for ranks that give those
};

/// In the two forms that callers may use. Lives as long as calls may refer to it.
BlockList unequal(const Shape& shape, Rank rank, Side side, const Layout& element) {
  static std::map<std::tuple<int, std::size_t, bool, Rank, Side, std::ptrdiff_t>, Blocks<false>> known;
  const auto key = std::tuple(shape.ranks, shape.elements, shape.in_place, rank, side, element.extent());
  const auto [found, is_new] = known.try_emplace(key, shape, rank, side);
  Blocks<false>& blocks = found->second;
  if (rank % 2 == 0) return BlockList::irregular(element, blocks.counts, blocks.displacements);
  for (Rank peer = 0; is_new && peer < shape.ranks; ++peer)
    blocks.shapes.push_back(
        {static_cast<std::ptrdiff_t>(blocks.first(peer)) * element.extent(), element.repeated(blocks.count(peer))});
  return BlockList::general(blocks.shapes);
}

template <bool kEqual>
CollectiveCall alltoall(const Shape& shape, Rank rank, const Layout& element) {
  if (kEqual) {
    const BlockList blocks = BlockList::regular(element, shape.elements, static_cast<std::size_t>(shape.ranks));
    return {.collective = Collective::alltoall,
            .in_place = shape.in_place,
            .bytes = shape.elements * shape.element_bytes,
            .send = blocks,
            .recv = blocks};
  }
  const BlockList recv = unequal(shape, rank, Side::recv, element);
  if (shape.in_place) return collectives::alltoallv_call(recv, shape.ranks);
  return collectives::alltoallv_call(unequal(shape, rank, Side::send, element), recv, shape.ranks);
}

template <Collective kCollective, bool kEqual>
constexpr CollectiveModel alltoall_model() {
  using Its = Blocks<kEqual>;
  return {.collective = kCollective,
          .has_in_place = true,
          .to_each = true,
          .sent = [](const Shape& shape, Rank rank) { return Its(shape, rank, Side::send).total(); },
          .received = [](const Shape& shape, Rank rank) { return Its(shape, rank, Side::recv).total(); },
          .is_in_place = everywhere,
          .in_place_at = at_the_start,
          .expected =
              [](const Shape& shape, const std::vector<Bytes>& sent, Rank rank) {
                const Its mine(shape, rank, Side::recv);
                Bytes result(mine.total() * shape.element_bytes);
                for (Rank from = 0; from < shape.ranks; ++from) {
                  const Its theirs(shape, from, Side::send);
                  std::ranges::copy(
                      part_of(shape, sent[static_cast<std::size_t>(from)], theirs.first(rank), theirs.count(rank)),
                      result.begin() + static_cast<std::ptrdiff_t>(mine.first(from) * shape.element_bytes));
                }
                return std::optional(result);
              },
          .call = alltoall<kEqual>};
}

// Reduce-scatter, of equal blocks where their size is even.

std::size_t part_size(const Shape& shape, Rank rank) {
  return shape.elements % 2 == 0 ? shape.elements : size_of(shape, rank);
}

std::size_t part_begin(const Shape& shape, Rank rank) {
  std::size_t elements = 0;
  for (Rank lower = 0; lower < rank; ++lower) elements += part_size(shape, lower);
  return elements;
}

std::size_t vector_size(const Shape& shape, Rank) { return part_begin(shape, shape.ranks); }

/// Lives as long as calls may refer to it.
const std::vector<int>& counts_of(const Shape& shape) {
  static std::map<std::pair<int, std::size_t>, std::vector<int>> known;
  const auto [found, is_new] = known.try_emplace({shape.ranks, shape.elements});
  for (Rank rank = 0; is_new && rank < shape.ranks; ++rank)
    found->second.push_back(static_cast<int>(part_size(shape, rank)));
  return found->second;
}

CollectiveCall reduce_scatter(const Shape& shape, Rank rank, const Layout& element) {
  if (shape.elements % 2 != 0)
    return collectives::reduce_scatter_call(element, counts_of(shape), operator_of(shape), rank, shape.ranks,
                                            shape.in_place);
  const auto ranks = static_cast<std::size_t>(shape.ranks);
  return {.collective = Collective::reduce_scatter,
          .in_place = shape.in_place,
          .bytes = ranks * shape.elements * shape.element_bytes,
          .send = BlockList::regular(element, ranks * shape.elements, 1),
          .recv = BlockList::regular(element, shape.elements, 1),
          .operation = operator_of(shape)};
}

constexpr CollectiveModel kReduceScatter{
    .collective = Collective::reduce_scatter,
    .combines = true,
    .has_in_place = true,
    .to_each = true,
    .sent = vector_size,
    .received = [](const Shape& shape,
                   Rank rank) { return shape.in_place ? vector_size(shape, rank) : part_size(shape, rank); },
    .is_in_place = everywhere,
    .in_place_at = at_the_start,
    .expected = [](const Shape& shape, const std::vector<Bytes>& sent, Rank rank) -> std::optional<Bytes> {
      std::vector<Bytes> parts;
      for (const Bytes& vector : sent)
        parts.push_back(part_of(shape, vector, part_begin(shape, rank), part_size(shape, rank)));
      return combined(shape, parts);
    },
    .call = reduce_scatter};

// Prefixes.

template <Collective kCollective>
CollectiveCall prefix(const Shape& shape, Rank rank, const Layout& element) {
  const BlockList vector = BlockList::regular(element, shape.elements, 1);
  return {.collective = kCollective,
          .in_place = some(shape, rank),
          .bytes = shape.elements * shape.element_bytes,
          .send = vector,
          .recv = vector,
          .operation = operator_of(shape)};
}

/// Of the first `ranks` ranks.
std::optional<Bytes> combined_of_first(const Shape& shape, const std::vector<Bytes>& sent, int ranks) {
  if (ranks == 0) return std::nullopt;
  return combined(shape, {sent.begin(), sent.begin() + ranks});
}

template <Collective kCollective, int kOwn>
constexpr CollectiveModel prefix_model() {
  return {.collective = kCollective,
          .combines = true,
          .has_in_place = true,
          .sent = one_vector,
          .received = one_vector,
          .is_in_place = some,
          .in_place_at = at_the_start,
          .expected = [](const Shape& shape, const std::vector<Bytes>& sent,
                         Rank rank) { return combined_of_first(shape, sent, rank + kOwn); },
          .call = prefix<kCollective>};
}

constexpr CollectiveModel kModels[] = {alltoall_model<Collective::alltoall, true>(),
                                       alltoall_model<Collective::alltoallv, false>(), kReduceScatter,
                                       prefix_model<Collective::scan, 1>(), prefix_model<Collective::exscan, 0>()};

}  // namespace

std::span<const CollectiveModel> exchange_models() { return kModels; }

}  // namespace fab::test
