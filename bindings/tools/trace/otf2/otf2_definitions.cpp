#include "bindings/tools/trace/otf2/otf2_definitions.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <numeric>

namespace fab::tools {

namespace {

constexpr OTF2_SystemTreeNodeRef kJob = 0;
constexpr const char* kNoFile = "no file";

struct KindRow {
  Otf2Kind kind;
  const char* name;
  OTF2_RegionRole role;
};
constexpr std::array kKinds{KindRow{Otf2Kind::exchange, "exchanges", OTF2_REGION_ROLE_DATA_TRANSFER},
                            KindRow{Otf2Kind::round, "rounds", OTF2_REGION_ROLE_CODE},
                            KindRow{Otf2Kind::wait, "waits", OTF2_REGION_ROLE_FUNCTION},
                            KindRow{Otf2Kind::thread, "progress thread", OTF2_REGION_ROLE_CODE}};

const KindRow& row_of(Otf2Kind kind) { return *std::ranges::find(kKinds, kind, &KindRow::kind); }

struct AttributeRow {
  Otf2Attribute attribute;
  const char* name;
  const char* description;
  OTF2_Type type;
};
constexpr std::array kAttributes{
    AttributeRow{kOtf2Step, "step", "How many-eth start of its operation on the communicator", OTF2_TYPE_UINT64},
    AttributeRow{kOtf2Failed, "failed", "The exchange has failed", OTF2_TYPE_UINT64},
    AttributeRow{kOtf2Round, "round", "The round of the exchange, from 0 on", OTF2_TYPE_UINT64},
    AttributeRow{kOtf2Way, "way", "How fab has carried the message", OTF2_TYPE_STRING}};

/// The time of day at time 0.
std::uint64_t realtime_of_begin(const Timeline& timeline) {
  if (timeline.of_rank.empty()) return OTF2_UNDEFINED_TIMESTAMP;
  const RankTimeline& rank = timeline.of_rank.front();
  return rank.begin.realtime_ns - static_cast<std::uint64_t>(rank.span.begin);
}

Time end_of(const Timeline& timeline) {
  Time end = 0;
  for (RankTimeline rank : timeline.of_rank) rank.visit_times([&](Time& time) { end = std::max(end, time); });
  return end;
}

std::string host_of(const Timeline& timeline, Rank rank) {
  const RankTimeline* const its = timeline.find(rank);
  return its == nullptr ? kNoFile : its->host;
}

std::string rank_name(Rank rank) { return fmt::format("rank {}", rank); }

}  // namespace

OTF2_StringRef Otf2Definitions::string(const std::string& text) {
  const auto [place, is_new] = strings_.try_emplace(text, static_cast<OTF2_StringRef>(texts_.size()));
  if (is_new) texts_.push_back(text);
  return place->second;
}

OTF2_RegionRef Otf2Definitions::region(const std::string& name, Otf2Kind kind) {
  return regions_.try_emplace({name, kind}, static_cast<OTF2_RegionRef>(regions_.size())).first->second;
}

void Otf2Definitions::location(OTF2_LocationRef number, const std::string& name, Rank rank, std::uint64_t events) {
  locations_.push_back({number, name, rank, events});
}

void Otf2Definitions::write(Otf2Archive& archive, const Timeline& timeline) {
  OTF2_GlobalDefWriter* const writer = archive.definitions();
  const auto length = static_cast<std::uint64_t>(end_of(timeline));
  archive.must(OTF2_GlobalDefWriter_WriteClockProperties(writer, 1'000'000'000, 0, length, realtime_of_begin(timeline)),
               "OTF2_GlobalDefWriter_WriteClockProperties");
  collect_strings(timeline);
  write_strings(archive, writer);
  write_attributes(archive, writer);
  write_regions(archive, writer);
  write_locations(archive, writer, timeline);
  write_groups(archive, writer, timeline.ranks);
}

/// They are written before what names them.
void Otf2Definitions::collect_strings(const Timeline& timeline) {
  for (const char* text : {"", "job", "machine", "node", "world", "ranks"}) (void)string(text);
  for (const AttributeRow& row : kAttributes) {
    (void)string(row.name);
    (void)string(row.description);
  }
  for (const KindRow& row : kKinds) (void)string(row.name);
  for (const auto& [region, number] : regions_) (void)string(region.first);
  for (Rank rank = 0; rank < timeline.ranks; ++rank) {
    (void)string(host_of(timeline, rank));
    (void)string(rank_name(rank));
  }
  for (const Location& location : locations_) (void)string(location.name);
}

void Otf2Definitions::write_strings(Otf2Archive& archive, OTF2_GlobalDefWriter* writer) {
  for (std::size_t i = 0; i < texts_.size(); ++i)
    archive.must(OTF2_GlobalDefWriter_WriteString(writer, static_cast<OTF2_StringRef>(i), texts_[i].c_str()),
                 "OTF2_GlobalDefWriter_WriteString");
}

void Otf2Definitions::write_attributes(Otf2Archive& archive, OTF2_GlobalDefWriter* writer) {
  for (const AttributeRow& row : kAttributes)
    archive.must(
        OTF2_GlobalDefWriter_WriteAttribute(writer, row.attribute, string(row.name), string(row.description), row.type),
        "OTF2_GlobalDefWriter_WriteAttribute");
}

/// Readers want definitions of a type in the order of their numbers.
void Otf2Definitions::write_regions(Otf2Archive& archive, OTF2_GlobalDefWriter* writer) {
  std::vector<const Region*> by_number(regions_.size());
  for (const auto& [region, number] : regions_) by_number[number] = &region;
  for (OTF2_RegionRef number = 0; const Region* region : by_number) {
    const OTF2_StringRef name = string(region->first);
    archive.must(OTF2_GlobalDefWriter_WriteRegion(writer, number++, name, name, string(""), row_of(region->second).role,
                                                  OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE, string(""), 0, 0),
                 "OTF2_GlobalDefWriter_WriteRegion");
  }
}

/// Of locations and ranks for the communicator that messages name, and of regions by their kind.
void Otf2Definitions::write_groups(Otf2Archive& archive, OTF2_GlobalDefWriter* writer, int ranks) {
  OTF2_GroupRef next = 0;
  const auto group = [&](const char* name, OTF2_GroupType type, OTF2_Paradigm paradigm,
                         const std::vector<std::uint64_t>& members) {
    archive.must(OTF2_GlobalDefWriter_WriteGroup(writer, next, string(name), type, paradigm, OTF2_GROUP_FLAG_NONE,
                                                 static_cast<std::uint32_t>(members.size()), members.data()),
                 "OTF2_GlobalDefWriter_WriteGroup");
    return next++;
  };
  std::vector<std::uint64_t> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), std::uint64_t{0});
  group("", OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI, all);
  const OTF2_GroupRef world = group("ranks", OTF2_GROUP_TYPE_COMM_GROUP, OTF2_PARADIGM_MPI, all);
  for (const KindRow& row : kKinds) {
    std::vector<std::uint64_t> members;
    for (const auto& [region, number] : regions_)
      if (region.second == row.kind) members.push_back(number);
    if (!members.empty()) group(row.name, OTF2_GROUP_TYPE_REGIONS, OTF2_PARADIGM_USER, members);
  }
  archive.must(OTF2_GlobalDefWriter_WriteComm(writer, kOtf2World, string("world"), world, OTF2_UNDEFINED_COMM,
                                              OTF2_COMM_FLAG_NONE),
               "OTF2_GlobalDefWriter_WriteComm");
}

