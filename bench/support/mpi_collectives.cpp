#include "support/mpi_collectives.h"

#include <fmt/core.h>
#include <mpi.h>

#include "apps/mpi_call.h"

namespace bench {
namespace {

using apps::check_mpi;

int call(CollectiveCase& one, MPI_Comm comm) {
  const void* const send = one.send();
  void* const receive = one.receive();
  const int count = one.count();
  const int root = one.take_root();
  const MPI_Datatype type = MPI_DOUBLE;
  switch (one.collective()) {
    case Collective::barrier:
      return MPI_Barrier(comm);
    case Collective::bcast:
      return MPI_Bcast(receive, count, type, root, comm);
    case Collective::reduce:
      return MPI_Reduce(send, receive, count, type, MPI_SUM, root, comm);
    case Collective::allreduce:
      return MPI_Allreduce(send, receive, count, type, MPI_SUM, comm);
    case Collective::gather:
      return MPI_Gather(send, count, type, receive, count, type, root, comm);
    case Collective::scatter:
      return MPI_Scatter(send, count, type, receive, count, type, root, comm);
    case Collective::allgather:
      return MPI_Allgather(send, count, type, receive, count, type, comm);
    case Collective::alltoall:
      return MPI_Alltoall(send, count, type, receive, count, type, comm);
    case Collective::reduce_scatter_block:
      return MPI_Reduce_scatter_block(send, receive, count, type, MPI_SUM, comm);
    case Collective::scan:
      return MPI_Scan(send, receive, count, type, MPI_SUM, comm);
  }
  return MPI_ERR_ARG;
}

int begin(CollectiveCase& one, MPI_Comm comm, MPI_Request& request) {
  const void* const send = one.send();
  void* const receive = one.receive();
  const int count = one.count();
  const int root = one.take_root();
  const MPI_Datatype type = MPI_DOUBLE;
  switch (one.collective()) {
    case Collective::barrier:
      return MPI_Ibarrier(comm, &request);
    case Collective::bcast:
      return MPI_Ibcast(receive, count, type, root, comm, &request);
    case Collective::reduce:
      return MPI_Ireduce(send, receive, count, type, MPI_SUM, root, comm, &request);
    case Collective::allreduce:
      return MPI_Iallreduce(send, receive, count, type, MPI_SUM, comm, &request);
    case Collective::gather:
      return MPI_Igather(send, count, type, receive, count, type, root, comm, &request);
    case Collective::scatter:
      return MPI_Iscatter(send, count, type, receive, count, type, root, comm, &request);
    case Collective::allgather:
      return MPI_Iallgather(send, count, type, receive, count, type, comm, &request);
    case Collective::alltoall:
      return MPI_Ialltoall(send, count, type, receive, count, type, comm, &request);
    case Collective::reduce_scatter_block:
      return MPI_Ireduce_scatter_block(send, receive, count, type, MPI_SUM, comm, &request);
    case Collective::scan:
      return MPI_Iscan(send, receive, count, type, MPI_SUM, comm, &request);
  }
  return MPI_ERR_ARG;
}

MPI_Request begin(CollectiveCase& one, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(begin(one, comm, request), name_of(one.collective()));
  return request;
}

// The PMPI_ function is what programs call that do not use fab: its binding stands in for the other.
void wait_in_mpi(MPI_Request& request) { check_mpi(PMPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait"); }

std::string mpi_name(const char* prefix, const std::string& rest) { return fmt::format("MPI_{}{}", prefix, rest); }

}  // namespace

NonblockingCall mpi_nonblocking(CollectiveCase& one) {
  return in_halves(
      "MPI", mpi_name("I", name_of(one.collective())), [&one] { return begin(one, MPI_COMM_WORLD); },
      [](MPI_Request& request) { wait_in_mpi(request); });
}

std::vector<Contestant> mpi_collectives(CollectiveCase& one, MPI_Comm comm) {
  std::string name = name_of(one.collective());
  const std::string nonblocking = mpi_name("I", name) + " + MPI_Wait";
  name.front() = static_cast<char>(std::toupper(name.front()));
  const auto make_call = [&one, comm] { check_mpi(call(one, comm), name_of(one.collective())); };
  const auto start_and_wait = [&one, comm] {
    MPI_Request request = begin(one, comm);
    wait_in_mpi(request);
  };
  return {{.library = "MPI", .form = Form::blocking, .call = mpi_name("", name), .calls = repeat(make_call)},
          {.library = "MPI", .form = Form::nonblocking, .call = nonblocking, .calls = repeat(start_and_wait)}};
}

}  // namespace bench
