#include "bindings/mpi/bootstrap/world_job.h"

#include <algorithm>
#include <array>
#include <string>

#include "bindings/mpi/base/failure.h"
#include "bindings/mpi/base/group.h"
#include "bindings/mpi/interception/next.h"
#include "core/base/processors.h"

namespace fab::mpi {

namespace {

constexpr int kMostOtherNodes = 8;  ///< whose names a rank keeps
using ProcessorName = std::array<char, MPI_MAX_PROCESSOR_NAME>;

/// A part of a communicator, freed with this object. MPI_COMM_NULL for the ranks of no part.
class Part {
 public:
  Part() = default;
  ~Part() {
    if (comm_ != MPI_COMM_NULL && PMPI_Comm_free(&comm_) != MPI_SUCCESS)
      log_error("MPI_Init", "cannot free a communicator");
  }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  [[nodiscard]] MPI_Comm* address() noexcept { return &comm_; }
  [[nodiscard]] MPI_Comm comm() const noexcept { return comm_; }
  [[nodiscard]] int rank() const {
    int rank = 0;
    require(PMPI_Comm_rank(comm_, &rank), "MPI_Comm_rank");
    return rank;
  }
  [[nodiscard]] int size() const {
    int size = 0;
    require(PMPI_Comm_size(comm_, &size), "MPI_Comm_size");
    return size;
  }
  /// The communicator's ranks in `whole`.
  [[nodiscard]] std::vector<Rank> ranks_in(MPI_Comm whole) const;

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

std::vector<Rank> Part::ranks_in(MPI_Comm whole) const {
  std::vector<Rank> ranks = Group(comm_).ranks_in(Group(whole));
  std::ranges::sort(ranks);
  return ranks;
}

/// One rank of each node, in the order of nodes.
struct Nodes {
  int mine = 0;  ///< the number of this one
  int count = 1;
  std::vector<std::string> others;
};

/// Those of the nodes that follow this one.
std::vector<std::string> names_of_others(const Part& leaders) {
  ProcessorName own{};
  int length = 0;
  require(PMPI_Get_processor_name(own.data(), &length), "MPI_Get_processor_name");
  std::vector<std::string> names;
  const int count = leaders.size();
  for (int distance = 1; distance < count && distance <= kMostOtherNodes; ++distance) {
    ProcessorName other{};
    const int before = (leaders.rank() + count - distance) % count;
    const int behind = (leaders.rank() + distance) % count;
    require(PMPI_Sendrecv(own.data(), MPI_MAX_PROCESSOR_NAME, MPI_CHAR, before, 0, other.data(), MPI_MAX_PROCESSOR_NAME,
                          MPI_CHAR, behind, 0, leaders.comm(), MPI_STATUS_IGNORE),
            "MPI_Sendrecv");
    names.emplace_back(other.data());
  }
  return names;
}

void broadcast(void* data, int count, MPI_Datatype type, MPI_Comm comm) {
  require(next_bcast(data, count, type, 0, comm), "MPI_Bcast");
}

/// Collective over a node. Only its first rank has them before.
void share_within(Nodes& nodes, MPI_Comm node) {
  std::array<int, 3> numbers{nodes.mine, nodes.count, static_cast<int>(nodes.others.size())};
  broadcast(numbers.data(), static_cast<int>(numbers.size()), MPI_INT, node);
  nodes.mine = numbers[0];
  nodes.count = numbers[1];
  nodes.others.resize(static_cast<std::size_t>(numbers[2]));
  for (std::string& name : nodes.others) {
    name.resize(MPI_MAX_PROCESSOR_NAME);
    broadcast(name.data(), MPI_MAX_PROCESSOR_NAME, MPI_CHAR, node);
    name.resize(std::min(name.size(), name.find('\0')));
  }
}

Nodes read_nodes(MPI_Comm world, int rank, const Part& node) {
  const bool leads = node.rank() == 0;
  Part leaders;
  require(PMPI_Comm_split(world, leads ? 0 : MPI_UNDEFINED, rank, leaders.address()), "MPI_Comm_split");
  Nodes nodes;
  if (leads) nodes = {leaders.rank(), leaders.size(), names_of_others(leaders)};
  share_within(nodes, node.comm());
  return nodes;
}

template <std::size_t Count>
void all_least(std::array<int, Count>& numbers, MPI_Comm world) {
  require(next_allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(Count), MPI_INT, MPI_MIN, world),
          "MPI_Allreduce");
}

NodeOrder read_order(MPI_Comm world, int rank, int local_size, const Nodes& nodes) {
  std::array<int, 1> most{-local_size};
  all_least(most, world);
  const int per_node = -most[0];
  std::array<int, 2> holds{nodes.mine == rank / per_node ? 1 : 0, nodes.mine == rank % nodes.count ? 1 : 0};
  all_least(holds, world);
  const NodeOrder::Kind kind = holds[0] != 0   ? NodeOrder::Kind::blocks
                               : holds[1] != 0 ? NodeOrder::Kind::cyclic
                                               : NodeOrder::Kind::other;
  return {kind, per_node, nodes.count};
}

}  // namespace

std::vector<int> NodeOrder::list(int size) const {
  if (kind == Kind::other) return {};
  std::vector<int> node_of(static_cast<std::size_t>(size));
  for (int rank = 0; rank < size; ++rank)
    node_of[static_cast<std::size_t>(rank)] = kind == Kind::blocks ? rank / per_node : rank % nodes;
  return node_of;
}

WorldJob read_world_job(MPI_Comm world) {
  WorldJob read;
  JobInfo& job = read.job;
  require(PMPI_Comm_rank(world, &job.rank), "MPI_Comm_rank");
  require(PMPI_Comm_size(world, &job.size), "MPI_Comm_size");
  job.processors = core::count_processors().online;
  job.origin = "MPI_COMM_WORLD";
  Part node;
  require(PMPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, job.rank, MPI_INFO_NULL, node.address()),
          "MPI_Comm_split_type");
  job.node_ranks = node.ranks_in(world);
  job.local_size = static_cast<int>(job.node_ranks.size());
  read.order = {NodeOrder::Kind::blocks, job.local_size, 1};
  if (job.local_size == job.size) return read;
  Nodes nodes = read_nodes(world, job.rank, node);
  job.node_count = nodes.count;
  job.other_nodes = std::move(nodes.others);
  read.order = read_order(world, job.rank, job.local_size, nodes);
  return read;
}

}  // namespace fab::mpi
