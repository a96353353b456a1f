// The expected results of gather, scatter, allgather and their v-forms.
#include <algorithm>
#include <map>
#include <numeric>

#include "collectives/calls/gather_calls.h"
#include "unit/collectives/collective_model.h"

namespace fab::test {

namespace {

using collectives::BlockList;
using collectives::CollectiveCall;
using Shape = CollectiveShape;

/// Of the v-forms: blocks of very different sizes, some of them empty, the last rank's first.
struct UnequalBlocks {
  explicit UnequalBlocks(const Shape& shape) {
    constexpr std::size_t kQuarters[] = {4, 0, 9, 1, 3};
    for (Rank rank = 0; rank < shape.ranks; ++rank)
      counts.push_back(static_cast<int>((shape.elements * kQuarters[rank % 5] + 3) / 4));
    displacements.assign(counts.size(), 0);
    for (std::size_t i = counts.size() - 1; i-- > 0;) displacements[i] = displacements[i + 1] + counts[i + 1];
  }
  std::vector<int> counts;
  std::vector<int> displacements;
};

/// Lives as long as calls may refer to it.
const UnequalBlocks& unequal(const Shape& shape) {
  static std::map<std::pair<int, std::size_t>, UnequalBlocks> known;
  return known.try_emplace({shape.ranks, shape.elements}, shape).first->second;
}

/// The blocks of all ranks in one buffer, in elements.
template <bool kEqual>
struct Blocks {
  static std::size_t count(const Shape& shape, Rank rank) {
    return kEqual ? shape.elements : static_cast<std::size_t>(unequal(shape).counts[static_cast<std::size_t>(rank)]);
  }
  static std::size_t first(const Shape& shape, Rank rank) {
    const auto index = static_cast<std::size_t>(rank);
    return kEqual ? index * shape.elements : static_cast<std::size_t>(unequal(shape).displacements[index]);
  }
  static std::size_t total(const Shape& shape) {
    std::size_t elements = 0;
    for (Rank rank = 0; rank < shape.ranks; ++rank) elements += count(shape, rank);
    return elements;
  }
  static BlockList list(const Shape& shape, const Layout& element) {
    if (kEqual) return BlockList::regular(element, shape.elements, static_cast<std::size_t>(shape.ranks));
    return BlockList::irregular(element, unequal(shape).counts, unequal(shape).displacements);
  }
  static BlockList own(const Shape& shape, Rank rank, const Layout& element) {
    return BlockList::regular(element, count(shape, rank), 1);
  }
  static Bytes together(const Shape& shape, const std::vector<Bytes>& sent) {
    Bytes result(total(shape) * shape.element_bytes);
    for (Rank rank = 0; rank < shape.ranks; ++rank)
      std::ranges::copy(sent.at(static_cast<std::size_t>(rank)),
                        result.begin() + static_cast<std::ptrdiff_t>(first(shape, rank) * shape.element_bytes));
    return result;
  }
};

bool is_root(const Shape& shape, Rank rank) { return rank == shape.root; }
bool root_in_place(const Shape& shape, Rank rank) { return shape.in_place && is_root(shape, rank); }

CollectiveCall call_of(Collective collective, const Shape& shape, Rank rank, bool in_place, const BlockList& send,
                       const BlockList& recv) {
  return collectives::gather_call({.collective = collective,
                                   .rank = rank,
                                   .ranks = shape.ranks,
                                   .root = shape.root,
                                   .in_place = in_place,
                                   .send = send,
                                   .recv = recv});
}

template <Collective kCollective, bool kEqual>
constexpr CollectiveModel gather_model() {
  using Its = Blocks<kEqual>;
  return {.collective = kCollective,
          .has_root = true,
          .has_in_place = true,
          .sent = Its::count,
          .received = [](const Shape& shape, Rank rank) { return is_root(shape, rank) ? Its::total(shape) : 0; },
          .is_in_place = root_in_place,
          .in_place_at = Its::first,
          .expected =
              [](const Shape& shape, const std::vector<Bytes>& sent, Rank rank) {
                return is_root(shape, rank) ? std::optional(Its::together(shape, sent)) : std::nullopt;
              },
          .call =
              [](const Shape& shape, Rank rank, const Layout& element) {
                return call_of(kCollective, shape, rank, root_in_place(shape, rank), Its::own(shape, rank, element),
                               Its::list(shape, element));
              }};
}

// In place the root keeps its block among those that it sends.
template <Collective kCollective, bool kEqual>
constexpr CollectiveModel scatter_model() {
  using Its = Blocks<kEqual>;
  return {.collective = kCollective,
          .has_root = true,
          .has_in_place = true,
          .sent = [](const Shape& shape, Rank rank) { return is_root(shape, rank) ? Its::total(shape) : 0; },
          .received = [](const Shape& shape,
                         Rank rank) { return root_in_place(shape, rank) ? 0 : Its::count(shape, rank); },
          .is_in_place = [](const Shape&, Rank) { return false; },
          .in_place_at = Its::first,
          .expected = [](const Shape& shape, const std::vector<Bytes>& sent, Rank rank) -> std::optional<Bytes> {
            if (root_in_place(shape, rank)) return std::nullopt;
            const Bytes& all = sent.at(static_cast<std::size_t>(shape.root));
            const auto begin = all.begin() + static_cast<std::ptrdiff_t>(Its::first(shape, rank) * shape.element_bytes);
            return Bytes(begin, begin + static_cast<std::ptrdiff_t>(Its::count(shape, rank) * shape.element_bytes));
          },
          .call =
              [](const Shape& shape, Rank rank, const Layout& element) {
                return call_of(kCollective, shape, rank, root_in_place(shape, rank), Its::list(shape, element),
                               Its::own(shape, rank, element));
              }};
}

template <Collective kCollective, bool kEqual>
constexpr CollectiveModel allgather_model() {
  using Its = Blocks<kEqual>;
  return {.collective = kCollective,
          .has_in_place = true,
          .sent = Its::count,
          .received = [](const Shape& shape, Rank) { return Its::total(shape); },
          .is_in_place = [](const Shape& shape, Rank) { return shape.in_place; },
          .in_place_at = Its::first,
          .expected = [](const Shape& shape, const std::vector<Bytes>& sent,
                         Rank) { return std::optional(Its::together(shape, sent)); },
          .call =
              [](const Shape& shape, Rank rank, const Layout& element) {
                return call_of(kCollective, shape, rank, shape.in_place, Its::own(shape, rank, element),
                               Its::list(shape, element));
              }};
}

constexpr bool kEqual = true;
constexpr bool kUnequal = false;

constexpr CollectiveModel kModels[] = {
    gather_model<Collective::gather, kEqual>(),       gather_model<Collective::gatherv, kUnequal>(),
    scatter_model<Collective::scatter, kEqual>(),     scatter_model<Collective::scatterv, kUnequal>(),
    allgather_model<Collective::allgather, kEqual>(), allgather_model<Collective::allgatherv, kUnequal>()};

}  // namespace

std::span<const CollectiveModel> gather_models() { return kModels; }

}  // namespace fab::test
