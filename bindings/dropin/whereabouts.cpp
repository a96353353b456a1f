#include "bindings/dropin/whereabouts.h"

#include <string>

namespace fab::dropin {

namespace {

std::optional<bool> ask() noexcept {
  try {
    return share_memory(read_config(process_environment).local, process_environment);
  } catch (...) {
    return std::nullopt;  // the configuration is not valid, which opening fab reports
  }
}

}  // namespace

std::optional<bool> share_memory(bool local, const Environment& environment) {
  if (!local) return false;
  const auto ranks = environment("OMPI_COMM_WORLD_SIZE");
  const auto near = environment("OMPI_COMM_WORLD_LOCAL_SIZE");
  if (ranks && near && ranks == near) return true;
  return std::nullopt;
}

std::optional<bool> ranks_share_memory() noexcept {
  static const std::optional<bool> answer = ask();
  return answer;
}

}  // namespace fab::dropin
