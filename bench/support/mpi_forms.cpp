#include "support/mpi_forms.h"

#include <fmt/core.h>

#include <exception>
#include <memory>

#include "apps/mpi_call.h"

namespace bench {
namespace {

using apps::check_mpi;

class Datatype {
 public:
  Datatype(const Box& box, MPI_Datatype element) {
    check_mpi(MPI_Type_create_subarray(static_cast<int>(box.sizes.size()), box.sizes.data(), box.subsizes.data(),
                                       box.starts.data(), MPI_ORDER_C, element, &type_),
              "MPI_Type_create_subarray");
    check_mpi(MPI_Type_commit(&type_), "MPI_Type_commit");
  }
  ~Datatype() {
    if (MPI_Type_free(&type_) != MPI_SUCCESS) fmt::print(stderr, "MPI_Type_free failed\n");
  }
  Datatype(const Datatype&) = delete;
  Datatype& operator=(const Datatype&) = delete;

  [[nodiscard]] MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

// The calls on one exchange. Contiguous blocks of one size go without datatypes of their own, as a user would send
// them.
class MpiExchange {
 public:
  explicit MpiExchange(Exchange& exchange)
      : comm_(exchange.neighbors().comm()),
        blocks_(exchange.neighbors().count()),
        send_(exchange.send()),
        receive_(exchange.receive()) {
    for (int block = 0; block < blocks_; ++block) add(exchange, block);
    requests_.resize(2 * sends_.size(), MPI_REQUEST_NULL);
    displacements_.resize(sends_.size(), 0);
    counts_.resize(sends_.size(), 1);
  }
  // An exception on its way ends the job.
  ~MpiExchange() {
    if (std::uncaught_exceptions() > 0) return;
    for (MPI_Request& request : persistent_) {
      if (MPI_Request_free(&request) != MPI_SUCCESS) fmt::print(stderr, "MPI_Request_free failed\n");
    }
  }
  MpiExchange(const MpiExchange&) = delete;
  MpiExchange& operator=(const MpiExchange&) = delete;

  [[nodiscard]] bool regular() const { return types_.empty(); }

  void collective() {
    if (regular())
      check_mpi(MPI_Neighbor_alltoall(send_, count(), MPI_BYTE, receive_, count(), MPI_BYTE, comm_),
                "MPI_Neighbor_alltoall");
    else
      check_mpi(MPI_Neighbor_alltoallw(send_, counts_.data(), displacements_.data(), send_types_.data(), receive_,
                                       counts_.data(), displacements_.data(), receive_types_.data(), comm_),
                "MPI_Neighbor_alltoallw");
  }

  [[nodiscard]] MPI_Request start_collective() {
    MPI_Request request = MPI_REQUEST_NULL;
    if (regular())
      check_mpi(MPI_Ineighbor_alltoall(send_, count(), MPI_BYTE, receive_, count(), MPI_BYTE, comm_, &request),
                "MPI_Ineighbor_alltoall");
    else
      check_mpi(MPI_Ineighbor_alltoallw(send_, counts_.data(), displacements_.data(), send_types_.data(), receive_,
                                        counts_.data(), displacements_.data(), receive_types_.data(), comm_, &request),
                "MPI_Ineighbor_alltoallw");
    return request;
  }

  void by_hand() {
    auto request = requests_.begin();
    for (const Part& part : receives_)
      check_mpi(MPI_Irecv(receive_ + part.offset, part.count, part.type, part.rank, part.tag, comm_, &*request++),
                "MPI_Irecv");
    for (const Part& part : sends_)
      check_mpi(MPI_Isend(send_ + part.offset, part.count, part.type, part.rank, part.tag, comm_, &*request++),
                "MPI_Isend");
    wait_all(requests_);
  }

  void make_persistent() {
    persistent_.resize(2 * sends_.size(), MPI_REQUEST_NULL);
    auto request = persistent_.begin();
    for (const Part& part : receives_)
      check_mpi(MPI_Recv_init(receive_ + part.offset, part.count, part.type, part.rank, part.tag, comm_, &*request++),
                "MPI_Recv_init");
    for (const Part& part : sends_)
      check_mpi(MPI_Send_init(send_ + part.offset, part.count, part.type, part.rank, part.tag, comm_, &*request++),
                "MPI_Send_init");
  }

