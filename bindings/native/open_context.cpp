#include "bindings/native/open_context.h"

#include "providers/ofi/ofi_provider.h"

namespace fab {

std::shared_ptr<core::Context> open_context() { return open_context(read_config(), open_store()); }

std::shared_ptr<core::Context> open_context(const Config& config, std::unique_ptr<Store> store) {
  return core::Context::open(config, std::move(store), [](const Config& c, const JobInfo& job, const Log& log) {
    return Transports{.node = nullptr, .network = std::make_unique<ofi::OfiProvider>(c, job, log)};
  });
}

}  // namespace fab
