#include "support/neighbors.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <exception>
#include <new>
#include <span>
#include <stdexcept>

#include "apps/mpi_call.h"
#include "fab/mpi.h"

namespace bench {
namespace {

using apps::check_mpi;

constexpr std::size_t kPageBytes = 4096;
constexpr std::byte kSpoiled{0xdb};

MPI_Comm make_ring(int ranks) {
  const std::array<int, 1> dims{ranks};
  const std::array<int, 1> periodic{1};
  MPI_Comm comm = MPI_COMM_NULL;
  check_mpi(MPI_Cart_create(MPI_COMM_WORLD, 1, dims.data(), periodic.data(), 0, &comm), "MPI_Cart_create");
  return comm;
}

MPI_Comm make_pairs(int rank, int ranks) {
  if (ranks % 2 != 0) throw std::runtime_error(fmt::format("--pattern pair: {} ranks cannot be paired", ranks));
  const int partner = rank ^ 1;
  MPI_Comm comm = MPI_COMM_NULL;
  check_mpi(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &partner, MPI_UNWEIGHTED, 1, &partner, MPI_UNWEIGHTED,
                                           MPI_INFO_NULL, 0, &comm),
            "MPI_Dist_graph_create_adjacent");
  return comm;
}

std::byte* allocate_pages(std::size_t bytes) {
  return static_cast<std::byte*>(::operator new(bytes, std::align_val_t(kPageBytes)));
}

void free_pages(std::byte* pages) { ::operator delete(pages, std::align_val_t(kPageBytes)); }

// Scattered, so that neither a block nor a shifted one can pass for another.
std::byte content(int rank, int block, std::size_t place) {
  std::uint64_t word = (static_cast<std::uint64_t>(rank) << 40) + (static_cast<std::uint64_t>(block) << 32) + place + 1;
  word *= 0x9e3779b97f4a7c15u;
  return static_cast<std::byte>(word >> 56);
}

}  // namespace

const char* name_of(Pattern pattern) { return pattern == Pattern::ring ? "ring" : "pair"; }

Neighbors::Neighbors(Pattern pattern) : pattern_(pattern) {
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &ranks_), "MPI_Comm_size");
  comm_ = pattern == Pattern::ring ? make_ring(ranks_) : make_pairs(rank_, ranks_);
}

// An exception on its way ends the job, and an exchange may be left on the communicator.
Neighbors::~Neighbors() {
  if (std::uncaught_exceptions() > 0) return;
  if (MPI_Comm_free(&comm_) != MPI_SUCCESS) fmt::print(stderr, "MPI_Comm_free failed\n");
}

int Neighbors::neighbor(int block, Order order) const {
  if (pattern_ == Pattern::pair) return rank_ ^ 1;
  const bool positive = (block == 0) == (order == Order::fab);
  return (rank_ + (positive ? 1 : ranks_ - 1)) % ranks_;
}

Exchange::Exchange(const Neighbors& neighbors, std::size_t bytes_per_neighbor)
    : neighbors_(neighbors),
      bytes_(bytes_per_neighbor),
      count_(static_cast<int>(bytes_per_neighbor)),
      send_(allocate_pages(bytes_ * static_cast<std::size_t>(neighbors.count()))),
      receive_(allocate_pages(bytes_ * static_cast<std::size_t>(neighbors.count()))) {
  fill();
}

Exchange::~Exchange() {
  free_pages(send_);
  free_pages(receive_);
}

void Exchange::fab() {
  check_mpi(MPI_Neighbor_xchg(send_, count_, MPI_BYTE, receive_, count_, MPI_BYTE, neighbors_.comm()),
            "MPI_Neighbor_xchg");
}

void Exchange::mpi() {
  check_mpi(MPI_Neighbor_alltoall(send_, count_, MPI_BYTE, receive_, count_, MPI_BYTE, neighbors_.comm()),
            "MPI_Neighbor_alltoall");
}

MPI_Request Exchange::start_fab() {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ineighbor_xchg(send_, count_, MPI_BYTE, receive_, count_, MPI_BYTE, neighbors_.comm(), &request),
            "MPI_Ineighbor_xchg");
  return request;
}

MPI_Request Exchange::start_mpi() {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ineighbor_alltoall(send_, count_, MPI_BYTE, receive_, count_, MPI_BYTE, neighbors_.comm(), &request),
            "MPI_Ineighbor_alltoall");
  return request;
}

void Exchange::fill() {
  for (int block = 0; block < neighbors_.count(); ++block) {
    const std::size_t begin = static_cast<std::size_t>(block) * bytes_;
    for (std::size_t i = 0; i < bytes_; ++i) {
      send_[begin + i] = content(neighbors_.rank(), block, i);
      receive_[begin + i] = kSpoiled;
    }
  }
}

// What leaves in one direction arrives in the block of the other direction: a ring's blocks change places.
void Exchange::check(Order order, const char* what) const {
  for (int block = 0; block < neighbors_.count(); ++block) {
    const int sender = neighbors_.neighbor(block, order);
    const int sent_block = neighbors_.count() - 1 - block;
    const std::span arrived(receive_ + static_cast<std::size_t>(block) * bytes_, bytes_);
    for (std::size_t i = 0; i < bytes_; ++i) {
      if (arrived[i] != content(sender, sent_block, i))
        throw std::runtime_error(
            fmt::format("{} of {} bytes per neighbour: byte {} of block {} (from rank {}) is wrong", what, bytes_, i,
                        block, sender));
    }
  }
}

void wait(MPI_Request request) {
  // Made elsewhere, out of the analyzer's sight.
  check_mpi(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");  // NOLINT(clang-analyzer-optin.mpi.MPI-Checker)
}

}  // namespace bench
