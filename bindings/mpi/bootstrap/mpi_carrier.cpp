#include "bindings/mpi/bootstrap/mpi_carrier.h"

#include <fmt/core.h>

#include <limits>
#include <list>
#include <string>

#include "bindings/mpi/base/failure.h"
#include "bindings/mpi/interception/next.h"

namespace fab::mpi {

namespace {

constexpr int kTag = 0;

class MpiCarrier : public Carrier {
 public:
  explicit MpiCarrier(MPI_Comm comm) : comm_(comm) {}
  ~MpiCarrier() override;
  MpiCarrier(const MpiCarrier&) = delete;
  MpiCarrier& operator=(const MpiCarrier&) = delete;

  void send(Rank to, std::string message) override;
  [[nodiscard]] std::optional<Arrived> receive() override;
  [[nodiscard]] bool meet() override;

 private:
  /// MPI reads the message until the request is complete.
  struct Sending {
    std::string message;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  void forget_sent();

  MPI_Comm comm_;
  std::list<Sending> sending_;
  MPI_Request meeting_ = MPI_REQUEST_NULL;
  bool have_met_ = false;
};

bool is_complete(MPI_Request& request) {
  int flag = 0;
  require(next_pmpi.test(&request, &flag, MPI_STATUS_IGNORE), "MPI_Test");
  return flag != 0;
}

MpiCarrier::~MpiCarrier() {
  // MPI still reads what has not left.
  if (!sending_.empty()) static_cast<void>(new std::list<Sending>(std::move(sending_)));
  if (have_met_ && PMPI_Comm_free(&comm_) != MPI_SUCCESS) log_error("MPI_Finalize", "cannot free a communicator");
}

void MpiCarrier::forget_sent() {
  std::erase_if(sending_, [](Sending& sending) { return is_complete(sending.request); });
}

void MpiCarrier::send(Rank to, std::string message) {
  if (message.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw Failure(MPI_ERR_COUNT, fmt::format("a message of {} bytes is longer than MPI's counts", message.size()));
  Sending& sending = sending_.emplace_back(Sending{.message = std::move(message)});
  require(PMPI_Isend(sending.message.data(), static_cast<int>(sending.message.size()), MPI_BYTE, to, kTag, comm_,
                     &sending.request),
          "MPI_Isend");
}

// Found messages are received at once: so another one of the same sender cannot take the place of that which was found.
std::optional<Carrier::Arrived> MpiCarrier::receive() {
  forget_sent();
  int found = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  require(PMPI_Improbe(MPI_ANY_SOURCE, kTag, comm_, &found, &message, &status), "MPI_Improbe");
  if (found == 0) return std::nullopt;
  int bytes = 0;
  require(PMPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
  Arrived arrived{.from = status.MPI_SOURCE, .message = std::string(static_cast<std::size_t>(bytes), '\0')};
  require(PMPI_Mrecv(arrived.message.data(), bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE), "MPI_Mrecv");
  return arrived;
}

bool MpiCarrier::meet() {
  if (meeting_ == MPI_REQUEST_NULL) require(next_ibarrier(comm_, &meeting_), "MPI_Ibarrier");
  have_met_ = is_complete(meeting_);
  return have_met_;
}

}  // namespace

std::unique_ptr<Carrier> make_mpi_carrier(MPI_Comm comm) { return std::make_unique<MpiCarrier>(comm); }

}  // namespace fab::mpi