  // The PMPI_ functions are what programs call that do not use fab: its binding stands in for the others.
  void persistent() {
    check_mpi(PMPI_Startall(static_cast<int>(persistent_.size()), persistent_.data()), "MPI_Startall");
    wait_all(persistent_);
  }

 private:
  // One message.
  struct Part {
    std::ptrdiff_t offset;
    int count;
    MPI_Datatype type;
    int rank;
    int tag;
  };

  void add(Exchange& exchange, int block) {
    const Boxes& boxes = exchange.boxes();
    const Neighbors& neighbors = exchange.neighbors();
    Part part{
        .offset = 0, .count = 1, .type = MPI_BYTE, .rank = neighbors.destination(block, Order::mpi), .tag = block};
    if (boxes.edge() == 0) {
      part.count = static_cast<int>(boxes.bytes_per_neighbor());
      part.offset = static_cast<std::ptrdiff_t>(block) * part.count;
    } else {
      send_types_.push_back(make_type(boxes.sent(block, Order::mpi)));
      receive_types_.push_back(make_type(boxes.received(block, Order::mpi)));
    }
    Part arriving = part;
    arriving.rank = neighbors.source(block, Order::mpi);
    arriving.tag = neighbors.opposite(block);
    if (!regular()) {
      part.type = send_types_.back();
      arriving.type = receive_types_.back();
    }
    sends_.push_back(part);
    receives_.push_back(arriving);
  }

  MPI_Datatype make_type(const Box& box) {
    types_.push_back(std::make_unique<Datatype>(box, MPI_DOUBLE));
    return types_.back()->get();
  }

  [[nodiscard]] int count() const { return sends_.front().count; }

  static void wait_all(std::vector<MPI_Request>& requests) {
    check_mpi(PMPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  }

  MPI_Comm comm_;
  int blocks_;
  const std::byte* send_;
  std::byte* receive_;
  std::vector<std::unique_ptr<Datatype>> types_;
  std::vector<MPI_Datatype> send_types_;
  std::vector<MPI_Datatype> receive_types_;
  std::vector<Part> sends_;
  std::vector<Part> receives_;
  std::vector<int> counts_;
  std::vector<MPI_Aint> displacements_;
  std::vector<MPI_Request> requests_;
  std::vector<MPI_Request> persistent_;
};

}  // namespace

std::vector<Contestant> mpi_forms(Exchange& exchange) {
  const auto mpi = std::make_shared<MpiExchange>(exchange);
  mpi->make_persistent();
  const std::string suffix = mpi->regular() ? "" : "w";
  return {{.library = "MPI",
           .form = Form::blocking,
           .call = "MPI_Neighbor_alltoall" + suffix,
           .calls = repeat([mpi] { mpi->collective(); }),
           .order = Order::mpi,
           .placement = kCollectivePlacement},
          {.library = "MPI",
           .form = Form::nonblocking,
           .call = "MPI_Ineighbor_alltoall" + suffix + " + MPI_Wait",
           .calls = repeat([mpi] {
             MPI_Request request = mpi->start_collective();
             wait(request);
           }),
           .order = Order::mpi,
           .placement = kCollectivePlacement},
          {.library = "by hand",
           .form = Form::nonblocking,
           .call = "MPI_Irecv + MPI_Isend + MPI_Waitall",
           .calls = repeat([mpi] { mpi->by_hand(); }),
           .order = Order::mpi},
          {.library = "by hand",
           .form = Form::persistent,
           .call = "MPI_Startall + MPI_Waitall",
           .calls = repeat([mpi] { mpi->persistent(); }),
           .order = Order::mpi}};
}

NonblockingCall mpi_nonblocking(Exchange& exchange) {
  return in_halves(
      "MPI", "MPI_Ineighbor_alltoall",
      [mpi = std::make_shared<MpiExchange>(exchange)] { return mpi->start_collective(); },
      [](MPI_Request& request) { wait(request); });
}

void wait(MPI_Request& request) {
  // Made elsewhere, out of the analyzer's sight.
  check_mpi(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");  // NOLINT(clang-analyzer-optin.mpi.MPI-Checker)
}

}  // namespace bench
