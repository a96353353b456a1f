#include "collectives/discover/block_messages.h"

#include <fmt/core.h>

#include <array>
#include <utility>

#include "core/context.h"
#include "core/point/own_tag.h"
#include "core/run/wait.h"

namespace fab::collectives {

BlockMessages::BlockMessages(std::shared_ptr<core::Communicator> communicator, const Discovery& call,
                             std::uint64_t place, Discovered& found)
    : communicator_(std::move(communicator)),
      call_(call),
      tag_(core::own_tag(place)),
      found_(found),
      room_(call.block_bytes) {}

BlockMessages::~BlockMessages() {
  const Status reason{make_error_code(Errc::cancelled), "discover: this rank has given up"};
  {
    const core::Lock lock(communicator_->engine());
    for (std::size_t i = sent_; i < sends_.size(); ++i) {
      sends_[i]->abandon(reason);
      sends_[i]->let_go();
    }
    if (receive_ != nullptr) receive_->abandon(reason);
  }
  if (receive_ == nullptr) return;
  core::wait(*receive_);
  const core::Lock lock(communicator_->engine());
  receive_->let_go();
}

void BlockMessages::send(SendMode mode) {
  sends_.reserve(call_.destinations.size());
  const core::Lock lock(communicator_->engine());
  for (std::size_t i = 0; i < call_.destinations.size(); ++i) {
    const Rank to = call_.destinations[i];
    if (to == communicator_->rank()) {
      found_.add(to, call_.block(i), call_.block_bytes);
      continue;
    }
    const core::MessageMemory block(const_cast<std::byte*>(call_.block(i)), call_.block_bytes);
    sends_.push_back(&communicator_->context().point_to_point().send(*communicator_, block, {to, tag_}, mode));
  }
}

void BlockMessages::expect() {
  const core::Lock lock(communicator_->engine());
  receive_ = &communicator_->context().point_to_point().receive(*communicator_, {room_.data(), room_.size()},
                                                                {kAnySource, tag_});
}

Status BlockMessages::look_at_sends() {
  if (sending() == nullptr || !sending()->done()) return {};
  const core::Lock lock(communicator_->engine());
  while (sending() != nullptr && sending()->done()) {
    core::Pending& send = *sends_[sent_++];
    const Status status = send.status();
    send.let_go();
    if (!status.ok()) return status;
  }
  return {};
}

Status BlockMessages::take() {
  core::Pending& receive = *std::exchange(receive_, nullptr);
  const Status status = receive.status();
  const MessageInfo message = receive.message();
  {
    const core::Lock lock(communicator_->engine());
    receive.let_go();
  }
  if (!status.ok()) return status;
  if (message.bytes != call_.block_bytes)
    return {make_error_code(Errc::mismatch),
            fmt::format("blocks have {} bytes here, and {} bytes on rank {}; valid is one size on all ranks",
                        call_.block_bytes, message.bytes, message.source)};
  found_.add(message.source, room_.data(), room_.size());
  return {};
}

Status BlockMessages::stop_expecting() {
  if (receive_ == nullptr) return {};
  {
    const core::Lock lock(communicator_->engine());
    receive_->cancel();
  }
  core::wait(*receive_);
  const Status status = take();
  return status.errc() == Errc::cancelled ? Status() : status;
}

}  // namespace fab::collectives
