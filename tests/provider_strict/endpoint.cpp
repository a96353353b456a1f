#include "endpoint.h"

#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "addresses.h"
#include "domain.h"
#include "object.h"
#include "profile.h"
#include "queue.h"
#include "violation.h"

namespace strict {

namespace {

/// Frames of one transfer that may be on their way at once.
constexpr unsigned kFramesAtOnce = 8;
constexpr std::uint64_t kUndefined = 0xdeaddeaddeaddeadull;

Endpoint& endpoint_of(fid_ep* object) { return *static_cast<Endpoint*>(object); }
Endpoint& endpoint_of(fid* object) { return endpoint_of(reinterpret_cast<fid_ep*>(object)); }

int close_endpoint(fid* object) {
  delete &endpoint_of(object);
  return 0;
}
int bind_endpoint(fid* object, fid* other, std::uint64_t flags) { return endpoint_of(object).bind(other, flags); }
int control_endpoint(fid* object, int command, void*) {
  return command == FI_ENABLE ? endpoint_of(object).enable() : -FI_ENOSYS;
}
ssize_t cancel_operation(fid* object, void* context) {
  const Domain::Entry entry(endpoint_of(object).domain(), "fi_cancel");
  return endpoint_of(object).cancel(context);
}
int name_of_endpoint(fid* object, void* address, std::size_t* bytes) {
  return endpoint_of(object).name(address, bytes);
}
ssize_t send_message(fid_ep* object, const fi_msg_tagged* message, std::uint64_t flags) {
  const Domain::Entry entry(endpoint_of(object).domain(), "fi_tsendmsg");
  return endpoint_of(object).send(*message, flags);
}
ssize_t receive_message(fid_ep* object, const fi_msg_tagged* message, std::uint64_t flags) {
  const Domain::Entry entry(endpoint_of(object).domain(), "fi_trecvmsg");
  return endpoint_of(object).receive(*message, flags);
}
ssize_t write_message(fid_ep* object, const fi_msg_rma* message, std::uint64_t flags) {
  const Domain::Entry entry(endpoint_of(object).domain(), "fi_writemsg");
  return endpoint_of(object).write(*message, flags);
}

fi_ops fid_operations = object_operations(close_endpoint, bind_endpoint, control_endpoint);
fi_ops_ep operations = {.size = sizeof(fi_ops_ep),
                        .cancel = cancel_operation,
                        .getopt = nullptr,
                        .setopt = nullptr,
                        .tx_ctx = nullptr,
                        .rx_ctx = nullptr,
                        .rx_size_left = nullptr,
                        .tx_size_left = nullptr};
fi_ops_cm name_operations = {.size = sizeof(fi_ops_cm),
                             .setname = nullptr,
                             .getname = name_of_endpoint,
                             .getpeer = nullptr,
                             .connect = nullptr,
                             .listen = nullptr,
                             .accept = nullptr,
                             .reject = nullptr,
                             .shutdown = nullptr,
                             .join = nullptr};
fi_ops_tagged tagged_operations = {.size = sizeof(fi_ops_tagged),
                                   .recv = nullptr,
                                   .recvv = nullptr,
                                   .recvmsg = receive_message,
                                   .send = nullptr,
                                   .sendv = nullptr,
                                   .sendmsg = send_message,
                                   .inject = nullptr,
                                   .senddata = nullptr,
                                   .injectdata = nullptr};
fi_ops_rma write_operations = {.size = sizeof(fi_ops_rma),
                               .read = nullptr,
                               .readv = nullptr,
                               .readmsg = nullptr,
                               .write = nullptr,
                               .writev = nullptr,
                               .writemsg = write_message,
                               .inject = nullptr,
                               .writedata = nullptr,
                               .injectdata = nullptr};

std::uint64_t tag_mask() noexcept { return profile().tag_bits >= 64 ? ~0ull : (1ull << profile().tag_bits) - 1; }

void check_tag(const char* call, const char* what, std::uint64_t tag) {
  demand((tag & ~tag_mask()) == 0, "{}: {} {:#x} uses reserved bits; the format has {} bits", call, what, tag,
         profile().tag_bits);
}

void check_data(const char* call, std::uint64_t flags, std::uint64_t data) {
  const std::size_t bits = 8 * profile().cq_data_bytes;
  demand((flags & FI_REMOTE_CQ_DATA) == 0 || bits >= 64 || data >> bits == 0, "{}: data {:#x}; it has {} bytes", call,
         data, profile().cq_data_bytes);
}

void set_data(FrameHead& head, std::uint64_t flags, std::uint64_t data) {
  head.data = data;
  head.has_data = (flags & FI_REMOTE_CQ_DATA) != 0 ? 1 : 0;
}

}  // namespace

Endpoint::Endpoint(Domain& domain, fid_ep* lower)
    : fid_ep{.fid = {.fclass = FI_CLASS_EP, .context = this, .ops = &fid_operations},
             .ops = &operations,
             .cm = &name_operations,
             .msg = nullptr,
             .rma = profile().writes ? &write_operations : nullptr,
             .tagged = &tagged_operations,
             .atomic = nullptr,
             .collective = nullptr},
      domain_(domain),
      lower_(lower),
      matching_([this](const Message& message) { received(message); }),
      chance_(std::random_device{}()) {}

Endpoint::~Endpoint() {
  demand(!domain_.regions().any_bound_to(*this),
         "fi_close: the endpoint is closed before memory that is bound to it (-FI_EBUSY)");
  domain_.regions().forget_uses();
  if (queue_ != nullptr) queue_->serve(nullptr);
  if (!wire_) fi_close(&lower_->fid);
}

int Endpoint::bind(struct fid* other, std::uint64_t flags) {
  if (other->fclass == FI_CLASS_AV) {
    addresses_ = static_cast<Addresses*>(reinterpret_cast<fid_av*>(other));
    return fi_ep_bind(lower_, &addresses_->lower()->fid, 0);
  }
  if (other->fclass != FI_CLASS_CQ || flags != (FI_TRANSMIT | FI_RECV)) return -FI_ENOSYS;
  queue_ = static_cast<Queue*>(reinterpret_cast<fid_cq*>(other));
  return fi_ep_bind(lower_, &queue_->lower()->fid, flags);
}

int Endpoint::enable() {
  demand(addresses_ != nullptr && queue_ != nullptr, "fi_enable: without address vector or completion queue");
  const int enabled = fi_enable(lower_);
  if (enabled != 0) return enabled;
  std::array<char, sizeof(FrameHead::source)> address{};
  std::size_t bytes = address.size();
  const int named = fi_getname(&lower_->fid, address.data(), &bytes);
  if (named != 0) return named;
  own_address_.assign(address.data(), bytes);
  wire_ = std::make_unique<Wire>(
      lower_, queue_->lower(), [this](const Frame& frame) { frame_arrived(frame); },
      [this](std::uint64_t number, int error) { frame_left(number, error); });
  queue_->serve(this);
  wire_->progress();
  return 0;
}

int Endpoint::name(void* address, std::size_t* bytes) {
  if (!wire_) return -FI_EOPBADSTATE;
  const std::size_t room = *bytes;
  *bytes = own_address_.size();
  std::memcpy(address, own_address_.data(), std::min(room, own_address_.size()));
  return room < own_address_.size() ? -FI_ETOOSMALL : 0;
}

bool Endpoint::refuses(std::size_t in_flight) {
  return in_flight >= profile().queue_size || queue_->full() || chance_.one_in(profile().refuses_one_in);
}

void Endpoint::check_post(const char* call, const iovec* pieces, void* const* descriptors, std::size_t count,
                          std::uint64_t access, std::uint64_t flags) const {
  demand(wire_ != nullptr, "{}: the endpoint is not enabled", call);
  demand(count <= profile().iov_limit, "{}: {} pieces; the limit is {}", call, count, profile().iov_limit);
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) bytes += pieces[i].iov_len;
  demand(bytes <= profile().max_message_bytes, "{}: {} bytes; the limit is {}", call, bytes,
         profile().max_message_bytes);
  if ((flags & FI_INJECT) != 0)
    demand(profile().inject_bytes > 0 && bytes <= profile().inject_bytes, "{}: FI_INJECT of {} bytes; the limit is {}",
           call, bytes, profile().inject_bytes);
  else
    domain_.regions().check_descriptors(call, pieces, descriptors, count, access, *this);
}

