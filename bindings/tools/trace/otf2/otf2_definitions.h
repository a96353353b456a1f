// Writes the definitions that the events of an OTF2 archive refer to: strings, regions, locations, attributes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bindings/tools/trace/otf2/otf2_archive.h"

namespace fab::tools {

/// Readers show the regions of a kind together.
enum class Otf2Kind : std::uint8_t { exchange, round, wait, thread };

enum Otf2Attribute : OTF2_AttributeRef {
  kOtf2Step,    ///< of an exchange: how many-eth start of its operation
  kOtf2Failed,  ///< of an exchange, with the value 1
  kOtf2Round,   ///< of a message
  kOtf2Way      ///< of a message: "cell", "tagged"
};

class Otf2Definitions {
 public:
  [[nodiscard]] OTF2_StringRef string(const std::string& text);
  [[nodiscard]] OTF2_RegionRef region(const std::string& name, Otf2Kind kind);
  void location(OTF2_LocationRef number, const std::string& name, Rank rank, std::uint64_t events);

  void write(Otf2Archive& archive, const Timeline& timeline);

 private:
  struct Location {
    OTF2_LocationRef number;
    std::string name;
    Rank rank;
    std::uint64_t events;
  };
  using Region = std::pair<std::string, Otf2Kind>;

  void collect_strings(const Timeline& timeline);
  void write_strings(Otf2Archive& archive, OTF2_GlobalDefWriter* writer);
  void write_attributes(Otf2Archive& archive, OTF2_GlobalDefWriter* writer);
  void write_regions(Otf2Archive& archive, OTF2_GlobalDefWriter* writer);
  void write_locations(Otf2Archive& archive, OTF2_GlobalDefWriter* writer, const Timeline& timeline);
  void write_groups(Otf2Archive& archive, OTF2_GlobalDefWriter* writer, int ranks);

  std::map<std::string, OTF2_StringRef> strings_;
  std::vector<std::string> texts_;
  std::map<Region, OTF2_RegionRef> regions_;
  std::vector<Location> locations_;
};

}  // namespace fab::tools
