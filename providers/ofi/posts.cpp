// The posts of OfiProvider: messages, the parts of long ones, writes, and the registered memory of all of them.
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/shared_heap.h"
#include "providers/ofi/ofi_provider.h"

namespace fab::ofi {

namespace {

/// Who does not know a key cannot write, so keys are random where the provider leaves them to its user.
constexpr int kKeyTries = 16;

std::uint64_t random_key(const fi_info& info) {
  if ((info.domain_attr->mr_mode & FI_MR_PROV_KEY) != 0) return 0;
  std::uint64_t key = 0;
  if (::getrandom(&key, sizeof(key), 0) != sizeof(key))
    throw Error(Errc::no_resources, "getrandom: no random number for a memory key");
  const std::size_t bits = 8 * info.domain_attr->mr_key_size;
  return bits >= 64 ? key : key & ((1ull << bits) - 1);
}

}  // namespace

PostResult OfiProvider::posted(ssize_t result, const char* call, Completion& completion) {
  if (result == 0) return PostResult::pending;
  if (result == -FI_EAGAIN) return PostResult::again;
  const int error = static_cast<int>(-result);
  forget(completion);
  completion.fail(
      {make_error_code(code_of(error)), fmt::format("{} ({}): {}", call, description_, fi_strerror(error))});
  return PostResult::pending;
}

void OfiProvider::forget(const Completion& completion) {
  if (register_local_) registered_.end(completion);
  if (order_) order_->end(completion);
  if (!split_.empty()) split_.remove(completion);
}

PostResult OfiProvider::post_send(PeerHandle to, std::span<const iovec> pieces, std::uint64_t tag,
                                  Completion& completion) {
  if (!order_) return send_now(to, pieces, tag, completion);
  if (!order_->is_taken(to, tag)) return send_in_order(to, pieces, tag, completion);
  order_->keep(to, tag, pieces, completion);
  return PostResult::pending;
}

PostResult OfiProvider::send_in_order(PeerHandle to, std::span<const iovec> pieces, std::uint64_t tag,
                                      Completion& completion) {
  order_->begin(to, tag, completion);
  const PostResult result = send_now(to, pieces, tag, completion);
  if (result == PostResult::again) order_->end(completion);
  return result;
}

void OfiProvider::send_due() {
  while (order_->has_due()) {
    DelayedSend send = order_->take_due();
    order_->begin(send.to, send.tag, *send.completion);
    if (send_now(send.to, send.pieces, send.tag, *send.completion) == PostResult::again)
      return order_->put_back(std::move(send));
  }
}

PostResult OfiProvider::send_now(PeerHandle to, std::span<const iovec> pieces, std::uint64_t tag,
                                 Completion& completion) {
  const std::size_t bytes = total_bytes(pieces);
  if (bytes > least_limit_ && bytes > limit_of(to))
    return begin(completion,
                 {.kind = SplitMessage::Kind::send, .peer = to, .bytes = bytes, .most = limit_of(to), .tag = tag},
                 pieces);
  return send_part(to, pieces, tag, completion);
}

PostResult OfiProvider::send_part(PeerHandle to, std::span<const iovec> pieces, std::uint64_t tag,
                                  Completion& completion) {
  return post_registered(pieces, FI_SEND, completion, [&](void** descriptors) {
    fi_msg_tagged message{};
    message.msg_iov = pieces.data();
    message.desc = descriptors;
    message.iov_count = pieces.size();
    KnownPeer& peer = peers_[to];
    message.addr = peer.address;
    message.tag = peer.key.disguise(tag);
    message.context = completion.provider_space();
    std::uint64_t flags = FI_COMPLETION;
    if (peer.key.has_proof()) {
      message.data = peer.key.proof(tag);
      flags |= FI_REMOTE_CQ_DATA;
    }
    const std::uint64_t bytes = total_bytes(pieces);
    if (may_inject(bytes)) flags |= FI_INJECT;
    if (order_) flags |= FI_TRANSMIT_COMPLETE;
    const ssize_t result = fi_tsendmsg(endpoint_.get(), &message, flags);
    if (result == 0) {
      ++peer.tagged;
      peer.tagged_bytes += bytes;
      completion.left_by(Way::tagged, bytes);
    }
    return posted(result, "fi_tsendmsg", completion);
  });
}

PostResult OfiProvider::post_recv(PeerHandle from, std::span<const iovec> pieces, std::uint64_t tag,
                                  std::uint64_t ignore, Completion& completion) {
  const std::size_t bytes = total_bytes(pieces);
  if (asks_before_receiving_ && bytes > kLongestInOne && from < peers_.size() && peers_[from].why_not_receive)
    if (const char* const why_not = peers_[from].why_not_receive(); why_not != nullptr) {
      completion.fail({make_error_code(Errc::unreachable), why_not});
      return PostResult::pending;
    }
  if (bytes > least_limit_ && bytes > limit_of(from))
    return begin(completion,
                 {.kind = SplitMessage::Kind::receive,
                  .peer = from,
                  .bytes = bytes,
                  .most = limit_of(from),
                  .tag = tag,
                  .ignore = ignore},
                 pieces);
  return receive_part(from, pieces, tag, ignore, completion);
}

PostResult OfiProvider::receive_part(PeerHandle from, std::span<const iovec> pieces, std::uint64_t tag,
                                     std::uint64_t ignore, Completion& completion) {
  if ((ignore & capabilities_.closed_tag_bits()) != 0 && can_peek_)
    return look_for_any(pieces, tag, ignore, completion);
  return post_registered(pieces, FI_RECV, completion, [&](void** descriptors) {
    fi_msg_tagged message{};
    message.msg_iov = pieces.data();
    message.desc = descriptors;
    message.iov_count = pieces.size();
    message.addr = capabilities_.directed_receive && from != kAnyPeer ? peers_[from].address : FI_ADDR_UNSPEC;
    message.tag = key_->disguise(tag);
    message.ignore = ignore & capabilities_.tag_mask;
    message.context = completion.provider_space();
    return posted(fi_trecvmsg(endpoint_.get(), &message, FI_COMPLETION), "fi_trecvmsg", completion);
  });
}

template <class Post>
PostResult OfiProvider::post_registered(std::span<const iovec> pieces, std::uint64_t access, Completion& completion,
                                        Post post) {
  if (!register_local_) return post(nullptr);
  Regions& regions = registered_.begin(completion);
  descriptors_.clear();
  try {
    for (const iovec& piece : pieces) {
      regions.push_back(region_for(piece, access));
      descriptors_.push_back(regions.back() ? fi_mr_desc(regions.back().get()) : nullptr);
    }
  } catch (const Error& error) {
    forget(completion);
    completion.fail({error.code(), error.what()});
    return PostResult::pending;
  }
  const PostResult result = post(descriptors_.data());
  if (result != PostResult::pending) registered_.end(completion);
  return result;
}

OfiProvider::Region OfiProvider::region_for(const iovec& piece, std::uint64_t access) {
  if (piece.iov_len == 0) return nullptr;
  if (Region kept = kept_.find(piece, access)) return kept;
  if (Region kept = keep_block_of(piece)) return kept;
  return register_memory(piece.iov_base, piece.iov_len, access);
}

// The heap keeps its memory mapped while any user has a share of it, so a block that was freed and given out again, or
// a part of it, may be used by the same registration.
OfiProvider::Region OfiProvider::keep_block_of(const iovec& piece) {
  if (kept_.full()) return nullptr;
  const auto block = core::SharedHeap::of_process().find_block(piece.iov_base, piece.iov_len);
  if (!block) return nullptr;
  constexpr std::uint64_t kAccess = FI_SEND | FI_RECV;
  try {
    Region region = register_memory(block->begin, block->bytes, kAccess);
    fid_mr* const name = region.get();
    Region kept(name, [share = std::move(region), keep = block->keep](fid_mr*) mutable {
      share.reset();
      keep.reset();
    });
    kept_.add({block->begin, block->bytes}, kAccess, kept);
    kept_blocks_.push_back({block->region, kept});
    return kept;
  } catch (const Error& error) {
    log_.write(LogLevel::debug, "a block of {} bytes is not kept registered: {}", block->bytes, error.what());
    return nullptr;
  }
}

void OfiProvider::let_go_of_freed_blocks() {
  const core::SharedHeap& heap = core::SharedHeap::of_process();
  if (std::exchange(heap_generation_, heap.generation()) == heap.generation()) return;
  std::erase_if(kept_blocks_, [&](const KeptBlock& block) {
    if (heap.has_region(block.heap_region)) return false;
    kept_.remove(block.region.get());
    return true;
  });
}

OfiProvider::Region OfiProvider::register_memory(const void* memory, std::size_t bytes, std::uint64_t access) {
  fid_mr* region = nullptr;
  int result = -FI_ENOKEY;
  for (int tries = 0; tries < kKeyTries && result == -FI_ENOKEY; ++tries)
    result = fi_mr_reg(domain_.get(), memory, bytes, access, 0, random_key(*info_), 0, &region, nullptr);
  check(result, "fi_mr_reg", description_, Errc::no_resources);
  Region owner(region, CloseFid());
  if ((info_->domain_attr->mr_mode & FI_MR_ENDPOINT) == 0) return owner;
  check(fi_mr_bind(region, &endpoint_->fid, 0), "fi_mr_bind", description_);
  check(fi_mr_enable(region), "fi_mr_enable", description_);
  return owner;
}

OfiProvider::Regions OfiProvider::register_pieces(std::span<const iovec> pieces, std::uint64_t access) {
  Regions regions;
  for (const iovec& piece : pieces)
    regions.push_back(piece.iov_len > 0 ? register_memory(piece.iov_base, piece.iov_len, access) : nullptr);
  return regions;
}

/// What descriptors a write's pieces have, and how peers name the memory.
class OfiProvider::Prepared final : public Registration {
 public:
  explicit Prepared(Regions regions, RemoteMemory remote = {}, std::size_t bytes = 0)
      : regions_(std::move(regions)), remote_(remote), bytes_(bytes) {
    for (const auto& region : regions_) descriptors_.push_back(region ? fi_mr_desc(region.get()) : nullptr);
  }
  [[nodiscard]] RemoteMemory remote() const noexcept override { return remote_; }
  /// Of memory that was exposed.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// Null where the provider needs none.
  [[nodiscard]] void** descriptors() const noexcept { return descriptors_.empty() ? nullptr : descriptors_.data(); }

