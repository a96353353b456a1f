#include "bindings/native/open_context.h"

#include "collectives/select.h"
#include "providers/local/local_provider.h"
#include "providers/ofi/ofi_provider.h"

namespace fab {

namespace {

Transports open_transports(const Config& config, const JobInfo& job, const Log& log) {
  const TransportChoice choice = choose_transports(config, job);
  Transports transports;
  if (choice.node) transports.node = std::make_unique<local::LocalProvider>(config.local_long, job, log);
  if (choice.network) transports.network = std::make_unique<ofi::OfiProvider>(config, job, log);
  return transports;
}

}  // namespace

std::shared_ptr<core::Context> open_context() { return open_context(read_config(), open_store()); }

std::shared_ptr<core::Context> open_context(const Config& config, std::unique_ptr<Store> store) {
  collectives::check_choices(config);
  return core::Context::open(config, std::move(store), open_transports);
}

}  // namespace fab
