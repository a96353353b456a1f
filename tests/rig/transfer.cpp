// Is the rig what it claims? Two ranks must be on hosts of different names, and the link must let no transfer through
// faster than its rate, and no message sooner than its delay. How close they come to these depends on what else the
// processors do: it is printed.
// Usage: fab_rig_transfer RATE_MBIT_PER_S [DELAY_US]
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

constexpr double kSeconds = 0.5;  // one transfer at the full rate

void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "%s\n", what);
  MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

void require_two_hosts() {
  using Name = std::array<char, MPI_MAX_PROCESSOR_NAME>;
  Name mine{};
  int length = 0;
  MPI_Get_processor_name(mine.data(), &length);
  std::array<Name, 2> names{};
  MPI_Allgather(mine.data(), static_cast<int>(mine.size()), MPI_CHAR, names.data(), static_cast<int>(mine.size()),
                MPI_CHAR, MPI_COMM_WORLD);
  require(std::strcmp(names[0].data(), names[1].data()) != 0, "both ranks are on one host");
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int ranks_here = 0;
  MPI_Comm_size(node, &ranks_here);
  MPI_Comm_free(&node);
  require(ranks_here == 1, "the launcher takes the two hosts for one");
}

// One direction only: Open MPI's own Sendrecv fills one direction after the other in some runs.
double measured_mbit_per_s(std::size_t bytes, int rank, int sender) {
  std::vector<char> data(bytes, rank == sender ? 'x' : ' ');
  const auto count = static_cast<int>(bytes);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start_s = MPI_Wtime();
  if (rank == sender) {
    MPI_Send(data.data(), count, MPI_CHAR, 1 - sender, 0, MPI_COMM_WORLD);
  } else {
    MPI_Recv(data.data(), count, MPI_CHAR, sender, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = MPI_Wtime() - start_s;
  require(data == std::vector<char>(bytes, 'x'), "the data arrived damaged");
  return 8e-6 * static_cast<double>(bytes) / seconds;
}

/// The fastest of some.
double round_trip_us(int rank) {
  double least_us = 1e9;
  for (int trip = 0; trip < 20; ++trip) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start_s = MPI_Wtime();
    char byte = 0;
    if (rank == 0) MPI_Send(&byte, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(&byte, 1, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(&byte, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    least_us = std::min(least_us, 1e6 * (MPI_Wtime() - start_s));
  }
  return least_us;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  require((argc == 2 || argc == 3) && size == 2, "usage: two ranks, the rate in Mbit/s, the delay in us");
  require_two_hosts();
  const double rate_mbit_per_s = std::atof(argv[1]);
  const auto bytes = static_cast<std::size_t>(rate_mbit_per_s * 1e6 / 8 * kSeconds);
  for (const int sender : {0, 1}) {
    const double measured = measured_mbit_per_s(bytes, rank, sender);
    if (rank == 0) std::printf("from rank %d: %.0f of %.0f Mbit/s\n", sender, measured, rate_mbit_per_s);
    require(measured < rate_mbit_per_s, "the link is faster than its rate");
  }
  const double delay_us = argc == 3 ? std::atof(argv[2]) : 0;
  const double trip_us = round_trip_us(rank);
  if (rank == 0) {
    std::printf("there and back: %.0f us, of which %.0f are the delay\n", trip_us, 2 * delay_us);
    require(trip_us >= 2 * delay_us, "the link is faster than its delay");
  }
  MPI_Finalize();
  return EXIT_SUCCESS;
}