 private:
  Regions regions_;
  RemoteMemory remote_;
  std::size_t bytes_;
  mutable std::vector<void*> descriptors_;  ///< libfabric takes them without const, and only reads
};

/// Memory of several messages.
class OfiProvider::Held final : public Registration {
 public:
  explicit Held(KeptMemory& kept) : kept_(kept) {}
  ~Held() override {
    for (const Region& region : regions_) kept_.remove(region.get());
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  [[nodiscard]] RemoteMemory remote() const noexcept override { return {}; }
  void add(const iovec& memory, std::uint64_t access, const Region& region) {
    kept_.add(memory, access, region);
    regions_.push_back(region);
  }

 private:
  KeptMemory& kept_;
  Regions regions_;
};

std::unique_ptr<Registration> OfiProvider::hold(std::span<const iovec> sent, std::span<const iovec> received) {
  if (!register_local_) return nullptr;
  auto held = std::make_unique<Held>(kept_);
  hold(*held, sent, FI_SEND);
  hold(*held, received, FI_RECV);
  return held;
}

// What cannot be registered now is tried again, and fails, message by message.
void OfiProvider::hold(Held& held, std::span<const iovec> pieces, std::uint64_t access) {
  static const auto page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  try {
    for (const iovec& region : joined(pieces, page_bytes))
      if (!kept_.full()) held.add(region, access, register_memory(region.iov_base, region.iov_len, access));
  } catch (const Error& error) {
    log_.write(LogLevel::debug, "memory is not kept registered: {}", error.what());
  }
}

std::unique_ptr<Registration> OfiProvider::expose(std::span<std::byte> memory) {
  Regions regions;
  regions.push_back(register_memory(memory.data(), memory.size(), FI_REMOTE_WRITE));
  const bool by_address = (info_->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
  const RemoteMemory remote{.address = by_address ? reinterpret_cast<std::uint64_t>(memory.data()) : 0,
                            .key = fi_mr_key(regions.back().get())};
  return std::make_unique<Prepared>(std::move(regions), remote, memory.size());
}

// Only where memory is named by a key of fab's and an offset can other memory take its name.
void OfiProvider::withdraw(std::unique_ptr<Registration> exposed) {
  constexpr int kOtherNames = FI_MR_PROV_KEY | FI_MR_VIRT_ADDR | FI_MR_ENDPOINT;
  if ((info_->domain_attr->mr_mode & kOtherNames) != 0) return;
  const std::uint64_t key = exposed->remote().key;
  const std::size_t bytes = static_cast<const Prepared&>(*exposed).bytes();
  exposed.reset();
  const std::span<std::byte> room = withdrawn_.room(bytes);
  if (room.empty()) return;
  fid_mr* region = nullptr;
  const int result = fi_mr_reg(domain_.get(), room.data(), room.size(), FI_REMOTE_WRITE, 0, key, 0, &region, nullptr);
  if (result == 0) return withdrawn_.keep(Region(region, CloseFid()));
  log_.write(LogLevel::debug, "{}: memory that was taken back cannot be replaced: {}", description_,
             fi_strerror(-result));
}

std::unique_ptr<Registration> OfiProvider::prepare_source(std::span<const iovec> pieces) {
  return std::make_unique<Prepared>(register_local_ ? register_pieces(pieces, FI_WRITE) : Regions());
}

PostResult OfiProvider::post_write(PeerHandle to, std::span<const iovec> pieces, const Registration& source,
                                   const RemoteMemory& target, std::uint32_t data, Completion& completion) {
  void** const descriptors = static_cast<const Prepared&>(source).descriptors();
  const std::size_t bytes = total_bytes(pieces);
  if (bytes > most_)
    return begin(completion,
                 {.kind = SplitMessage::Kind::write,
                  .peer = to,
                  .bytes = bytes,
                  .most = most_,
                  .source = &source,
                  .target = target,
                  .data = data},
                 pieces);
  return write_part(to, pieces, descriptors, target, data, completion);
}

// The parts that tell the target nothing are visible there before the one that does begins.
PostResult OfiProvider::write_part(PeerHandle to, std::span<const iovec> pieces, void** descriptors,
                                   const RemoteMemory& target, std::optional<std::uint32_t> data,
                                   Completion& completion) {
  const std::size_t bytes = total_bytes(pieces);
  const fi_rma_iov there{.addr = target.address, .len = bytes, .key = target.key};
  fi_msg_rma message{};
  message.msg_iov = pieces.data();
  message.desc = descriptors;
  message.iov_count = pieces.size();
  KnownPeer& peer = peers_[to];
  message.addr = peer.address;
  message.rma_iov = &there;
  message.rma_iov_count = 1;
  message.context = completion.provider_space();
  message.data = data ? peer.key.disguise_data(*data) : 0;
  const std::uint64_t inject = may_inject(bytes) ? FI_INJECT : 0;
  const std::uint64_t told = data ? FI_REMOTE_CQ_DATA | inject : FI_DELIVERY_COMPLETE;
  const ssize_t result = fi_writemsg(endpoint_.get(), &message, FI_COMPLETION | told);
  if (result == 0) {
    ++peer.written;
    peer.written_bytes += bytes;
    completion.left_by(Way::written, bytes);
  }
  return posted(result, "fi_writemsg", completion);
}

void OfiProvider::visit_ways(PeerHandle peer, const WayVisitor& visit) const {
  const KnownPeer& known = peers_[peer];
  visit("tagged", known.tagged, known.tagged_bytes);
  visit("written", known.written, known.written_bytes);
}

// Failures end it (forget).
PostResult OfiProvider::begin(Completion& completion, SplitMessage message, std::span<const iovec> pieces) {
  message.pieces.assign(pieces.begin(), pieces.end());
  const PostResult result = post_part(split_.add(completion, std::move(message)), completion);
  if (result == PostResult::again) split_.remove(completion);
  return result;
}

PostResult OfiProvider::post_part(const SplitMessage& message, Completion& completion) {
  const SplitPart part = next_part(message);
  switch (message.kind) {
    case SplitMessage::Kind::send:
      return send_part(message.peer, part.pieces, message.tag, completion);
    case SplitMessage::Kind::receive:
      return receive_part(message.peer, part.pieces, message.tag, message.ignore, completion);
    default: {
      void** const descriptors = static_cast<const Prepared&>(*message.source).descriptors();
      const auto data = message.is_in_last_part() ? std::optional(message.data) : std::nullopt;
      return write_part(message.peer, part.pieces, descriptors == nullptr ? nullptr : descriptors + part.first_piece,
                        message.target.behind(message.ended), data, completion);
    }
  }
}

bool OfiProvider::goes_on(Completion& completion, std::uint64_t& bytes) {
  SplitMessage* message = split_.find(completion);
  if (message == nullptr) return false;
  bytes = message->bytes;
  if (message->is_in_last_part()) return false;
  message->ended += message->most;
  if (register_local_) registered_.end(completion);
  split_.make_due(completion);
  return true;
}

void OfiProvider::post_due_parts() {
  while (split_.has_due()) {
    Completion& completion = split_.take_due();
    if (post_part(*split_.find(completion), completion) == PostResult::again) return split_.put_back(completion);
  }
}

void OfiProvider::cancel(Completion& completion) {
  if (split_.is_due(completion)) {
    forget(completion);
    return completion.fail({make_error_code(Errc::cancelled), "cancelled between two parts of a long message"});
  }
  taken_back_ = &completion;
  // -FI_ENOENT: it has completed, and the queue will say so.
  const ssize_t result = fi_cancel(&endpoint_->fid, completion.provider_space());
  if (result != 0 && result != -FI_ENOENT)
    log_.write(LogLevel::debug, "fi_cancel ({}): {}", description_, fi_strerror(static_cast<int>(-result)));
}

}  // namespace fab::ofi