ssize_t Endpoint::send(const fi_msg_tagged& message, std::uint64_t flags) {
  constexpr const char* kCall = "fi_tsendmsg";
  check_post(kCall, message.msg_iov, message.desc, message.iov_count, FI_SEND, flags);
  check_tag(kCall, "tag", message.tag);
  demand((flags & FI_REMOTE_CQ_DATA) == 0 || profile().cq_data_bytes > 0, "{}: FI_REMOTE_CQ_DATA", kCall);
  check_data(kCall, flags, message.data);
  Transfer transfer;
  transfer.kind = FrameKind::message;
  transfer.lent_flags = FI_TAGGED | FI_SEND;
  transfer.context = message.context;
  transfer.head.tag = message.tag;
  set_data(transfer.head, flags, message.data);
  return post(std::move(transfer), message.msg_iov, message.desc, message.iov_count, flags, message.addr, kCall);
}

ssize_t Endpoint::write(const fi_msg_rma& message, std::uint64_t flags) {
  constexpr const char* kCall = "fi_writemsg";
  check_post(kCall, message.msg_iov, message.desc, message.iov_count, FI_WRITE, flags);
  demand(message.rma_iov_count == 1, "{}: {} remote pieces; the limit is 1", kCall, message.rma_iov_count);
  check_data(kCall, flags, message.data);
  Transfer transfer;
  transfer.kind = FrameKind::write;
  transfer.lent_flags = FI_RMA | FI_WRITE;
  transfer.context = message.context;
  transfer.head.address = message.rma_iov[0].addr;
  transfer.head.key = message.rma_iov[0].key;
  set_data(transfer.head, flags, message.data);
  return post(std::move(transfer), message.msg_iov, message.desc, message.iov_count, flags, message.addr, kCall);
}

