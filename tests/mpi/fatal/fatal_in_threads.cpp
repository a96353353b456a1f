// Errors that are fatal, in several threads at the same moment: the job is aborted, and does not crash.
#include <fab/mpi.h>
#include <mpi.h>

#include <barrier>
#include <cstdio>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
  constexpr int kThreads = 8;
  int provided = MPI_THREAD_SINGLE;
  if (MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS || provided != MPI_THREAD_MULTIPLE)
    return 1;
  const int dims = 2;
  const int periodic = 1;
  std::vector<MPI_Comm> comms(kThreads);
  for (MPI_Comm& comm : comms)
    if (MPI_Cart_create(MPI_COMM_WORLD, 1, &dims, &periodic, 0, &comm) != MPI_SUCCESS) return 1;

  std::barrier together(kThreads);
  std::vector<std::jthread> threads;
  for (MPI_Comm comm : comms)
    threads.emplace_back([comm, &together] {
      char block = 0;
      together.arrive_and_wait();
      if (MPI_Neighbor_xchg(&block, -1, MPI_CHAR, &block, 1, MPI_CHAR, comm) != MPI_SUCCESS)
        std::puts("an error that is fatal came back");
    });
}
