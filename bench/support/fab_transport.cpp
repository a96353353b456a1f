#include "support/fab_transport.h"

#include <fmt/format.h>

namespace bench {

FabTransport::FabTransport()
    : config_(fab::read_config(fab::process_environment)),
      job_(fab::open_store()->job()),
      choice_(fab::choose_transports(config_, job_)),
      survey_(config_, job_) {}

std::string FabTransport::provider() const {
  if (!choice_.network) return "local";
  return choice_.node && job_.local_size > 1 ? "local+" + network().provider : network().provider;
}

std::string FabTransport::name() const {
  if (!choice_.network) return "shared memory";
  return network().domain.empty() ? provider() : fmt::format("{} on {}", provider(), network().domain);
}

FabPath FabTransport::path() const {
  return {.name = name(),
          .provider = provider(),
          .domain = uses_network() ? network().domain : "",
          .nodes = job_.node_count};
}

}  // namespace bench