ssize_t Endpoint::post(Transfer transfer, const iovec* pieces, void* const* descriptors, std::size_t count,
                       std::uint64_t flags, fi_addr_t to, const char* call) {
  transfer.to = addresses_->at(call, to).lower;
  if (refuses(transfers_.size())) return -FI_EAGAIN;
  queue_->lend(call, transfer.context);
  transfer.pieces.assign(pieces, pieces + count);
  transfer.number = ++last_number_;
  transfer.head.kind = transfer.kind;
  transfer.head.transfer = transfer.number;
  transfer.head.total = bytes_of(transfer.pieces);
  std::copy(own_address_.begin(), own_address_.end(), transfer.head.source.begin());
  if ((flags & FI_INJECT) != 0) {
    transfer.injected.resize(transfer.head.total);
    gather(transfer.pieces, 0, transfer.injected.data(), transfer.head.total);
    transfer.pieces = {{transfer.injected.data(), transfer.injected.size()}};
  } else if (descriptors != nullptr) {
    transfer.descriptors.assign(descriptors, descriptors + count);
    domain_.regions().take(transfer.descriptors.data(), transfer.pieces.data(), count, 1);
  }
  transfers_.push_back(std::move(transfer));
  return 0;
}

ssize_t Endpoint::receive(const fi_msg_tagged& message, std::uint64_t flags) {
  constexpr const char* kCall = "fi_trecvmsg";
  demand((flags & ~FI_COMPLETION) == 0, "{}: flags {:#x}", kCall, flags);
  check_post(kCall, message.msg_iov, message.desc, message.iov_count, FI_RECV, flags);
  check_tag(kCall, "tag", message.tag);
  check_tag(kCall, "ignore", message.ignore);
  demand(profile().directed_receive || message.addr == FI_ADDR_UNSPEC, "{}: a source, without FI_DIRECTED_RECV", kCall);
  Receive receive;
  if (message.addr != FI_ADDR_UNSPEC) receive.source = addresses_->at(kCall, message.addr).raw;
  if (refuses(matching_.receives())) return -FI_EAGAIN;
  queue_->lend(kCall, message.context);
  receive.pieces.assign(message.msg_iov, message.msg_iov + message.iov_count);
  if (message.desc != nullptr) receive.descriptors.assign(message.desc, message.desc + message.iov_count);
  domain_.regions().take(receive.descriptors.data(), receive.pieces.data(), receive.descriptors.size(), 1);
  receive.tag = message.tag;
  receive.ignore = message.ignore;
  receive.context = message.context;
  matching_.post(std::move(receive));
  return 0;
}

