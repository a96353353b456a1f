#include "wire.h"

#include <rdma/fi_errno.h>

#include <algorithm>

#include "violation.h"

namespace strict {

namespace {

constexpr std::size_t kPostedFrames = 32;
constexpr std::size_t kFrameHeadBytes = offsetof(Frame, payload);

}  // namespace

Wire::Wire(fid_ep* endpoint, fid_cq* queue, Arrived arrived, Left left)
    : endpoint_(endpoint), queue_(queue), arrived_(std::move(arrived)), left_(std::move(left)) {
  for (std::size_t i = 0; i < kPostedFrames; ++i) unposted_.push_back(new_frame());
}

Wire::~Wire() { fi_close(&endpoint_->fid); }

std::unique_ptr<Frame> Wire::new_frame() {
  if (spare_.empty()) return std::make_unique<Frame>();
  std::unique_ptr<Frame> frame = std::move(spare_.back());
  spare_.pop_back();
  frame->head = {};
  frame->owner = 0;
  return frame;
}

std::unique_ptr<Frame> Wire::take(Frames& frames, const Frame& frame) {
  const auto found = std::ranges::find_if(frames, [&frame](const auto& each) { return each.get() == &frame; });
  if (found == frames.end()) return nullptr;
  std::unique_ptr<Frame> taken = std::move(*found);
  frames.erase(found);
  return taken;
}

bool Wire::send(fi_addr_t to, std::unique_ptr<Frame>& frame) {
  iovec piece{&frame->head, kFrameHeadBytes + frame->head.bytes};
  fi_msg message{};
  message.msg_iov = &piece;
  message.iov_count = 1;
  message.addr = to;
  message.context = frame.get();
  const ssize_t result = fi_sendmsg(endpoint_, &message, FI_COMPLETION);
  if (result == -FI_EAGAIN) return false;
  if (result == 0) {
    leaving_.push_back(std::move(frame));
  } else {
    failed_.emplace_back(frame->owner, static_cast<int>(-result));
    recycle(std::move(frame));
  }
  return true;
}

void Wire::progress() {
  post_frames();
  for (const auto& [owner, error] : std::exchange(failed_, {})) left_(owner, error);
  read_queue();
}

void Wire::post_frames() {
  while (!unposted_.empty()) {
    Frame& frame = *unposted_.front();
    const ssize_t result =
        fi_recv(endpoint_, &frame.head, kFrameHeadBytes + kFrameBytes, nullptr, FI_ADDR_UNSPEC, &frame);
    if (result == -FI_EAGAIN) break;
    demand(result == 0, "fi_recv below: {}", fi_strerror(static_cast<int>(-result)));
    posted_.splice(posted_.end(), unposted_, unposted_.begin());
  }
}

void Wire::read_queue() {
  std::array<fi_cq_msg_entry, 16> entries;
  for (;;) {
    const ssize_t count = fi_cq_read(queue_, entries.data(), entries.size());
    if (count == -FI_EAGAIN) return;
    if (count == -FI_EAVAIL) {
      fi_cq_err_entry error{};
      if (fi_cq_readerr(queue_, &error, 0) == 1 && error.op_context != nullptr)
        end(*static_cast<Frame*>(error.op_context), error.err);
      continue;
    }
    demand(count > 0, "fi_cq_read below: {}", fi_strerror(static_cast<int>(-count)));
    for (const fi_cq_msg_entry& entry : std::span(entries).first(static_cast<std::size_t>(count)))
      end(*static_cast<Frame*>(entry.op_context), 0);
  }
}

void Wire::end(Frame& frame, int error) {
  if (std::unique_ptr<Frame> left = take(leaving_, frame)) {
    if (left->owner != 0) left_(left->owner, error);
    return recycle(std::move(left));
  }
  std::unique_ptr<Frame> came = take(posted_, frame);
  demand(came != nullptr, "a completion below for no frame");
  if (error == 0) arrived_(*came);
  unposted_.push_back(std::move(came));
}

}  // namespace strict
