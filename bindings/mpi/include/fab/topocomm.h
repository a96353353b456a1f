/// The C++ classes of "Topological Collectives for MPI-2" (Hoefler, Lorenzen, Gregor, Lumsdaine, 2008; section 2.4), on
/// an MPI_Comm. Header only; link with libfab_mpi. fab/mpi.h is the contract of the calls.
///
/// Errors go through the error handler of the communicator. If that returns, the call throws fab::mpi::Exception.
#ifndef FAB_TOPOCOMM_H
#define FAB_TOPOCOMM_H

#include <fab/mpi.h>

#include <exception>
#include <string>
#include <vector>

namespace fab::mpi {

/// An MPI error, as MPI::Exception of MPI-2 had it.
class Exception : public std::exception {
 public:
  /// `code` is an error code of MPI's; its text is looked up at once.
  explicit Exception(int code) : code_(code), text_(text_of(code)) {}

  /// The error code that the call returned.
  [[nodiscard]] int Get_error_code() const noexcept { return code_; }
  /// The class of the code; MPI_ERR_UNKNOWN if MPI does not know the code.
  [[nodiscard]] int Get_error_class() const noexcept {
    int error_class = MPI_ERR_UNKNOWN;
    return MPI_Error_class(code_, &error_class) == MPI_SUCCESS ? error_class : MPI_ERR_UNKNOWN;
  }
  /// @{
  /// MPI's text of the code. It lives as long as the object.
  [[nodiscard]] const char* Get_error_string() const noexcept { return text_.c_str(); }
  [[nodiscard]] const char* what() const noexcept override { return text_.c_str(); }
  /// @}

 private:
  static std::string text_of(int code) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) return "MPI error " + std::to_string(code);
    return std::string(text, static_cast<std::size_t>(length));
  }

  int code_;
  std::string text_;
};

/// Common to communicators with any topology: Cartesian, graph, distributed graph. It does not own the communicator,
/// which the user frees. Requests are MPI's: MPI_Wait and MPI_Start take them.
class Topocomm {
 public:
  /// MPI_COMM_NULL, which all calls refuse.
  Topocomm() noexcept = default;
  /// Any communicator. Its topology is looked at by the calls.
  Topocomm(MPI_Comm comm) noexcept : comm_(comm) {}
  /// The communicator, for MPI's own calls.
  operator MPI_Comm() const noexcept { return comm_; }

  /// @{
  /// MPI_Neighbor_xchg, MPI_Ineighbor_xchg or MPI_Neighbor_xchg_init on this communicator.
  void Neighbor_xchg(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                     MPI_Datatype recvtype) const {
    check(MPI_Neighbor_xchg(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm_));
  }
  [[nodiscard]] MPI_Request Ineighbor_xchg(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                           int recvcount, MPI_Datatype recvtype) const {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Ineighbor_xchg(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm_, &request));
    return request;
  }
  [[nodiscard]] MPI_Request Neighbor_xchg_init(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                                               int recvcount, MPI_Datatype recvtype,
                                               MPI_Info info = MPI_INFO_NULL) const {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Neighbor_xchg_init(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm_, info, &request));
    return request;
  }
  /// @}

  /// @{
  /// MPI_Neighbor_xchgv, MPI_Ineighbor_xchgv or MPI_Neighbor_xchgv_init on this communicator.
  void Neighbor_xchgv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                      void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype) const {
    check(MPI_Neighbor_xchgv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm_));
  }
  [[nodiscard]] MPI_Request Ineighbor_xchgv(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                            MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                            const int rdispls[], MPI_Datatype recvtype) const {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Ineighbor_xchgv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm_,
                              &request));
    return request;
  }
  [[nodiscard]] MPI_Request Neighbor_xchgv_init(const void* sendbuf, const int sendcounts[], const int sdispls[],
                                                MPI_Datatype sendtype, void* recvbuf, const int recvcounts[],
                                                const int rdispls[], MPI_Datatype recvtype,
                                                MPI_Info info = MPI_INFO_NULL) const {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Neighbor_xchgv_init(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm_,
                                  info, &request));
    return request;
  }
  /// @}

  /// The number of neighbors of `rank` (section 2.2).
  [[nodiscard]] int Get_neighbors_count(int rank) const {
    int count = 0;
    check(MPI_Comm_neighbors_count(comm_, rank, &count));
    return count;
  }
  /// Writes the ranks of the neighbors of `rank`, at most maxneighbors of them.
  void Get_neighbors(int rank, int maxneighbors, int neighbors[]) const {
    check(MPI_Comm_neighbors(comm_, rank, maxneighbors, neighbors));
  }

  /// Get_neighbors_count under another name.
  [[nodiscard]] int Neighbors_count(int rank) const { return Get_neighbors_count(rank); }
  /// Get_neighbors under another name.
  void Neighbors(int rank, int maxneighbors, int neighbors[]) const { Get_neighbors(rank, maxneighbors, neighbors); }
  /// The ranks of all neighbors of `rank`.
  [[nodiscard]] std::vector<int> Neighbors(int rank) const {
    std::vector<int> neighbors(static_cast<std::size_t>(Get_neighbors_count(rank)));
    Get_neighbors(rank, static_cast<int>(neighbors.size()), neighbors.data());
    return neighbors;
  }

 protected:
  /// Throws Exception unless `code` is MPI_SUCCESS.
  static void check(int code) {
    if (code != MPI_SUCCESS) throw Exception(code);
  }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// A communicator made by MPI_Graph_create.
class Graphcomm : public Topocomm {
 public:
  /// The constructors of Topocomm.
  using Topocomm::Topocomm;
};

/// A communicator made by MPI_Cart_create.
class Cartcomm : public Topocomm {
 public:
  /// The constructors of Topocomm.
  using Topocomm::Topocomm;

  /// @{
  /// MPI_Cart_shift and the transfer in one (section 2.3): MPI_Cart_shift_xchg, MPI_Icart_shift_xchg or
  /// MPI_Cart_shift_xchg_init on this communicator.
  void Shift_xchg(const void* sbuf, int scount, MPI_Datatype stype, void* rbuf, int rcount, MPI_Datatype rtype,
                  int direction, int disp) const {
    check(MPI_Cart_shift_xchg(sbuf, scount, stype, rbuf, rcount, rtype, direction, disp, *this));
  }
  [[nodiscard]] MPI_Request Ishift_xchg(const void* sbuf, int scount, MPI_Datatype stype, void* rbuf, int rcount,
                                        MPI_Datatype rtype, int direction, int disp) const {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Icart_shift_xchg(sbuf, scount, stype, rbuf, rcount, rtype, direction, disp, *this, &request));
    return request;
  }
  [[nodiscard]] MPI_Request Shift_xchg_init(const void* sbuf, int scount, MPI_Datatype stype, void* rbuf, int rcount,
                                            MPI_Datatype rtype, int direction, int disp,
                                            MPI_Info info = MPI_INFO_NULL) const {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Cart_shift_xchg_init(sbuf, scount, stype, rbuf, rcount, rtype, direction, disp, *this, info, &request));
    return request;
  }
  /// @}
};

}  // namespace fab::mpi

#endif
