// Exchanges that a user holds an MPI_Request for.
//
// The request is a generalized request of MPI's (MPI-4.1, 13.2). Only a thread that is inside a completion call
// (completion.cpp) marks it complete, never the progress thread, so any thread level will do.
//
// The request of a persistent exchange is a persistent receive from nobody, which MPI keeps when it completes: for MPI
// it is inactive while the exchange is in flight, and started, hence complete, once that is done.
#pragma once

#include <mpi.h>

#include <memory>

#include "bindings/mpi/attachment.h"
#include "core/persistent.h"
#include "core/run.h"

namespace fab::mpi {

/// How a request ended, for a user who asks after MPI has forgotten the request.
struct Outcome {
  int code = MPI_SUCCESS;
  std::shared_ptr<Attachment> attachment;  ///< whose error handler is called; null when all went well
};

/// Belongs to its MPI request, whose free function deletes it.
struct Exchange {
  const char* call = "";                   ///< the function that started it
  core::Run* run = nullptr;                ///< null once finished
  std::shared_ptr<Attachment> attachment;  ///< likewise
  MPI_Request request = MPI_REQUEST_NULL;
  Outcome outcome;
  std::unique_ptr<core::Persistent> persistent;  ///< null: serves once
  bool untold = false;                           ///< of a persistent one: finished, and the user does not know yet

  /// A persistent one that is neither in flight nor has something to tell.
  [[nodiscard]] bool inactive() const noexcept { return persistent != nullptr && run == nullptr && !untold; }
  [[nodiscard]] bool finished() const noexcept { return run == nullptr; }
  [[nodiscard]] bool ready() const noexcept { return run != nullptr && run->done(); }
  /// Lets the run go, keeps its outcome, logs a failure and tells MPI. Precondition: ready().
  void finish() noexcept;
  /// The user does not want to know: the run goes on by itself, for MPI the request is complete.
  void abandon() noexcept;
  /// Of a persistent one. Throws what core::Persistent::start throws.
  void start();
  /// The user knows how it ended.
  void told() noexcept;

  void let_run_go() noexcept;

 private:
  void tell_mpi() noexcept;
};

/// Makes the MPI request of a run that was started on `attachment`. Throws Failure; then the run is left to itself.
[[nodiscard]] MPI_Request make_request(const char* call, Attachment& attachment, core::Run& run);

/// Makes the MPI request of a persistent exchange. Throws Failure.
[[nodiscard]] MPI_Request make_request(const char* call, Attachment& attachment, core::Persistent persistent);
/// Of a persistent exchange: what is in flight goes on by itself. The MPI request is the caller's to free.
void forget(const Exchange& exchange) noexcept;

/// Whether any exchange has a request; one atomic load.
[[nodiscard]] bool exchanges_exist() noexcept;
/// The exchange of a request; null when the request is not fab's. Valid until the request is freed.
[[nodiscard]] Exchange* find_exchange(MPI_Request request);
/// The same for an array.
void find_exchanges(int count, const MPI_Request requests[], Exchange* exchanges[]);

/// Lets go of what was never completed, at MPI_Finalize; nothing is in flight then.
void close_exchanges();

/// While it lives, MPI sees success in this thread's requests, because the completion call reports failures itself:
/// through the communicator's error handler, where MPI would take that of MPI_COMM_WORLD.
class OwnReporting {
 public:
  OwnReporting() noexcept;
  ~OwnReporting();
  OwnReporting(const OwnReporting&) = delete;
  OwnReporting& operator=(const OwnReporting&) = delete;
};

}  // namespace fab::mpi
