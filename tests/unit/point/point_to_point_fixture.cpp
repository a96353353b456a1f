#include "unit/point/point_to_point_fixture.h"

#include <utility>

namespace fab::test::point {

namespace {

constexpr std::size_t kNetworkListeners = 8;  ///< that a rank keeps posted, unless the network has just refused one

}  // namespace

void Operation::end() {
  const core::Lock lock(communicator->engine());
  status = pending->status();
  message = pending->message();
  std::exchange(pending, nullptr)->let_go();
}

core::PointToPoint& point_to_point(core::Communicator& communicator) FAB_REQUIRES(core::engine_lock) {
  return communicator.context().point_to_point();
}

void send(Operation& operation, Destination to, SendMode mode) {
  const core::Lock lock(operation.communicator->engine());
  operation.pending = &point_to_point(*operation.communicator)
                           .send(*operation.communicator, {operation.memory.data(), operation.memory.size()}, to, mode);
}

void receive(Operation& operation, Source from) {
  const core::Lock lock(operation.communicator->engine());
  operation.pending = &point_to_point(*operation.communicator)
                           .receive(*operation.communicator, {operation.memory.data(), operation.memory.size()}, from);
}

std::vector<std::byte> data(std::uint32_t seed, std::size_t bytes) {
  std::vector<std::byte> result(bytes);
  std::uint32_t value = seed * 2654435761u + 1;
  for (std::byte& each : result) each = static_cast<std::byte>((value = value * 1664525u + 1013904223u) >> 24);
  return result;
}

void PrintTo(const Matching& setting, std::ostream* out) { *out << setting.name; }

NetworkOptions PointToPoint::options(std::uint32_t seed) {
  NetworkOptions result = GetParam().network;
  result.seed = seed;
  return result;
}

void PointToPoint::progress(InProcessJob& job, int turns) {
  for (int turn = 0; turn < turns; ++turn) job.progress();
}

void PointToPoint::expect_nothing_left(InProcessJob& job, std::size_t ranks_that_listen) {
  const std::size_t listeners = ranks_that_listen * kNetworkListeners;
  // Refused answers are the engines', and not yet the network's.
  const auto some_active = [&job] {
    for (Rank rank = 0; rank < job.size(); ++rank)
      if (job.context(rank).engine().active() > 0) return true;
    return false;
  };
  for (int turn = 0; turn < 1000 && (job.network().left_over() != listeners || some_active()); ++turn) job.progress();
  EXPECT_EQ(job.network().left_over(), listeners);
  for (Rank rank = 0; rank < job.size(); ++rank) EXPECT_EQ(job.context(rank).engine().active(), 0) << rank;
}

}  // namespace fab::test::point
