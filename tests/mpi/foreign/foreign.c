/* Calls fab on a ring of one process, without its headers: as a program of another MPI, or of this one that another
 * launcher starts. */
#include <mpi.h>

int MPI_Neighbor_xchg(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
                      MPI_Datatype recvtype, MPI_Comm comm);

int main(int argc, char **argv) {
  int dims[1] = {1}, periods[1] = {1}, out[2] = {1, 2}, in[2] = {0, 0};
  MPI_Comm ring;
  MPI_Init(&argc, &argv);
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring);
  MPI_Neighbor_xchg(out, 1, MPI_INT, in, 1, MPI_INT, ring);
  MPI_Finalize();
  return 0;
}
