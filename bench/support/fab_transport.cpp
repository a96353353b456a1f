#include "support/fab_transport.h"

#include <fmt/format.h>

namespace bench {

FabTransport::FabTransport()
    : config_(fab::read_config(fab::process_environment)), job_(fab::open_store()->job()), survey_(config_, job_) {}

std::string FabTransport::name() const {
  return choice().domain.empty() ? choice().provider : fmt::format("{} on {}", choice().provider, choice().domain);
}

}  // namespace bench
