#include "collectives/calls/gather_calls.h"

#include <fmt/core.h>

#include "fab/error.h"

namespace fab::collectives {

namespace {

bool is_allgather(Collective collective) {
  return collective == Collective::allgather || collective == Collective::allgatherv;
}

bool is_scatter(Collective collective) {
  return collective == Collective::scatter || collective == Collective::scatterv;
}

void check(const GatherArguments& its, const BlockList& all, const BlockList& own) {
  if (all.size() != static_cast<std::size_t>(its.ranks))
    throw Error(Errc::invalid_argument, fmt::format("{}: {} blocks; the communicator has {} ranks",
                                                    to_string(its.collective), all.size(), its.ranks));
  if (its.in_place) return;
  const std::size_t place = all.bytes(static_cast<std::size_t>(its.rank));
  if (own.bytes(0) != place)
    throw Error(Errc::invalid_count,
                fmt::format("{}: rank {}'s own block has {} bytes, but {} bytes among the blocks of all ranks",
                            to_string(its.collective), its.rank, own.bytes(0), place));
}

std::size_t bytes_of(Collective collective, const BlockList& of_equal, const BlockList& all) {
  switch (collective) {
    case Collective::gatherv:
    case Collective::scatterv:
      return kUnknownBytes;
    case Collective::allgatherv: {
      std::size_t bytes = 0;
      for (std::size_t i = 0; i < all.size(); ++i) bytes += all.bytes(i);
      return bytes;
    }
    default:
      return of_equal.bytes(0);
  }
}

}  // namespace

CollectiveCall gather_call(const GatherArguments& its) {
  const bool scatters = is_scatter(its.collective);
  const BlockList& all = scatters ? its.send : its.recv;
  const BlockList& own = scatters ? its.recv : its.send;
  const bool listed = is_allgather(its.collective) || its.rank == its.root;
  if (listed)
    check(its, all, own);
  else if (its.in_place)
    throw Error(Errc::invalid_argument,
                fmt::format("{}: in place on rank {}; only the root, rank {}, can call in place",
                            to_string(its.collective), its.rank, its.root));
  CollectiveCall call{.collective = its.collective,
                      .rank = its.rank,
                      .ranks = its.ranks,
                      .root = its.root,
                      .in_place = its.in_place,
                      .bytes = bytes_of(its.collective, listed ? all : own, all)};
  if (listed) (scatters ? call.send : call.recv) = all;
  if (!its.in_place) (scatters ? call.recv : call.send) = own;
  return call;
}

}  // namespace fab::collectives