ssize_t Endpoint::cancel(void* context) {
  Receive receive;
  if (!matching_.take_back(context, receive)) return -FI_ENOENT;
  domain_.regions().take(receive.descriptors.data(), receive.pieces.data(), receive.descriptors.size(), -1);
  fi_cq_err_entry entry{};
  entry.op_context = context;
  entry.flags = FI_TAGGED | FI_RECV;
  entry.tag = receive.tag;
  entry.err = entry.prov_errno = FI_ECANCELED;
  queue_->report(entry);
  return 0;
}

void Endpoint::received(const Message& message) {
  const Receive& receive = message.receive;
  domain_.regions().take(receive.descriptors.data(), receive.pieces.data(), receive.descriptors.size(), -1);
  const std::uint64_t room = bytes_of(receive.pieces);
  if (message.total <= room) {
    fi_cq_tagged_entry entry{};
    entry.op_context = receive.context;
    entry.flags = FI_TAGGED | FI_RECV | (message.has_data ? FI_REMOTE_CQ_DATA : 0);
    entry.len = message.total;
    entry.tag = message.tag;
    entry.data = message.data;
    return queue_->report(entry);
  }
  fi_cq_err_entry entry{};
  entry.op_context = receive.context;
  entry.flags = FI_TAGGED | FI_RECV;
  entry.len = room;
  entry.olen = message.total - room;
  entry.tag = message.tag;
  entry.err = entry.prov_errno = FI_ETRUNC;
  queue_->report(entry);
}

bool Endpoint::needs_polls() const noexcept {
  return !answers_.empty() ||
         std::ranges::any_of(transfers_, [](const Transfer& transfer) { return !transfer.all_posted; });
}

void Endpoint::progress() {
  const Domain::Entry entry(domain_, "fi_cq_read");
  if (!queue_->full()) wire_->progress();
  while (!answers_.empty() && wire_->send(answers_.front().to, answers_.front().frame)) answers_.pop_front();
  let_go();
}

// Messages keep their order towards each peer, where there is one; writes have none.
bool Endpoint::may_begin(const Transfer& transfer) const {
  if (!profile().ordered || transfer.kind != FrameKind::message) return true;
  for (const Transfer& earlier : transfers_) {
    if (&earlier == &transfer) return true;
    if (earlier.kind == FrameKind::message && earlier.to == transfer.to && !earlier.all_posted) return false;
  }
  return true;
}

void Endpoint::let_go() {
  std::vector<Transfer*> order;
  for (Transfer& transfer : transfers_)
    if (!transfer.all_posted) order.push_back(&transfer);
  if (!profile().ordered)
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[chance_.below(i)]);
  for (Transfer* transfer : order) {
    if (!transfer->begun && (!may_begin(*transfer) || chance_.one_in(profile().ordered ? 8 : 2))) continue;
    transfer->begun = true;
    push(*transfer);
  }
}

