#include "unit/collectives/collective_model.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <ostream>

namespace fab::test {

namespace {

using collectives::BlockList;
using collectives::CollectiveCall;
using Shape = CollectiveShape;

/// x -> slope * x + offset, modulo 2^32.
struct Linear {
  std::uint32_t slope;
  std::uint32_t offset;
};

/// The lower rank's function is applied last.
Linear compose(const Linear& lower, const Linear& higher) {
  return {lower.slope * higher.slope, lower.slope * higher.offset + lower.offset};
}

Linear add(const Linear& a, const Linear& b) { return {a.slope + b.slope, a.offset + b.offset}; }

template <Linear (*kCombine)(const Linear&, const Linear&)>
void apply(void* context, const void* in, void* inout, std::size_t elements) {
  ++*static_cast<std::size_t*>(context);
  for (std::size_t i = 0; i < elements; ++i) {
    Linear lower;
    Linear higher;
    std::byte* place = static_cast<std::byte*>(inout) + i * sizeof(Linear);
    std::memcpy(&lower, static_cast<const std::byte*>(in) + i * sizeof(Linear), sizeof(lower));
    std::memcpy(&higher, place, sizeof(higher));
    const Linear result = kCombine(lower, higher);
    std::memcpy(place, &result, sizeof(result));
  }
}

std::uint64_t combine(const Shape& shape, std::uint64_t lower, std::uint64_t higher) {
  if (shape.combination == Combination::sum) return lower + higher;
  Linear a;
  Linear b;
  std::memcpy(&a, &lower, sizeof(a));
  std::memcpy(&b, &higher, sizeof(b));
  const Linear result = shape.combination == Combination::user_sum ? add(a, b) : compose(a, b);
  std::uint64_t bits;
  std::memcpy(&bits, &result, sizeof(bits));
  return bits;
}

std::size_t nothing(const Shape&, Rank) { return 0; }
std::size_t one_vector(const Shape& shape, Rank) { return shape.elements; }
bool never(const Shape&, Rank) { return false; }
bool everywhere(const Shape& shape, Rank) { return shape.in_place; }
std::size_t at_the_start(const Shape&, Rank) { return 0; }

constexpr CollectiveModel kBarrier{
    .collective = Collective::barrier,
    .moves = false,
    .sent = nothing,
    .received = nothing,
    .is_in_place = never,
    .in_place_at = at_the_start,
    .expected = [](const Shape&, const std::vector<Bytes>&, Rank) { return std::optional<Bytes>(); },
    .call = [](const Shape&, Rank, const Layout&) { return CollectiveCall{.collective = Collective::barrier}; }};

// The root's data lies in its receive buffer, as in a call in place.
constexpr CollectiveModel kBcast{
    .collective = Collective::bcast,
    .has_root = true,
    .sent = one_vector,
    .received = one_vector,
    .is_in_place = [](const Shape& shape, Rank rank) { return rank == shape.root; },
    .in_place_at = at_the_start,
    .expected = [](const Shape& shape, const std::vector<Bytes>& sent,
                   Rank) { return std::optional(sent.at(static_cast<std::size_t>(shape.root))); },
    .call =
        [](const Shape& shape, Rank, const Layout& element) {
          return CollectiveCall{.collective = Collective::bcast,
                                .root = shape.root,
                                .bytes = shape.elements * shape.element_bytes,
                                .recv = BlockList::regular(element, shape.elements, 1)};
        }};

template <Collective kCollective>
CollectiveCall reduction(const Shape& shape, bool in_place, const Layout& element) {
  return {.collective = kCollective,
          .root = shape.root,
          .in_place = in_place,
          .bytes = shape.elements * shape.element_bytes,
          .send = BlockList::regular(element, shape.elements, 1),
          .recv = BlockList::regular(element, shape.elements, 1),
          .operation = operator_of(shape)};
}

// Only some ranks use the form in place.
bool root_and_some(const Shape& shape, Rank rank) { return shape.in_place && (rank == shape.root || rank % 3 == 1); }

constexpr CollectiveModel kReduce{
    .collective = Collective::reduce,
    .has_root = true,
    .combines = true,
    .has_in_place = true,
    .sent = one_vector,
    .received = one_vector,
    .is_in_place = root_and_some,
    .in_place_at = at_the_start,
    .expected = [](const Shape& shape, const std::vector<Bytes>& sent,
                   Rank rank) { return rank == shape.root ? std::optional(combined(shape, sent)) : std::nullopt; },
    .call =
        [](const Shape& shape, Rank rank, const Layout& element) {
          return reduction<Collective::reduce>(shape, root_and_some(shape, rank), element);
        }};

constexpr CollectiveModel kAllreduce{
    .collective = Collective::allreduce,
    .combines = true,
    .has_in_place = true,
    .sent = one_vector,
    .received = one_vector,
    .is_in_place = everywhere,
    .in_place_at = at_the_start,
    .expected = [](const Shape& shape, const std::vector<Bytes>& sent,
                   Rank) { return std::optional(combined(shape, sent)); },
    .call = [](const Shape& shape, Rank,
               const Layout& element) { return reduction<Collective::allreduce>(shape, shape.in_place, element); }};

constexpr CollectiveModel kModels[] = {kBarrier, kBcast, kReduce, kAllreduce};

std::size_t user_calls = 0;

}  // namespace

void PrintTo(const CollectiveShape& shape, std::ostream* out) {
  constexpr const char* kNames[] = {"sum", "user sum", "user composition"};
  *out << shape.ranks << " ranks, root " << shape.root << ", " << shape.elements << " elements of "
       << shape.element_bytes << " B, " << kNames[static_cast<std::size_t>(shape.combination)]
       << (shape.in_place ? ", in place" : "") << (shape.scattered ? ", scattered" : "");
}

const CollectiveModel& model_of(Collective collective) {
  for (const std::span<const CollectiveModel> models :
       {std::span<const CollectiveModel>(kModels), gather_models(), exchange_models()})
    for (const CollectiveModel& model : models)
      if (model.collective == collective) return model;
  throw std::logic_error("no model of " + std::string(to_string(collective)));
}

Operator operator_of(const CollectiveShape& shape) {
  switch (shape.combination) {
    case Combination::sum:
      return Operator::of<std::uint64_t>(ReduceOp::sum);
    case Combination::user_sum:
      return Operator::of(UserReduction{apply<add>, &user_calls}, sizeof(Linear), true);
    default:
      return Operator::of(UserReduction{apply<compose>, &user_calls}, sizeof(Linear), false);
  }
}

Bytes combined(const CollectiveShape& shape, const std::vector<Bytes>& sent) {
  Bytes result = sent.back();
  for (std::size_t rank = sent.size() - 1; rank-- > 0;) {
    for (std::size_t at = 0; at < result.size(); at += sizeof(std::uint64_t)) {
      std::uint64_t lower;
      std::uint64_t higher;
      std::memcpy(&lower, &sent[rank][at], sizeof(lower));
      std::memcpy(&higher, &result[at], sizeof(higher));
      const std::uint64_t value = combine(shape, lower, higher);
      std::memcpy(&result[at], &value, sizeof(value));
    }
  }
  return result;
}

}  // namespace fab::test
