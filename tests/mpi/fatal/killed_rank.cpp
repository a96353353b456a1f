// A rank of a ring is killed in the middle of an exchange; the others go on until they get an error, which MPI returns.
// Usage: fab_mpi_killed_rank nonblocking | persistent DIRECTORY
// Each survivor leaves a file in the directory and ends when all have: none learns of the death by the end of another
// survivor.
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "fab/mpi.h"

namespace {

constexpr int kRanks = 4;
constexpr int kVictim = 3;
constexpr int kFatalStep = 3;
constexpr int kSteps = 16;
constexpr int kCount = 1000;

class Ring {
 public:
  Ring() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    const std::array<int, 2> neighbors{(rank_ + kRanks - 1) % kRanks, (rank_ + 1) % kRanks};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, neighbors.data(), MPI_UNWEIGHTED, 2, neighbors.data(),
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  }

  [[nodiscard]] int rank() const { return rank_; }
  /// The first error; MPI_SUCCESS if there was none.
  int run(bool persistent) {
    if (persistent)
      MPI_Neighbor_xchg_init(out_.data(), kCount, MPI_INT, in_.data(), kCount, MPI_INT, comm_, MPI_INFO_NULL,
                             &request_);
    for (int step = 0; step < kSteps; ++step) {
      const int started =
          persistent ? MPI_Start(&request_)
                     : MPI_Ineighbor_xchg(out_.data(), kCount, MPI_INT, in_.data(), kCount, MPI_INT, comm_, &request_);
      if (started != MPI_SUCCESS) return started;
      if (rank_ == kVictim && step == kFatalStep) ::raise(SIGKILL);
      if (const int ended = MPI_Wait(&request_, MPI_STATUS_IGNORE); ended != MPI_SUCCESS) return ended;
    }
    return MPI_SUCCESS;
  }

 private:
  int rank_ = 0;
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Request request_ = MPI_REQUEST_NULL;
  std::vector<int> out_ = std::vector<int>(std::size_t{2} * kCount);
  std::vector<int> in_ = std::vector<int>(std::size_t{2} * kCount);
};

void wait_for_survivors(const std::string& directory, int rank) {
  std::ofstream(directory + "/" + std::to_string(rank)).put('.');
  for (int rest = 0; rest < kRanks; ++rest)
    while (rest != kVictim && !std::filesystem::exists(directory + "/" + std::to_string(rest))) ::usleep(10'000);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  MPI_Init(&argc, &argv);
  Ring ring;
  const int code = ring.run(std::string(argv[1]) == "persistent");
  std::printf("survivor %d: error %d\n", ring.rank(), code);
  std::fflush(stdout);
  wait_for_survivors(argv[2], ring.rank());
  ::_exit(code == MPI_SUCCESS ? 1 : 0);
}
