// Exchanges for which a user holds an MPI_Request.
//
// The request is a persistent one of MPI's, which is never started: MPI treats it as inactive, so that it serves one
// exchange after the other. All that MPI does with requests fab does for these itself (completion.cpp), in the thread
// that the user calls from.
#pragma once

#include <mpi.h>

#include <memory>
#include <utility>

#include "bindings/mpi/communicators/attachment.h"
#include "bindings/mpi/requests/observers.h"
#include "core/communicator/persistent.h"
#include "core/run/run.h"

namespace fab::mpi {

/// What must outlive an exchange: an operation of the user's, for example.
using Kept = std::shared_ptr<void>;

/// How an exchange ended.
struct Outcome {
  int code = MPI_SUCCESS;
  std::shared_ptr<Attachment> attachment;  ///< whose error handler is called; null when all went well
};

/// Belongs to the pool of all (exchange.cpp); in use from make_request until the user's handle is gone.
class Exchange {
 public:
  /// What it stands for while it is in use.
  struct Use {
    const char* call = "";  ///< the function that started it
    core::Run* run = nullptr;
    std::shared_ptr<Attachment> attachment{};
    std::unique_ptr<core::Persistent> persistent{};  ///< null: serves once
    Kept kept{};
    std::unique_ptr<StartObserver> observer{};  ///< of a persistent one's starts; null: none
  };

  /// Not in use, with a request of its own. Throws Failure.
  Exchange();

  [[nodiscard]] MPI_Request request() const noexcept { return request_; }
  [[nodiscard]] bool persistent() const noexcept { return use_.persistent != nullptr; }
  /// Precondition: persistent().
  [[nodiscard]] core::Persistent& persistent_exchange() const noexcept { return *use_.persistent; }
  /// The comm of an exchange in use.
  [[nodiscard]] MPI_Comm comm() const noexcept { return use_.attachment->comm; }
  /// Null: nothing is in flight, and nothing is to be told.
  [[nodiscard]] core::Run* run() const noexcept { return use_.run; }
  [[nodiscard]] bool ready() const noexcept { return run() != nullptr && run()->done(); }

  /// Of a persistent one. Throws what core::Persistent::start throws.
  void start();
  /// The user gets to know how it ended, from a call that puts MPI_REQUEST_NULL into the handle unless the exchange is
  /// persistent. Precondition: ready().
  [[nodiscard]] Outcome end(MPI_Request& handle);
  /// end() after waiting. Precondition: run() is not null.
  [[nodiscard]] Outcome wait(MPI_Request& handle);
  /// The user does not want to know, or frees a persistent one: what is in flight goes on by itself.
  void abandon(MPI_Request& handle) noexcept;

  // For its pool.
  void serve(Use&& use) noexcept { use_ = std::move(use); }
  /// Lets go of all that it has: now it is not in use.
  void clear() noexcept;

 private:
  [[nodiscard]] Outcome outcome(const Status& status);
  [[nodiscard]] Outcome told(const Status& status, MPI_Request& handle);
  void start_run();
  void let_run_go() noexcept;

  MPI_Request request_ = MPI_REQUEST_NULL;
  Use use_;
};

/// Gives a run that was started on `attachment` a request. Throws Failure; then the run is left to itself.
[[nodiscard]] MPI_Request make_request(const char* call, Attachment& attachment, core::Run& run, Kept kept);
/// Gives a persistent exchange a request.
[[nodiscard]] MPI_Request make_request(const char* call, Attachment& attachment, core::Persistent persistent, Kept kept,
                                       std::unique_ptr<StartObserver> observer);

/// Whether any exchange has a request; two atomic loads.
[[nodiscard]] bool exchanges_exist() noexcept;
/// Whether any is in flight, or the user does not know its end; one.
[[nodiscard]] bool exchanges_are_active() noexcept;
/// The exchange of a request; null when the request is not fab's.
[[nodiscard]] Exchange* find_exchange(MPI_Request request);

/// What MPI's completion calls give for a request without a message. MPI_ERROR stays as it is (MPI-4.1, 3.2.5).
void make_empty(MPI_Status* status) noexcept;

/// Once, before the first exchange. Throws Failure.
void open_exchanges();
/// Lets go of what was never completed, at MPI_Finalize; nothing is in flight then.
void close_exchanges() noexcept;

}  // namespace fab::mpi
