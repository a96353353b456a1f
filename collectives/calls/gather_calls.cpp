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

void check(const CollectiveCall& call, const BlockList& all, const BlockList& own) {
  if (all.size() != static_cast<std::size_t>(call.ranks))
    throw Error(Errc::invalid_argument, fmt::format("{}: {} blocks; the communicator has {} ranks",
                                                    to_string(call.collective), all.size(), call.ranks));
  if (call.in_place) return;
  const std::size_t place = all[static_cast<std::size_t>(call.rank)].bytes();
  if (own[0].bytes() != place)
    throw Error(Errc::invalid_count,
                fmt::format("{}: rank {}'s own block has {} bytes, but {} bytes among the blocks of all ranks",
                            to_string(call.collective), call.rank, own[0].bytes(), place));
}

/// `listed`: this rank has the blocks of all ranks.
std::size_t bytes_of(const CollectiveCall& call, const BlockList& all, const BlockList& own, bool listed) {
  switch (call.collective) {
    case Collective::gatherv:
    case Collective::scatterv:
      return kUnknownBytes;
    case Collective::allgatherv: {
      std::size_t bytes = 0;
      for (std::size_t i = 0; i < all.size(); ++i) bytes += all[i].bytes();
      return bytes;
    }
    default:
      return (listed ? all : own)[0].bytes();
  }
}

}  // namespace

CollectiveCall gather_call(CollectiveCall call) {
  BlockList& all = is_scatter(call.collective) ? call.send : call.recv;
  BlockList& own = is_scatter(call.collective) ? call.recv : call.send;
  const bool listed = is_allgather(call.collective) || call.rank == call.root;
  if (listed) {
    check(call, all, own);
    if (call.in_place) own = {};
  } else {
    if (call.in_place)
      throw Error(Errc::invalid_argument,
                  fmt::format("{}: in place on rank {}; only the root, rank {}, can call in place",
                              to_string(call.collective), call.rank, call.root));
    all = {};
  }
  call.bytes = bytes_of(call, all, own, listed);
  return call;
}

}  // namespace fab::collectives
