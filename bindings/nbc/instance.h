// Operations in flight, and the handles that hold them.
#pragma once

#include <memory>
#include <utility>

#include "bindings/mpi/calls/three_forms.h"
#include "bindings/mpi/communicators/attachment.h"
#include "bindings/mpi/lifecycle/lifecycle.h"
#include "bindings/mpi/requests/exchange.h"
#include "bindings/mpi/requests/idle.h"
#include "bindings/nbc/code.h"
#include "core/communicator/refused_call.h"
#include "core/progress/engine.h"
#include "core/run/run.h"
#include "fab/nbc.h"

namespace fab::nbc {

/// What lives in the user's handle from the start until the user knows the end.
class Instance {
 public:
  /// `call` is the function that starts it; `kept` lives until the run is done. So far nothing is in flight.
  Instance(const char* call, std::shared_ptr<void> kept) : call_(call), kept_(std::move(kept)) {}
  Instance(Instance&& other) noexcept
      : call_(other.call_),
        run_(std::exchange(other.run_, nullptr)),
        attachment_(std::move(other.attachment_)),
        kept_(std::move(other.kept_)) {}
  Instance& operator=(Instance&&) = delete;
  /// Only once it is done.
  ~Instance();

  void started(mpi::Attachment& attachment, core::Run& run) {
    attachment_ = attachment.shared_from_this();
    run_ = &run;
  }

  /// Null: nothing is in flight.
  [[nodiscard]] core::Run* run() const noexcept { return run_; }
  [[nodiscard]] bool done() const noexcept { return run_ == nullptr || closed() || run_->done(); }
  /// Waits, and returns its code.
  [[nodiscard]] int finish();

 private:
  /// MPI_Finalize came first, and took the run.
  [[nodiscard]] bool closed() const noexcept { return attachment_ != nullptr && attachment_->core == nullptr; }

  const char* call_;
  core::Run* run_ = nullptr;
  std::shared_ptr<mpi::Attachment> attachment_;
  std::shared_ptr<void> kept_;
};

/// Null for a handle whose operation is complete.
[[nodiscard]] Instance* instance_of(NBC_Handle& handle) noexcept;
/// The handle holds nothing. Its memory may have held anything before.
void make_complete(NBC_Handle& handle) noexcept;
/// Precondition: it holds nothing. tmpbuf stays as it is.
void hold(NBC_Handle& handle, Instance&& instance) noexcept;
/// `to`, which holds nothing, gets what `from` holds.
void move_handle(NBC_Handle& from, NBC_Handle& to) noexcept;
/// Ends the operation, waiting if need be; returns its code. Frees what the handle holds.
[[nodiscard]] int finish(NBC_Handle& handle);
/// Frees what the handle holds without waiting; what is in flight goes on.
void abandon(NBC_Handle& handle);

/// Throws Failure(MPI_ERR_ARG).
void check_handle(const NBC_Handle* handle);

using mpi::Kept;

/// The body of a call that starts an operation, which `describe` describes (bindings/mpi/calls/three_forms.h). The
/// handle is complete if that fails.
template <class Describe>
int begin(const char* call, mpi::Attachment& (*attachment_of)(MPI_Comm), MPI_Comm comm, NBC_Handle* handle,
          Describe&& describe) noexcept {
  return guarded(call, [&] {
    if (handle != nullptr) make_complete(*handle);
    mpi::open_fab();
    mpi::Attachment& attachment = attachment_of(comm);
    Kept kept;
    core::Run& run = core::in_order(*attachment.core, [&]() -> core::Run& {
      check_handle(handle);
      return describe(*attachment.core, kept, mpi::Start{*attachment.core});
    });
    mpi::hand_over_progress(attachment.core->engine());
    hold(*handle, Instance(call, std::move(kept)));
    instance_of(*handle)->started(attachment, run);
    return NBC_OK;
  });
}

/// On any communicator.
template <class Describe>
int begin(const char* call, MPI_Comm comm, NBC_Handle* handle, Describe&& describe) noexcept {
  return begin(call, mpi::attachment_of, comm, handle, std::forward<Describe>(describe));
}

/// On one with a topology.
template <class Describe>
int begin_along(const char* call, MPI_Comm comm, NBC_Handle* handle, Describe&& describe) noexcept {
  return begin(call, mpi::attachment_with_topology, comm, handle, std::forward<Describe>(describe));
}

}  // namespace fab::nbc