/// Hosts, with their ranks, with their locations.
void Otf2Definitions::write_locations(Otf2Archive& archive, OTF2_GlobalDefWriter* writer, const Timeline& timeline) {
  const auto node = [&](OTF2_SystemTreeNodeRef number, const std::string& name, const char* its_class,
                        OTF2_SystemTreeNodeRef parent) {
    archive.must(OTF2_GlobalDefWriter_WriteSystemTreeNode(writer, number, string(name), string(its_class), parent),
                 "OTF2_GlobalDefWriter_WriteSystemTreeNode");
  };
  node(kJob, "job", "machine", OTF2_UNDEFINED_SYSTEM_TREE_NODE);
  std::map<std::string, OTF2_SystemTreeNodeRef> hosts;
  for (Rank rank = 0; rank < timeline.ranks; ++rank) {
    const std::string host = host_of(timeline, rank);
    const auto [place, is_new] = hosts.try_emplace(host, static_cast<OTF2_SystemTreeNodeRef>(hosts.size() + 1));
    if (is_new) node(place->second, host, "node", kJob);
    archive.must(OTF2_GlobalDefWriter_WriteLocationGroup(writer, static_cast<OTF2_LocationGroupRef>(rank),
                                                         string(rank_name(rank)), OTF2_LOCATION_GROUP_TYPE_PROCESS,
                                                         place->second, OTF2_UNDEFINED_LOCATION_GROUP),
                 "OTF2_GlobalDefWriter_WriteLocationGroup");
  }
  for (const Location& location : locations_)
    archive.must(OTF2_GlobalDefWriter_WriteLocation(writer, location.number, string(location.name),
                                                    OTF2_LOCATION_TYPE_CPU_THREAD, location.events,
                                                    static_cast<OTF2_LocationGroupRef>(location.rank)),
                 "OTF2_GlobalDefWriter_WriteLocation");
}

}  // namespace fab::tools
