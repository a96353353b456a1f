#include "bindings/mpi/lifecycle/whereabouts.h"

#include <array>
#include <string>
#include <utility>

namespace fab::mpi {

namespace {

/// Texts of numbers, of which only their equality matters.
struct Launched {
  std::string ranks;
  std::string on_this_node;
};

std::optional<Launched> told_by(const char* ranks, const char* on_this_node, const Environment& environment) {
  const auto all = environment(ranks);
  const auto near = environment(on_this_node);
  if (!all || !near) return std::nullopt;
  return Launched{*all, *near};
}

// A job step of Slurm tells the nodes it has, not the ranks on each of them.
std::optional<Launched> told_by_slurm(const Environment& environment) {
  const auto ranks = environment("SLURM_STEP_NUM_TASKS");
  const auto nodes = environment("SLURM_STEP_NUM_NODES");
  if (!ranks || !nodes) return std::nullopt;
  return Launched{*ranks, nodes == "1" ? *ranks : "some"};
}

// A launcher inside a job step starts the ranks, so it comes first.
std::optional<Launched> told_by_launcher(const Environment& environment) {
  constexpr std::array kLaunchers{std::pair{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
                                  std::pair{"PMI_SIZE", "MPI_LOCALNRANKS"}};
  for (const auto& [ranks, on_this_node] : kLaunchers)
    if (auto launched = told_by(ranks, on_this_node, environment)) return launched;
  return told_by_slurm(environment);
}

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
  const auto launched = told_by_launcher(environment);
  if (launched && launched->ranks == launched->on_this_node) return true;
  return std::nullopt;
}

std::optional<bool> ranks_share_memory() noexcept {
  static const std::optional<bool> answer = ask();
  return answer;
}

bool need_network(bool local, const Environment& environment) {
  const auto launched = told_by_launcher(environment);
  return launched && launched->ranks != "1" && share_memory(local, environment) != true;
}

}  // namespace fab::mpi
