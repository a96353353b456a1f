#include "bindings/native/open_context.h"

#include <utility>

#include "collectives/select.h"
#include "providers/local/local_provider.h"
#include "providers/ofi/ofi_provider.h"
#include "providers/ofi/survey.h"

namespace fab {

namespace {

/// Null where the system refuses: then the network carries everything.
std::unique_ptr<Provider> open_node(const Config& config, const JobInfo& job, const Log& log) try {
  return std::make_unique<local::LocalProvider>(config.local_long, job, log);
} catch (const Error& error) {
  if (error.errc() != Errc::no_resources) throw;
  log.write(LogLevel::warn, "exchanges within the node go over the network: {}", error.what());
  return nullptr;
}

Transports open_transports(const Config& config, const JobInfo& job, const Log& log) {
  const TransportChoice choice = choose_transports(config, job);
  Transports transports;
  if (choice.node) transports.node = open_node(config, job, log);
  if (choice.network || transports.node == nullptr)
    transports.network = std::make_unique<ofi::OfiProvider>(config, job, log);
  return transports;
}

}  // namespace

std::shared_ptr<core::Context> open_context() {
  const Config config = read_config();
  const auto begun = core::Context::Clock::now();
  std::unique_ptr<Store> store = open_store();
  const auto found = core::Context::Clock::now();
  std::shared_ptr<core::Context> context = open_context(config, std::move(store));
  context->set_launcher_time(found - begun);
  return context;
}

std::shared_ptr<core::Context> open_context(const Config& config, std::unique_ptr<Store> store) {
  collectives::check_choices(config);
  ofi::check_interface(config, store->job());
  return core::Context::open(collectives::with_rules(config), std::move(store), open_transports);
}

void load_network_library() { static_cast<void>(ofi::library_version()); }

}  // namespace fab
