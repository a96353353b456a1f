#include "core/peers/arrivals.h"

#include <fmt/core.h>

namespace fab::core {

Arrivals::Arrivals(Provider& provider)
    : provider_(provider), source_(provider.prepare_source(credit())), exposed_(provider.expose(memory_)) {
  provider.set_listener(this);
}

Arrivals::~Arrivals() { provider_.set_listener(nullptr); }

void Arrivals::add(WriteTarget& target) {
  if (places_.all_in_use() && places_.size() == kPlaces)
    throw Error(Errc::no_resources,
                fmt::format("persistent exchanges of this rank have {} messages, the maximum; free some", kPlaces));
  Place& place = places_.take();
  place.target = &target;
  target.number = place.uses << kPlaceBits | place.number;
}

void Arrivals::remove(const WriteTarget& target) noexcept {
  Place& place = places_[target.number % kPlaces];
  place.target = nullptr;
  place.uses = (place.uses + 1) % kUses;
  places_.give_back(place);
}

void Arrivals::written(std::uint32_t data) noexcept {
  engine_lock.assert_held();
  const std::uint32_t number = data >> kLaneBits;
  if (number % kPlaces >= places_.size()) return;
  const Place& place = places_[number % kPlaces];
  if (place.target != nullptr && place.uses == number >> kPlaceBits) place.target->written(data % kLanes);
}

}  // namespace fab::core
