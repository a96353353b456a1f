#include "providers/sim/model.h"

#include <fmt/core.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "core/base/json_text.h"
#include "core/base/quoted.h"
#include "fab/error.h"

namespace fab::sim {

namespace {

using nlohmann::json;

/// One object of the file: knows its name, and which of its fields have been read.
class Section {
 public:
  Section(const json& object, std::string name) : object_(object), name_(std::move(name)) {
    if (!object_.is_object()) refuse("is no object");
  }

  /// Throws when a field was not asked for.
  void finish() const {
    for (const auto& [field, value] : object_.items())
      if (known_.find(' ' + field + ' ') == std::string::npos)
        refuse(fmt::format("has a field {}; known are{}", in_quotes(field), known_));
  }
  void read(const char* field, int& value, int least) {
    if (const json* given = find(field)) value = static_cast<int>(number(*given, field, least, kMost));
  }
  void read(const char* field, std::uint64_t& value) {
    if (const json* given = find(field)) value = static_cast<std::uint64_t>(number(*given, field, 0, kMostBytes));
  }
  void read_ns(const char* field, Time& value, double factor = 1) {
    if (const json* given = find(field)) value = nanoseconds(factor * number(*given, field, 0, kMost));
  }
  void read(const char* field, Payer& value) {
    const json* given = find(field);
    if (given == nullptr) return;
    if (*given != "card" && *given != "processor")
      refuse(fmt::format("has {} = {}; \"card\" and \"processor\" are valid", field, given->dump()));
    value = *given == "card" ? Payer::card : Payer::processor;
  }
  /// Text that says something to people only, or several of them.
  void read_words(const char* field, std::string& words) {
    const json* given = find(field);
    if (given == nullptr) return;
    words.clear();
    for (const json& each : given->is_array() ? *given : json::array({*given})) {
      if (!each.is_string()) refuse(fmt::format("has {} = {}; text is valid", field, shown(each)));
      words += (words.empty() ? "" : "; ") + each.get<std::string>();
    }
  }
  [[nodiscard]] const json* find(const char* field) {
    known_ += std::string(known_.empty() ? " " : "") + field + ' ';
    const auto found = object_.find(field);
    return found == object_.end() ? nullptr : &*found;
  }

 private:
  static constexpr double kMost = 1e9;  // a second, a billion ranks
  static constexpr double kMostBytes = 1e15;

  [[noreturn]] void refuse(const std::string& fault) const {
    throw Error(Errc::invalid_argument, fmt::format("{} {}", name_, fault));
  }
  [[nodiscard]] double number(const json& value, const char* field, double least, double most) const {
    if (!value.is_number() || !(value.get<double>() >= least) || value.get<double>() > most)
      refuse(fmt::format("has {} = {}; a number from {} to {} is valid", field, shown(value), least, most));
    return value.get<double>();
  }

  const json& object_;
  std::string name_;
  std::string known_;
};

void read_cost(Section& file, const std::string& name, const char* field, LinkCost& cost) {
  const json* given = file.find(field);
  if (given == nullptr) return;
  Section section(*given, fmt::format("{}: {}", name, field));
  section.read_ns("L_ns", cost.latency);
  section.read_ns("o_ns", cost.overhead);
  section.read_ns("g_ns", cost.gap);
  section.read_ns("G_ns_per_byte", cost.gap_per_kib, 1024);
  section.read("sender_pays_G", cost.sender_pays);
  section.read("receiver_pays_G", cost.receiver_pays);
  section.finish();
}

void read_share(Section& file, const std::string& name, const char* field, Share& share) {
  const json* given = file.find(field);
  if (given == nullptr) return;
  Section section(*given, fmt::format("{}: {}", name, field));
  section.read_ns("g_ns", share.gap);
  section.read_ns("G_ns_per_byte", share.gap_per_kib, 1024);
  section.finish();
}

double ns(Time time) { return static_cast<double>(time.count()) / 1000; }

nlohmann::ordered_json describe(const Share& share) {
  return {{"g_ns", ns(share.gap)}, {"G_ns_per_byte", ns(share.gap_per_kib) / 1024}};
}

nlohmann::ordered_json describe(const LinkCost& cost) {
  const auto name = [](Payer payer) { return payer == Payer::card ? "card" : "processor"; };
  return {{"L_ns", ns(cost.latency)},
          {"o_ns", ns(cost.overhead)},
          {"g_ns", ns(cost.gap)},
          {"G_ns_per_byte", ns(cost.gap_per_kib) / 1024},
          {"sender_pays_G", name(cost.sender_pays)},
          {"receiver_pays_G", name(cost.receiver_pays)}};
}

}  // namespace

Model uniform_model(const LinkCost& cost) {
  Model model;
  model.same_node = model.same_switch = model.far = cost;
  return model;
}

namespace {

Model parse(const std::string& text, const std::string& name, std::string& description) {
  const json file = parse_json(text, name, Errc::invalid_argument);
  Model model;
  Section section(file, name);
  section.read("ranks_per_node", model.ranks_per_node, 1);
  section.read("nodes_per_switch", model.nodes_per_switch, 1);
  section.read("eager_bytes", model.eager_bytes);
  section.read_ns("work_ns_per_byte", model.work_per_kib, 1024);
  read_cost(section, name, "same_node", model.same_node);
  read_cost(section, name, "same_switch", model.same_switch);
  read_cost(section, name, "far", model.far);
  read_share(section, name, "node_card", model.card);
  read_share(section, name, "node_memory", model.memory);
  std::string sources;
  section.read_words("description", description);
  section.read_words("sources", sources);
  section.finish();
  return model;
}

std::string text_of(const std::string& file) {
  std::ifstream in(file);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in.is_open() || in.bad()) throw Error(Errc::invalid_argument, fmt::format("{} cannot be read", in_quotes(file)));
  return text;
}

}  // namespace

Model parse_model(const std::string& text, const std::string& name) {
  std::string description;
  return parse(text, name, description);
}

std::string to_json(const Model& model) {
  nlohmann::ordered_json file{{"ranks_per_node", model.ranks_per_node},
                              {"nodes_per_switch", model.nodes_per_switch},
                              {"eager_bytes", model.eager_bytes},
                              {"work_ns_per_byte", ns(model.work_per_kib) / 1024},
                              {"same_node", describe(model.same_node)},
                              {"same_switch", describe(model.same_switch)},
                              {"far", describe(model.far)}};
  file["node_card"] = describe(model.card);
  file["node_memory"] = describe(model.memory);
  return file.dump(2);
}

Model read_model(const std::string& file) { return parse_model(text_of(file), file); }

std::string describe_network(const std::string& file) {
  std::string description;
  static_cast<void>(parse(text_of(file), file, description));
  return description;
}

}  // namespace fab::sim
