#include "unit/collectives/collective_performance.h"

#include <gtest/gtest.h>

#include <cstring>

#include "collectives/start.h"
#include "support/fill.h"

namespace fab::test {

Performance::Performance(const CollectiveModel& model, const CollectiveShape& shape)
    : model_(model), shape_(shape), distance_(shape.scattered ? 3 * shape.element_bytes : shape.element_bytes) {
  element_ = Layout::contiguous(shape.element_bytes).resized(0, static_cast<std::ptrdiff_t>(distance_));
  for (Rank rank = 0; rank < shape.ranks; ++rank) {
    values_.push_back(random_values(rank));
    const bool in_place = model.is_in_place(shape, rank);
    send_.push_back(buffer(in_place ? 0 : model.sent(shape, rank)));
    recv_.push_back(buffer(model.received(shape, rank)));
    if (in_place)
      put(values_.back(), recv_.back(), model.in_place_at(shape, rank));
    else
      put(values_.back(), send_.back(), 0);
  }
  recv_before_ = recv_;
  send_before_ = send_;
}

core::Run& Performance::start(core::Communicator& communicator) {
  return start_locked(communicator, [&](core::Communicator& its) -> core::Run& { return start_under_lock(its); });
}

core::Run& Performance::start_under_lock(core::Communicator& communicator) {
  const auto rank = static_cast<std::size_t>(communicator.rank());
  core::engine_lock.assert_held();
  return collectives::start(communicator, send_[rank].data(), recv_[rank].data(),
                            model_.call(shape_, communicator.rank(), element_));
}

core::Persistent Performance::make(const std::shared_ptr<core::Communicator>& communicator) {
  const auto rank = static_cast<std::size_t>(communicator->rank());
  return collectives::make(communicator, send_[rank].data(), recv_[rank].data(),
                           model_.call(shape_, communicator->rank(), element_));
}

void Performance::check(Rank rank) const {
  const auto index = static_cast<std::size_t>(rank);
  Bytes expected = recv_before_[index];
  if (const auto values = model_.expected(shape_, values_, rank)) put(*values, expected, 0);
  EXPECT_TRUE(same(recv_[index], expected)) << "what rank " << rank << " has is not what it should have";
  EXPECT_TRUE(same(send_[index], send_before_[index])) << "the send buffer of rank " << rank << " has changed";
}

Bytes Performance::random_values(Rank rank) const {
  Bytes values(model_.sent(shape_, rank) * shape_.element_bytes);
  fill_by_chance(values, static_cast<std::uint64_t>(rank) << 40);
  return values;
}

Bytes Performance::buffer(std::size_t elements) const { return Bytes(elements * distance_ + 16, kUntouched); }

void Performance::put(const Bytes& values, Bytes& buffer, std::size_t first_element) const {
  std::byte* place = buffer.data() + first_element * distance_;
  if (distance_ == shape_.element_bytes && !values.empty()) {
    std::memcpy(place, values.data(), values.size());
    return;
  }
  for (std::size_t at = 0; at < values.size(); at += shape_.element_bytes, place += distance_)
    std::memcpy(place, values.data() + at, shape_.element_bytes);
}

void perform(InProcessJob& job, const InProcessJob::Communicators& communicators, const CollectiveModel& model,
             const CollectiveShape& shape) {
  SCOPED_TRACE(testing::PrintToString(shape));
  Performance performance(model, shape);
  std::vector<core::Run*> runs;
  for (const auto& communicator : communicators) runs.push_back(&performance.start(*communicator));
  ASSERT_NO_FATAL_FAILURE(job.finish(runs));
  for (Rank rank = 0; rank < shape.ranks; ++rank) {
    const Status status = release(*runs[static_cast<std::size_t>(rank)]);
    ASSERT_TRUE(status.ok()) << "rank " << rank << ": " << status.message;
    performance.check(rank);
  }
}

}  // namespace fab::test
