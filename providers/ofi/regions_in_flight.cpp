#include "providers/ofi/regions_in_flight.h"

#include <utility>

namespace fab::ofi {

RegionsInFlight::Regions& RegionsInFlight::begin(const Completion& message) {
  end(message);
  if (spare_.empty()) return all_[&message];
  All::node_type entry = std::move(spare_.back());
  spare_.pop_back();
  entry.key() = &message;
  return all_.insert(std::move(entry)).position->second;
}

void RegionsInFlight::end(const Completion& message) {
  All::node_type entry = all_.extract(&message);
  if (entry.empty()) return;
  entry.mapped().clear();
  spare_.push_back(std::move(entry));
}

}  // namespace fab::ofi
