// The fab communicator that belongs to an MPI communicator, kept as an attribute of the latter.
#pragma once

#include <mpi.h>

#include <atomic>
#include <memory>

#include "core/communicator/communicator.h"

namespace fab::mpi {

/// Made by the first exchange on a communicator, shared by the attribute and the exchanges that are in flight.
struct Attachment : std::enable_shared_from_this<Attachment> {
  std::shared_ptr<core::Communicator> core;  ///< null once fab is closed
  std::atomic<MPI_Comm> comm;                ///< MPI_COMM_NULL once the user freed it: only for error handlers
  MPI_Group group = MPI_GROUP_NULL;          ///< of comm; freed with it
};

/// The attachment of `comm`, made if there is none: collective in that case. Precondition: is_open(). A topology that
/// fab cannot use counts as none. Throws Failure: MPI_ERR_COMM for no handle of a communicator, an inter-communicator,
/// or one with processes of other MPI_COMM_WORLDs; MPI_ERR_OTHER.
[[nodiscard]] Attachment& attachment_of(MPI_Comm comm);
/// The attachment for calls along a topology. Makes no attachment where there is none; throws Failure(MPI_ERR_TOPOLOGY)
/// then.
[[nodiscard]] Attachment& attachment_with_topology(MPI_Comm comm);

/// Once, when fab opens. Throws Failure.
void open_attachments();
/// Drops all fab communicators; the user's communicators may live on.
void close_attachments() noexcept;

}  // namespace fab::mpi
