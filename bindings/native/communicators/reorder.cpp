#include "bindings/native/communicators/reorder.h"

#include <algorithm>
#include <exception>
#include <map>
#include <numeric>
#include <utility>

#include "bindings/native/base/access.h"
#include "bindings/native/communicators/broadcast.h"
#include "collectives/calls/buffers.h"
#include "collectives/gather/binary.h"
#include "core/context.h"
#include "fab/request.h"

namespace fab {

namespace {

using Parent = std::shared_ptr<core::Communicator>;
using Word = std::int64_t;

/// The nodes of the first ranks; empty where they are not known.
std::vector<int> nodes_of(const Parent& parent, int ranks) {
  const std::vector<int> of_job = parent->context().nodes();
  std::vector<int> nodes;
  if (of_job.empty()) return nodes;
  for (Rank rank = 0; rank < ranks; ++rank) nodes.push_back(of_job[static_cast<std::size_t>(parent->world_rank(rank))]);
  return nodes;
}

std::vector<Rank> choose_ranks(const Parent& parent, int places,
                               const std::function<Mapping(std::span<const int>)>& map) {
  std::vector<Rank> ranks(static_cast<std::size_t>(places));
  std::iota(ranks.begin(), ranks.end(), 0);
  const Log& log = parent->context().log();
  try {
    const std::vector<int> nodes = nodes_of(parent, places);
    if (nodes.empty()) {
      log.write(LogLevel::info, "ranks are not reordered: the launcher does not tell which of them share a node");
      return ranks;
    }
    const Mapping mapping = map(nodes);
    std::copy(mapping.ranks().begin(), mapping.ranks().end(), ranks.begin());
    Rank place = 0;
    const auto moved = std::count_if(ranks.begin(), ranks.end(), [&](Rank rank) { return rank != place++; });
    log.write(LogLevel::info, "reordering moves {} of {} ranks", moved, places);
  } catch (const std::exception& error) {
    // The other ranks wait for an answer.
    log.write(LogLevel::warn, "ranks are not reordered: {}", error.what());
  }
  return ranks;
}

/// Waits for a gather of parts of `bytes` words; `buffer` begins with the own part.
void gather(const Parent& parent, std::vector<Word>& buffer, const std::function<std::size_t(Rank)>& words) {
  const auto bytes = [&](Rank rank) { return words(rank) * sizeof(Word); };
  std::size_t total = 0;
  for (const Rank rank : collectives::gathered_ranks(parent->rank(), parent->size())) total += words(rank);
  buffer.resize(total);
  const auto bases = collectives::buffers(nullptr, buffer.data());
  Request request;
  {
    const core::Lock lock(parent->engine());
    auto plan = std::make_unique<core::RunPool>(
        *parent, collectives::build_gather_binary(parent->rank(), parent->size(), bytes));
    request = Access::request(parent, parent->start(std::move(plan), bases));
  }
  request.wait();
}

/// On rank 0 the parts of all ranks, by rank; elsewhere nothing.
std::vector<std::vector<Word>> gather_parts(const Parent& parent, std::vector<Word> part) {
  const std::vector<Rank> order = collectives::gathered_ranks(parent->rank(), parent->size());
  std::vector<Word> sizes{static_cast<Word>(part.size())};
  gather(parent, sizes, [](Rank) { return 1; });
  std::map<Rank, std::size_t> words;
  for (std::size_t i = 0; i < order.size(); ++i) words[order[i]] = static_cast<std::size_t>(sizes[i]);
  gather(parent, part, [&](Rank rank) { return words.at(rank); });
  std::vector<std::vector<Word>> parts;
  if (parent->rank() != 0) return parts;
  parts.resize(order.size());
  auto next = part.begin();
  for (const Rank rank : order) {
    const auto end = next + static_cast<std::ptrdiff_t>(words[rank]);
    parts[static_cast<std::size_t>(rank)].assign(next, end);
    next = end;
  }
  return parts;
}

std::vector<Word> to_words(const PlaceEdges& edges) {
  std::vector<Word> words{static_cast<Word>(edges.sources.size()), static_cast<Word>(edges.destinations.size())};
  words.insert(words.end(), edges.sources.begin(), edges.sources.end());
  words.insert(words.end(), edges.destinations.begin(), edges.destinations.end());
  words.insert(words.end(), edges.weights.begin(), edges.weights.end());
  return words;
}

PlaceEdges from_words(std::span<const Word> words) {
  const auto sources = static_cast<std::size_t>(words[0]);
  const auto destinations = static_cast<std::size_t>(words[1]);
  const std::span<const Word> lists = words.subspan(2);
  PlaceEdges edges;
  for (const Word rank : lists.first(sources)) edges.sources.push_back(static_cast<int>(rank));
  for (const Word rank : lists.subspan(sources, destinations)) edges.destinations.push_back(static_cast<int>(rank));
  const std::span<const Word> weights = lists.subspan(sources + destinations);
  edges.weights.assign(weights.begin(), weights.end());
  return edges;
}

/// What all places send; where some give weights and others do not, those of the others are 1.
Traffic traffic_of(const std::vector<std::vector<Word>>& parts) {
  std::vector<std::int64_t> ends;
  std::vector<int> targets;
  std::vector<std::int64_t> weights;
  for (const std::vector<Word>& part : parts) {
    const PlaceEdges edges = from_words(part);
    targets.insert(targets.end(), edges.destinations.begin(), edges.destinations.end());
    weights.insert(weights.end(), edges.weights.begin(), edges.weights.end());
    weights.resize(targets.size(), 1);
    ends.push_back(static_cast<std::int64_t>(targets.size()));
  }
  return {std::move(ends), std::move(targets), std::move(weights)};
}

/// All parts in a row, behind the end of each: on all ranks what they are on rank 0.
std::vector<Word> broadcast_parts(const Parent& parent, const std::vector<std::vector<Word>>& parts) {
  std::vector<Word> all;
  Word end = parent->size();
  for (const std::vector<Word>& part : parts) all.push_back(end += static_cast<Word>(part.size()));
  for (const std::vector<Word>& part : parts) all.insert(all.end(), part.begin(), part.end());
  Word words = static_cast<Word>(all.size());
  broadcast(parent, &words, sizeof(words));
  all.resize(static_cast<std::size_t>(words));
  broadcast(parent, all.data(), all.size() * sizeof(Word));
  return all;
}

}  // namespace

std::vector<Rank> agree_on_ranks(const Parent& parent, int places,
                                 const std::function<Mapping(std::span<const int>)>& map) {
  std::vector<Rank> ranks(static_cast<std::size_t>(places));
  if (parent->rank() == 0) ranks = choose_ranks(parent, places, map);
  broadcast(parent, ranks.data(), ranks.size() * sizeof(Rank));
  return ranks;
}

DistributedPlaces agree_on_ranks(const Parent& parent, const PlaceEdges& edges) {
  const std::vector<std::vector<Word>> parts = gather_parts(parent, to_words(edges));
  DistributedPlaces result;
  result.ranks = agree_on_ranks(
      parent, parent->size(), [&](std::span<const int> nodes) { return Mapping::partition(traffic_of(parts), nodes); });
  const std::vector<Word> all = broadcast_parts(parent, parts);
  const auto place = static_cast<std::size_t>(std::find(result.ranks.begin(), result.ranks.end(), parent->rank()) -
                                              result.ranks.begin());
  const Word first = place == 0 ? static_cast<Word>(result.ranks.size()) : all[place - 1];
  result.edges =
      from_words(std::span(all).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(all[place] - first)));
  return result;
}

}  // namespace fab
