#include "core/bootstrap/pmix_session.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/bootstrap/launcher.h"
#include "core/bootstrap/pmix_call.h"

namespace fab {

namespace {

core::Mutex process_mutex;
int stores FAB_GUARDED_BY(process_mutex) = 0;

}  // namespace

std::shared_ptr<PmixSession>& PmixSession::kept() {
  static std::shared_ptr<PmixSession> session;
  return session;
}

std::shared_ptr<PmixSession> PmixSession::of_process() {
  const core::MutexLock lock(process_mutex);
  std::shared_ptr<PmixSession>& session = kept();
  if (session == nullptr) session.reset(new PmixSession);
  if (session->process_ != getpid())
    throw Error(Errc::bootstrap,
                fmt::format("process {0} forked this process after it had connected to its PMIx server; only process "
                            "{0} is a rank of the job",
                            session->process_));
  return session;
}

PmixSession::PmixSession() {
  const pmix_status_t status = PMIx_Init(&self_, nullptr, 0);
  // Some versions make a singleton, with a name space of its own, where no server answers. After a failure
  // PMIx_Finalize must not be called: 4.2.2 crashes in it when the environment names a server that is not there.
  const bool is_singleton = std::string_view(self_.nspace).starts_with("singleton.");
  if (status == PMIX_SUCCESS && !is_singleton) return;
  throw Error(Errc::bootstrap,
              fmt::format("{} says that a launcher started this process, but its PMIx server does not answer. {}",
                          find_launcher_variable(process_environment).value_or(kPmixNamespaceVariable),
                          describe_pmix("PMIx_Init", status)));
}

PmixSession::~PmixSession() {
  // A forked child has neither PMIx's thread nor the right to sign this rank off.
  if (getpid() != process_) return;
  // The server notices a lost client by itself: a failed PMIx_Finalize need not be reported.
  static_cast<void>(PMIx_Finalize(nullptr, 0));
  if (PMIx_Initialized() != 0) return;
  const core::MutexLock lock(mutex_);
  for (const std::shared_ptr<PmixFetcher>& fetcher : closed_) fetcher->forget_requests();
}

void PmixSession::leave_to_mpi() noexcept {
  std::shared_ptr<PmixSession> left;
  const core::MutexLock lock(process_mutex);
  if (kept() != nullptr && !kept()->waits_for_answers()) left = std::move(kept());
}

bool PmixSession::waits_for_answers() noexcept {
  const core::MutexLock lock(mutex_);
  return std::ranges::any_of(closed_, [](const std::shared_ptr<PmixFetcher>& each) { return !each->is_answered(); });
}

int PmixSession::count_store() {
  const core::MutexLock lock(process_mutex);
  return stores++;
}

void PmixSession::keep_until_answered(std::shared_ptr<PmixFetcher> fetcher) {
  const core::MutexLock lock(mutex_);
  std::erase_if(closed_, [](const std::shared_ptr<PmixFetcher>& kept) { return kept->is_answered(); });
  closed_.push_back(std::move(fetcher));
}

}  // namespace fab
