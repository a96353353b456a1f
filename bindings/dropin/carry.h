// The three forms of a call that fab carries, or passes on as it came.
//
// `outline()` tells its Outline, `describe()` one for bindings/mpi/calls/three_forms.h, `pass_on()` calls the next
// function of the name. A call that is passed on is never described.
#pragma once

#include <mpi.h>

#include <memory>
#include <utility>

#include "bindings/dropin/judge.h"
#include "bindings/dropin/known.h"
#include "bindings/dropin/settings.h"
#include "bindings/dropin/statistics.h"
#include "bindings/mpi/calls/three_forms.h"

namespace fab::dropin {

/// MPI refuses it, too, without talking to other ranks: its own words, and its own error handler, are for the user.
[[nodiscard]] bool mpi_refuses_it_too() noexcept;
/// Logs the exception that is being handled, and calls the error handler.
int report(const char* name, MPI_Comm comm) noexcept;

/// A call whose blocks are shown to `look(send, recv)` once they are known.
template <class Described, class Look>
auto looked_at(const Described& call, const Look& look) {
  return [&call, look](const core::Communicator& core, mpi::Kept& kept, const auto& then) -> decltype(auto) {
    return call(core, kept, [&look, &then](const void* send, void* recv, const auto& exchange) -> decltype(auto) {
      look(exchange.send, exchange.recv);
      return then(send, recv, exchange);
    });
  };
}

/// A call whose blocks are counted when it starts. With FAB_STATS it is described each time.
template <class Described>
class Counted {
 public:
  Counted(Function function, const Described& call) : function_(function), call_(call) {}

  template <class Then>
  decltype(auto) operator()(const core::Communicator& core, mpi::Kept& kept, const Then& then) const {
    const auto count = [this](const auto& send, const auto& recv) { count_bytes(function_, send, recv); };
    return looked_at(call_, count)(core, kept, then);
  }

  [[nodiscard]] core::CallBrief brief() const noexcept requires requires(const Described& call) { call.brief(); }
  { return settings().stats ? core::CallBrief{} : call_.brief(); }
  [[nodiscard]] core::CallNumbers numbers(const core::Communicator& core) const noexcept requires
      requires(const Described& call) {
    call.numbers(core);
  }
  { return call_.numbers(core); }
  [[nodiscard]] bool may_be_remembered() const noexcept { return call_.may_be_remembered(); }
  [[nodiscard]] const void* sent() const noexcept { return call_.sent(); }
  [[nodiscard]] void* received() const noexcept { return call_.received(); }

 private:
  Function function_;
  const Described& call_;
};

/// The call that this thread is passing on, or null. A tool behind fab calls PMPI_ for it, which is no other call.
[[gnu::tls_model("initial-exec")]] inline constinit thread_local const Call* passed_on = nullptr;

template <class PassOn>
int pass(const Call& call, const PassOn& pass_on) noexcept {
  const Call* const outer = std::exchange(passed_on, &call);
  const int code = pass_on();
  passed_on = outer;
  return code;
}

template <class MakeOutline, class PassOn, class Carry>
int carry_or_pass_on(const char* name, const Call& call, const MakeOutline& outline, const PassOn& pass_on,
                     const Carry& carry) noexcept {
  if (passed_on != nullptr && *passed_on == call) return pass_on();
  const Outline its_outline = outline();
  const KnownCall* const known = find_known(call, its_outline);
  if (known != nullptr && known->attachment == nullptr) return pass(call, pass_on);
  if (known == nullptr && !settings().wants(call.function)) {
    count(call.function, Fate::off);
    return pass(call, pass_on);
  }
  try {
    mpi::Attachment* const attachment = known != nullptr ? known->attachment : judge(call, its_outline);
    if (attachment == nullptr) return pass(call, pass_on);
    const Timed timed(call.function);
    carry(*attachment);
    return MPI_SUCCESS;
  } catch (...) {
    if (!mpi_refuses_it_too()) return report(name, call.comm);
    count_refused(call.function, call.form);
  }
  return pass(call, pass_on);
}

template <class MakeOutline, class Describe, class PassOn>
int blocking(Function function, const char* name, MPI_Comm comm, const MakeOutline& outline, const Describe& describe,
             const PassOn& pass_on) noexcept {
  return carry_or_pass_on(name, {function, Form::blocking, comm}, outline, pass_on, [&](mpi::Attachment& attachment) {
    mpi::perform(attachment, Counted(function, describe()));
  });
}

template <class MakeOutline, class Describe, class PassOn>
int non_blocking(Function function, const char* name, MPI_Comm comm, MPI_Request* request, const MakeOutline& outline,
                 const Describe& describe, const PassOn& pass_on) noexcept {
  return carry_or_pass_on(
      name, {function, Form::non_blocking, comm}, outline, pass_on,
      [&](mpi::Attachment& attachment) { mpi::start(name, attachment, request, Counted(function, describe())); });
}

template <class MakeOutline, class Describe, class PassOn>
int persistent(Function function, const char* name, MPI_Comm comm, MPI_Request* request, const MakeOutline& outline,
               const Describe& describe, const PassOn& pass_on) noexcept {
  return carry_or_pass_on(name, {function, Form::persistent, comm}, outline, pass_on, [&](mpi::Attachment& attachment) {
    std::unique_ptr<Starts> starts = observe_starts(function);
    const auto look = [starts = starts.get()](const auto& send, const auto& recv) {
      if (starts != nullptr) starts->move(send, recv);
    };
    mpi::make_persistent(name, attachment, request, looked_at(describe(), look), std::move(starts));
  });
}

}  // namespace fab::dropin