void Endpoint::push(Transfer& transfer) {
  while (!transfer.all_posted && transfer.frames_leaving < kFramesAtOnce) {
    std::unique_ptr<Frame> frame = wire_->new_frame();
    frame->head = transfer.head;
    frame->head.offset = transfer.posted;
    frame->head.bytes =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(kFrameBytes, transfer.head.total - transfer.posted));
    gather(transfer.pieces, transfer.posted, frame->payload.data(), frame->head.bytes);
    frame->owner = transfer.number;
    const std::uint64_t bytes = frame->head.bytes;
    ++transfer.frames_leaving;
    transfer.posted += bytes;
    transfer.all_posted = transfer.posted == transfer.head.total;
    if (wire_->send(transfer.to, frame)) continue;
    --transfer.frames_leaving;
    transfer.posted -= bytes;
    transfer.all_posted = false;
    return wire_->recycle(std::move(frame));
  }
}

void Endpoint::frame_left(std::uint64_t number, int error) {
  const auto transfer = std::ranges::find(transfers_, number, &Transfer::number);
  if (transfer == transfers_.end()) return;
  --transfer->frames_leaving;
  if (error != 0) {
    transfer->error = error;
    transfer->all_posted = true;
  }
  end_if_over(*transfer);
}

// A write is over when its target says so.
void Endpoint::end_if_over(Transfer& transfer) {
  if (!transfer.all_posted || transfer.frames_leaving > 0) return;
  if (transfer.kind == FrameKind::write && !transfer.answered && transfer.error == 0) return;
  domain_.regions().take(transfer.descriptors.data(), transfer.pieces.data(), transfer.descriptors.size(), -1);
  if (transfer.error == 0) {
    fi_cq_tagged_entry entry{};
    entry.op_context = transfer.context;
    entry.flags = transfer.lent_flags;
    entry.len = entry.data = entry.tag = kUndefined;
    queue_->report(entry);
  } else {
    fi_cq_err_entry entry{};
    entry.op_context = transfer.context;
    entry.flags = transfer.lent_flags;
    entry.err = entry.prov_errno = transfer.error;
    queue_->report(entry);
  }
  transfers_.remove_if([&transfer](const Transfer& other) { return &other == &transfer; });
}

void Endpoint::frame_arrived(const Frame& frame) {
  const std::string source(frame.head.source.data(), own_address_.size());
  switch (frame.head.kind) {
    case FrameKind::message:
      return matching_.arrived(frame.head, frame.payload.data(), source);
    case FrameKind::write:
      return written(frame, source);
    case FrameKind::answer:
      return answered(frame.head);
  }
  violation("a frame of kind {}", static_cast<unsigned>(frame.head.kind));
}

// Frames of a write come in their order, so the last one ends it.
void Endpoint::written(const Frame& frame, const std::string& source) {
  const FrameHead& head = frame.head;
  const bool last = head.offset + head.bytes == head.total;
  std::byte* target = domain_.regions().target(head.key, head.address, head.total);
  if (target == nullptr) {
    if (last) answer(source, head.transfer, FI_EACCES);
    return;
  }
  std::copy_n(frame.payload.begin(), head.bytes, target + head.offset);
  if (!last) return;
  answer(source, head.transfer, 0);
  if (head.has_data == 0) return;
  fi_cq_tagged_entry entry{};
  entry.flags = FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA;
  entry.len = head.total;
  entry.data = head.data;
  queue_->report(entry);
}

void Endpoint::answer(const std::string& source, std::uint64_t number, int error) {
  Answer answer{.to = addresses_->lower_of(source), .frame = wire_->new_frame()};
  answer.frame->head.kind = FrameKind::answer;
  answer.frame->head.transfer = number;
  answer.frame->head.error = error;
  answers_.push_back(std::move(answer));
}

void Endpoint::answered(const FrameHead& head) {
  const auto transfer = std::ranges::find(transfers_, head.transfer, &Transfer::number);
  if (transfer == transfers_.end()) return;
  transfer->answered = true;
  if (transfer->error == 0) transfer->error = head.error;
  end_if_over(*transfer);
}

}  // namespace strict
