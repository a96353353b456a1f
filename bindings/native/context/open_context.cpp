#include "bindings/native/context/open_context.h"

#include <fmt/core.h>

#include <utility>

#include "collectives/choice/select.h"
#include "core/base/processors.h"
#include "providers/local/local_provider.h"
#include "providers/ofi/loading/stand_ins.h"
#include "providers/ofi/ofi_provider.h"
#include "providers/ofi/survey.h"

namespace fab {

namespace {

const LocalLengths& lengths_within_node(const Config& config, const Log& log) {
  if (config.local_lengths) return *config.local_lengths;
  if (config.file_rules != nullptr && !config.file_rules->lengths.empty())
    log.write(LogLevel::info,
              "the file of FAB_RULES has lengths for other processors than this one's, \"{}\": the built-in ones hold; "
              "fab_tune measure finds this one's",
              core::processor_kind());
  return local::kBuiltInLengths;
}

/// Null where the system refuses: then the network carries everything.
std::unique_ptr<Provider> open_node(const Config& config, const JobInfo& job, const Log& log) try {
  return std::make_unique<local::LocalProvider>(config.local_long, job, log, lengths_within_node(config, log));
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

namespace {

/// The first engine, or one with that number.
std::shared_ptr<core::Context> open_engine(Config config, int number) {
  if (number > 0 && !config.trace_file.empty()) config.trace_file += fmt::format(".e{}", number);
  const auto begun = core::Context::Clock::now();
  std::unique_ptr<Store> store = open_store();
  const auto found = core::Context::Clock::now();
  std::shared_ptr<core::Context> context = open_context(config, std::move(store));
  context->set_launcher_time(found - begun);
  return context;
}

// A rank without threads that waits for one engine would keep peers waiting that need another one of it.
std::shared_ptr<core::Context> open_engines(const Config& config) {
  if (config.engines > 1 && config.progress == ProgressMode::caller)
    throw Error(Errc::configuration,
                fmt::format("{} engines need progress threads, which FAB_PROGRESS=caller leaves out; valid is 1 engine",
                            config.engines));
  std::shared_ptr<core::Context> context = open_engine(config, 0);
  for (int number = 1; number < config.engines; ++number) context->add_engine(open_engine(config, number));
  return context;
}

}  // namespace

std::shared_ptr<core::Context> open_context() { return open_engines(read_config()); }

std::shared_ptr<core::Context> open_context(int engines) {
  Config config = read_config();
  config.engines = engines;
  return open_engines(config);
}

std::shared_ptr<core::Context> open_context(const Config& config, std::unique_ptr<Store> store) {
  collectives::check_choices(config);
  ofi::check_interface(config, store->job());
  return core::Context::open(collectives::with_rules(config), std::move(store), open_transports);
}

void load_network_library() { static_cast<void>(ofi::library_version()); }

std::shared_ptr<void> hold_off_card_libraries() { return std::make_shared<ofi::NoWaitForCards>(); }

}  // namespace fab
