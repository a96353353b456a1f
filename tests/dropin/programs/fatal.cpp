// A wrong argument where errors are fatal: MPI's own words end the program.
#include <mpi.h>

int main(int argc, char** argv) {
  int sum = 0;
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 10; ++i) MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
