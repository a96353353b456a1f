#include "support/collective_case.h"

#include <fmt/core.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>
#include <thread>
#include <utility>

#include "apps/mpi_call.h"

namespace bench {
namespace {

using apps::check_mpi;
using Clock = std::chrono::steady_clock;

constexpr std::array kNames = {
    "barrier", "bcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall", "reduce_scatter_block",
    "scan"};
constexpr double kSpoiledValue = -1;
constexpr std::chrono::milliseconds kLate{2};

bool all_on_one_node(int ranks) {
  MPI_Comm node = MPI_COMM_NULL;
  int near = 0;
  check_mpi(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node), "MPI_Comm_split_type");
  check_mpi(MPI_Comm_size(node, &near), "MPI_Comm_size");
  check_mpi(MPI_Comm_free(&node), "MPI_Comm_free");
  return near == ranks;
}

std::span<double> doubles(std::byte* memory, std::size_t count) { return {reinterpret_cast<double*>(memory), count}; }

}  // namespace

const char* name_of(Collective collective) { return kNames[static_cast<std::size_t>(collective)]; }

const std::vector<Collective>& all_collectives() {
  static const std::vector<Collective> all = [] {
    std::vector<Collective> list;
    for (std::size_t i = 0; i < kNames.size(); ++i) list.push_back(static_cast<Collective>(i));
    return list;
  }();
  return all;
}

CollectiveCase::CollectiveCase(Collective collective, std::size_t bytes, MemoryKind memory, Roots roots, int thread)
    : collective_(collective),
      bytes_(bytes),
      thread_(thread),
      send_(allocate(memory, 1)),
      receive_(allocate(memory, 1)) {
  if (bytes % sizeof(double) != 0)
    throw std::runtime_error(
        fmt::format("{} of {} bytes: sizes are multiples of {}", name_of(collective), bytes, sizeof(double)));
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &ranks_), "MPI_Comm_size");
  if (roots == Roots::in_turns) roots_ = ranks_;
  shares_clock_ = collective == Collective::barrier && all_on_one_node(ranks_);
  send_ = allocate(memory, std::max<std::size_t>(1, sent_blocks() * bytes));
  receive_ = allocate(memory, std::max<std::size_t>(1, received_blocks() * bytes));
}

// Of each rank and place another, and so small that sums over all ranks are exact. The threads' values are shifted.
double CollectiveCase::value_at(int rank, std::size_t place) const {
  constexpr double kPlaces = 1 << 28;
  constexpr double kShift = 977;
  return (rank + 1) * kPlaces + static_cast<double>(place) + thread_ * kShift;
}

double CollectiveCase::sum(int ranks, std::size_t place) const {
  double total = 0;
  for (int rank = 0; rank < ranks; ++rank) total += value_at(rank, place);
  return total;
}

std::size_t CollectiveCase::sent_blocks() const {
  switch (collective_) {
    case Collective::scatter:
    case Collective::alltoall:
    case Collective::reduce_scatter_block:
      return static_cast<std::size_t>(ranks_);
    default:
      return 1;
  }
}

std::size_t CollectiveCase::received_blocks() const {
  switch (collective_) {
    case Collective::gather:
    case Collective::allgather:
    case Collective::alltoall:
      return static_cast<std::size_t>(ranks_);
    default:
      return 1;
  }
}

void CollectiveCase::fill() {
  const auto per_block = static_cast<std::size_t>(count());
  const std::span sent = doubles(send_.get(), sent_blocks() * per_block);
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = value_at(rank_, i);
  const std::span received = doubles(receive(), received_blocks() * per_block);
  std::ranges::fill(received, kSpoiledValue);
  if (collective_ == Collective::bcast) std::ranges::copy(sent, received.begin());
}

bool CollectiveCase::receives(int root) const {
  const bool only_root = collective_ == Collective::reduce || collective_ == Collective::gather;
  return rank_ == root || !only_root;
}

double CollectiveCase::expected(int root, std::size_t place) const {
  const auto per_block = static_cast<std::size_t>(count());
  const auto from = static_cast<int>(place / per_block);
  const std::size_t own = static_cast<std::size_t>(rank_) * per_block + place % per_block;
  switch (collective_) {
    case Collective::barrier:
      return kSpoiledValue;
    case Collective::bcast:
      return value_at(root, place);
    case Collective::reduce:
    case Collective::allreduce:
      return sum(ranks_, place);
    case Collective::gather:
    case Collective::allgather:
      return value_at(from, place % per_block);
    case Collective::scatter:
      return value_at(root, own);
    case Collective::alltoall:
      return value_at(from, own);
    case Collective::reduce_scatter_block:
      return sum(ranks_, own);
    case Collective::scan:
      return sum(rank_ + 1, place);
  }
  return kSpoiledValue;
}

void CollectiveCase::check(int root, const std::string& what) {
  if (!receives(root)) return;
  const std::span received = doubles(receive(), received_blocks() * static_cast<std::size_t>(count()));
  for (std::size_t i = 0; i < received.size(); ++i) {
    if (received[i] != expected(root, i))
      throw std::runtime_error(fmt::format("{} of {} bytes, root {}: element {} is {} and not {}", what, bytes_, root,
                                           i, received[i], expected(root, i)));
  }
}

void CollectiveCase::check_barrier(Time entered, Time left, const std::string& what) {
  const auto count_of = [](Time time) { return static_cast<long long>(time.time_since_epoch().count()); };
  long long last_entry = count_of(entered);
  long long first_exit = count_of(left);
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &last_entry, 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD), "MPI_Allreduce");
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &first_exit, 1, MPI_LONG_LONG, MPI_MIN, MPI_COMM_WORLD), "MPI_Allreduce");
  if (first_exit < last_entry)
    throw std::runtime_error(fmt::format("{}: a rank left it before another one came", what));
}

Calls CollectiveCase::noting_the_end(Calls calls) {
  return [this, calls = std::move(calls)](int count) {
    calls(count);
    ended_ = Clock::now();
  };
}

// The first thread that leaves a barrier must leave it after the last rank has come.
void CollectiveCase::try_out(std::deque<CollectiveCase>& of_threads, const std::function<void()>& call,
                             const std::string& what) {
  const CollectiveCase& first = of_threads.front();
  for (int turn = 0; turn < first.ranks_; ++turn) {
    const int root = first.next_root_;
    for (CollectiveCase& one : of_threads) {
      one.fill();
      one.ended_.reset();
    }
    meet();
    if (first.shares_clock_ && first.rank_ == root) std::this_thread::sleep_for(kLate);
    const Time entered = Clock::now();
    call();
    Time left = Clock::now();
    for (CollectiveCase& one : of_threads) {
      left = std::min(left, one.ended_.value_or(left));
      one.check(root, what);
    }
    if (first.shares_clock_) check_barrier(entered, left, what);
    meet();
  }
}

}  // namespace bench
