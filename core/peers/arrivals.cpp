#include "core/peers/arrivals.h"

#include <fmt/format.h>

namespace fab::core {

Arrivals::Arrivals(Provider& provider)
    : provider_(provider), source_(provider.prepare_source(credit())), mailbox_(provider.expose(memory_)) {
  provider.set_listener(this);
}

Arrivals::~Arrivals() { provider_.set_listener(nullptr); }

void Arrivals::add(WriteTarget& target) {
  if (free_.empty()) {
    if (places_.size() == kPlaces)
      throw Error(Errc::no_resources,
                  fmt::format("this rank has {} messages of persistent exchanges, the most there can be", kPlaces));
    free_.push_back(static_cast<std::uint32_t>(places_.size()));
    places_.emplace_back();
  }
  const std::uint32_t place = free_.back();
  free_.pop_back();
  places_[place].target = &target;
  target.number = places_[place].uses << kPlaceBits | place;
}

void Arrivals::remove(const WriteTarget& target) noexcept {
  Place& place = places_[target.number % kPlaces];
  place.target = nullptr;
  place.uses = (place.uses + 1) % kUses;
  free_.push_back(target.number % kPlaces);
}

void Arrivals::written(std::uint32_t data) noexcept {
  const std::uint32_t number = data >> kLaneBits;
  if (number % kPlaces >= places_.size()) return;
  const Place& place = places_[number % kPlaces];
  if (place.target != nullptr && place.uses == number >> kPlaceBits) place.target->written(data % kLanes);
}

}  // namespace fab::core
