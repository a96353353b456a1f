#include "bindings/mpi/exchange.h"

#include <atomic>
#include <mutex>
#include <unordered_map>

#include "bindings/mpi/failure.h"
#include "bindings/mpi/process.h"

namespace fab::mpi {

namespace {

struct Table {
  std::mutex mutex;  ///< never held across a call of MPI's
  std::unordered_map<MPI_Request, Exchange*> exchanges;
  std::atomic<int> count{0};
};

Table& table() {
  static Table& state = *new Table;  // MPI may call back until the process ends
  return state;
}

thread_local bool own_reporting = false;

// An exchange has no source, tag or count to tell.
int query(void* state, MPI_Status* status) noexcept {
  int code = PMPI_Status_set_elements(status, MPI_BYTE, 0);
  if (code == MPI_SUCCESS) code = PMPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_ANY_SOURCE;
  status->MPI_TAG = MPI_ANY_TAG;
  return own_reporting ? code : static_cast<const Exchange*>(state)->outcome.code;
}

int release(void* state) noexcept {
  const std::unique_ptr<Exchange> exchange(static_cast<Exchange*>(state));
  const std::lock_guard lock(table().mutex);
  table().exchanges.erase(exchange->request);
  table().count.fetch_sub(1);
  return MPI_SUCCESS;
}

int cancel(void*, int) noexcept { return MPI_SUCCESS; }  // exchanges cannot be cancelled, as collectives cannot

void enter(Exchange* exchange) {
  const std::lock_guard lock(table().mutex);
  table().exchanges.emplace(exchange->request, exchange);
  table().count.fetch_add(1);
}

}  // namespace

void Exchange::let_run_go() noexcept {
  if (persistent != nullptr) {
    persistent.reset();
    run = nullptr;
    return;
  }
  {
    const core::Lock lock(attachment->core->engine().mutex);
    run->let_go();
  }
  run = nullptr;
}

void Exchange::tell_mpi() noexcept {
  if (persistent == nullptr) {
    if (PMPI_Grequest_complete(request) != MPI_SUCCESS) log_error(call, "MPI_Grequest_complete failed");
  } else if (PMPI_Start(&request) != MPI_SUCCESS) {
    log_error(call, "MPI_Start of the request that stands for the exchange failed");
  }
}

// The attachment may be the last owner of its communicator: it goes after the engine's lock.
void Exchange::finish() noexcept {
  if (const Status& status = run->status(); !status.ok()) {
    outcome = {error_class_of(status.errc()), attachment};
    Process::instance().note_failure();
    log_error(call, status.message);
  }
  if (persistent != nullptr) {
    persistent->end();
    run = nullptr;
    untold = true;
  } else {
    let_run_go();
    attachment.reset();
  }
  tell_mpi();
}

void Exchange::start() {
  {
    const core::Lock lock(persistent->engine().mutex);
    persistent->start();
  }
  persistent->engine().leave();
  run = &persistent->run();
}

void Exchange::told() noexcept {
  if (persistent == nullptr) return;
  untold = false;
  outcome = {};
}

void Exchange::abandon() noexcept {
  let_run_go();
  attachment.reset();
  tell_mpi();
}

MPI_Request make_request(const char* call, Attachment& attachment, core::Run& run) {
  auto exchange = std::make_unique<Exchange>();
  exchange->call = call;
  exchange->run = &run;
  exchange->attachment = attachment.shared_from_this();
  require(PMPI_Grequest_start(query, release, cancel, exchange.get(), &exchange->request), "MPI_Grequest_start");
  enter(exchange.get());
  return exchange.release()->request;
}

MPI_Request make_request(const char* call, Attachment& attachment, core::Persistent persistent) {
  auto exchange = std::make_unique<Exchange>();
  exchange->call = call;
  exchange->attachment = attachment.shared_from_this();
  exchange->persistent = std::make_unique<core::Persistent>(std::move(persistent));
  require(PMPI_Recv_init(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, &exchange->request), "MPI_Recv_init");
  enter(exchange.get());
  return exchange.release()->request;
}

void forget(const Exchange& exchange) noexcept {
  const std::unique_ptr<const Exchange> owned(&exchange);
  const std::lock_guard lock(table().mutex);
  table().exchanges.erase(exchange.request);
  table().count.fetch_sub(1);
}

bool exchanges_exist() noexcept { return table().count.load(std::memory_order_relaxed) > 0; }

Exchange* find_exchange(MPI_Request request) {
  Exchange* exchange = nullptr;
  find_exchanges(1, &request, &exchange);
  return exchange;
}

void find_exchanges(int count, const MPI_Request requests[], Exchange* exchanges[]) {
  const std::lock_guard lock(table().mutex);
  for (int i = 0; i < count; ++i) {
    const auto found = table().exchanges.find(requests[i]);
    exchanges[i] = found == table().exchanges.end() ? nullptr : found->second;
  }
}

void close_exchanges() {
  const std::lock_guard lock(table().mutex);
  for (auto& [request, exchange] : table().exchanges) {
    if (exchange->persistent != nullptr || !exchange->finished()) exchange->let_run_go();
    exchange->attachment.reset();
  }
}

OwnReporting::OwnReporting() noexcept { own_reporting = true; }
OwnReporting::~OwnReporting() { own_reporting = false; }

}  // namespace fab::mpi
