#include "bindings/tools/networks.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/base/quoted.h"
#include "fab/error.h"
#include "providers/sim/model.h"

namespace fab::tools {

namespace {

namespace fs = std::filesystem;

constexpr const char* kExtension = ".json";

/// Relative to the program, for the tree may be moved: where it is installed, or built. Empty if there is none.
fs::path networks_folder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* folder : {FAB_BIN_TO_NETWORKS, "networks"})
    if (fs::is_directory(program / folder, error)) return program / folder;
  return {};
}

}  // namespace

std::vector<std::string> network_names() {
  std::vector<std::string> names;
  std::error_code error;
  const fs::path folder = networks_folder();
  if (folder.empty()) return names;
  for (const fs::directory_entry& each : fs::directory_iterator(folder, error))
    if (each.path().extension() == kExtension) names.push_back(each.path().stem());
  std::ranges::sort(names);
  return names;
}

std::string network_file(const std::string& name_or_path) {
  const std::vector<std::string> names = network_names();
  if (std::ranges::find(names, name_or_path) != names.end()) return networks_folder() / (name_or_path + kExtension);
  std::error_code error;
  if (fs::is_regular_file(name_or_path, error) || fs::is_fifo(name_or_path, error)) return name_or_path;
  throw Error(
      Errc::invalid_argument,
      fmt::format("--network {}: there is no such file, and no network of that name; names are {}",
                  in_quotes(name_or_path), names.empty() ? "not installed" : fmt::to_string(fmt::join(names, ", "))));
}

std::string list_networks() {
  std::string text;
  for (const std::string& name : network_names())
    text += fmt::format("{:<20} {}\n", name, sim::describe_network(network_file(name)));
  return text;
}

}  // namespace fab::tools
