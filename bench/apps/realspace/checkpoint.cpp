#include "realspace/checkpoint.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "core/base/quoted.h"
#include "realspace/input_error.h"

namespace realspace {
namespace {

constexpr std::string_view kFirstLine = "fab realspace checkpoint 1\n";

nlohmann::json head_of(const Checkpoint& checkpoint) {
  nlohmann::json atoms = nlohmann::json::array();
  for (const Atom& atom : checkpoint.atoms) {
    const Vector3& at = atom.position_bohr;
    atoms.push_back({atom.charge, at[0], at[1], at[2]});
  }
  return {{"points", checkpoint.points},
          {"width", checkpoint.width},
          {"spacing_bohr", checkpoint.spacing_bohr},
          {"radius_bohr", checkpoint.radius_bohr},
          {"atoms", atoms}};
}

Checkpoint from_head(const nlohmann::json& head) {
  Checkpoint checkpoint;
  head.at("points").get_to(checkpoint.points);
  head.at("width").get_to(checkpoint.width);
  head.at("spacing_bohr").get_to(checkpoint.spacing_bohr);
  head.at("radius_bohr").get_to(checkpoint.radius_bohr);
  for (const nlohmann::json& atom : head.at("atoms")) {
    checkpoint.atoms.push_back(
        {atom.at(0).get<int>(), 0, {atom.at(1).get<double>(), atom.at(2).get<double>(), atom.at(3).get<double>()}});
  }
  return checkpoint;
}

bool are_equal(const std::vector<Atom>& some, const std::vector<Atom>& others) {
  if (some.size() != others.size()) return false;
  for (std::size_t i = 0; i < some.size(); ++i) {
    if (some[i].charge != others[i].charge || some[i].position_bohr != others[i].position_bohr) return false;
  }
  return true;
}

}  // namespace

std::string write_checkpoint(const Checkpoint& checkpoint, const std::string& path) {
  const std::string unfinished = path + ".unfinished";
  std::ofstream file(unfinished, std::ios::binary);
  file << kFirstLine << head_of(checkpoint).dump() << '\n';
  file.write(reinterpret_cast<const char*>(checkpoint.values.data()),
             static_cast<std::streamsize>(checkpoint.values.size() * sizeof(double)));
  file.close();
  if (file && std::rename(unfinished.c_str(), path.c_str()) == 0) return "";
  return fmt::format("cannot write the checkpoint {}: {}", fab::in_quotes(path), std::strerror(errno));
}

Checkpoint parse_checkpoint(const std::string& text, const std::string& name) {
  const auto fail = [&](const std::string& why) -> Checkpoint {
    throw InputError(fmt::format("{} is not a checkpoint of realspace: {}", fab::in_quotes(name), why));
  };
  if (!text.starts_with(kFirstLine)) return fail("it has another first line");
  const std::size_t begin = text.find('\n', kFirstLine.size());
  if (begin == std::string::npos) return fail("it ends after its first line");
  try {
    const auto head =
        nlohmann::json::parse(std::string_view(text).substr(kFirstLine.size(), begin - kFirstLine.size()));
    Checkpoint checkpoint = from_head(head);
    const std::size_t bytes = text.size() - begin - 1;
    const std::size_t count = bytes / sizeof(double);
    if (bytes % sizeof(double) != 0 || checkpoint.width == 0 || count % checkpoint.width != 0 ||
        count / checkpoint.width != checkpoint.points) {
      return fail(
          fmt::format("{} bytes follow its head, not {} x {} doubles", bytes, checkpoint.points, checkpoint.width));
    }
    checkpoint.values.resize(count);
    std::memcpy(checkpoint.values.data(), text.data() + begin + 1, bytes);
    return checkpoint;
  } catch (const nlohmann::json::exception& error) {
    return fail(fab::escaped(error.what()));
  }
}

void require_same_grid(const Checkpoint& checkpoint, const Checkpoint& wanted, const std::string& name) {
  const auto require = [&](bool same, const char* what) {
    if (!same) throw InputError(fmt::format("checkpoint {} has {}", fab::in_quotes(name), what));
  };
  require(checkpoint.spacing_bohr == wanted.spacing_bohr, "another --spacing");
  require(checkpoint.radius_bohr == wanted.radius_bohr, "another --radius");
  require(are_equal(checkpoint.atoms, wanted.atoms), "another molecule");
  require(checkpoint.points == wanted.points, "another number of grid points");
}

}  // namespace realspace
