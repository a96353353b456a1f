// Calls before MPI_Init and after MPI_Finalize: MPI's own words end the program. Usage: outside before|after
#include <mpi.h>

#include <cstring>

int main(int argc, char** argv) {
  const bool before = argc > 1 && std::strcmp(argv[1], "before") == 0;
  if (before) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  if (!before) MPI_Barrier(MPI_COMM_WORLD);
  return 0;
}
