#include "providers/ofi/ofi_provider.h"

#include <rdma/fi_cm.h>
#include <rdma/fi_eq.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <bit>

#include "providers/ofi/features.h"
#include "providers/ofi/interfaces.h"
#include "providers/ofi/survey.h"

namespace fab::ofi {

namespace {

static_assert(sizeof(fi_context2) <= Completion::kProviderSpace);

constexpr std::size_t kQueueEntries = 1024;
constexpr std::size_t kReadBatch = 16;
constexpr char kSeparator = '\n';  // provider name, how persistent exchanges travel, description, raw address

std::uint64_t tag_mask(std::uint64_t format) {
  const int width = 64 - std::countl_zero(format);
  return width == 64 ? ~0ull : (1ull << width) - 1;
}

Errc code_of(int error) {
  switch (error) {
    case FI_ETRUNC:
      return Errc::truncated;
    case FI_ECANCELED:
      return Errc::cancelled;
    case FI_ECONNREFUSED:
    case FI_EHOSTUNREACH:
    case FI_ENETUNREACH:
      return Errc::unreachable;
    default:
      return Errc::transport;
  }
}

/// libfabric's own TCP endpoint signals its queue's descriptor with every completion, and fi_trywait does not clear it
/// (seen with 1.17): after the first completion every sleep would end at once. A wait set does the same job, and
/// fi_wait with no time-out clears it.
bool never_clears_descriptor(const std::string& provider) { return provider == "net" || provider == "tcp"; }

/// shm names a file after the process and the count of its endpoints. A process that was killed leaves its file, which
/// a later one with the same number finds in its way (-FI_EBUSY); its next endpoint has another name.
constexpr int kEndpointTries = 16;

/// ofi_rxd (seen with 1.17) reports the end of an injected message without the context that it was given.
bool forgets_injected(const std::string& provider) { return provider.ends_with("ofi_rxd"); }

/// libfabric's own TCP endpoint keeps a few small messages for which no receive is posted (FI_NET_MAX_SAVED); the next
/// one stays in its connection and holds up all that follow. A message that is taken in early must say whose it is, so
/// the tag names the source.
bool keeps_few_early_messages(const std::string& provider) { return provider == "net" || provider == "tcp"; }

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

std::string persistent_way(bool writes) { return writes ? "writes" : "messages"; }

std::size_t total(std::span<const iovec> pieces) {
  std::size_t bytes = 0;
  for (const iovec& piece : pieces) bytes += piece.iov_len;
  return bytes;
}

}  // namespace

OfiProvider::OfiProvider(const Config& config, const JobInfo& job, const Log& log) : log_(log) {
  const Survey survey(config, job);
  const Candidate& choice = survey.best();
  name_ = choice.provider;
  domain_name_ = choice.domain;
  open(*choice.info);
  capabilities_.writes = choice.writes;
  learn_own_address();
  log_.write(LogLevel::info, "chose {}: {}", description_, choice.reason);
  if (const std::string warning = locked_memory_warning(*choice.info); !warning.empty())
    log_.write(LogLevel::warn, "{}", warning);
}

OfiProvider::~OfiProvider() = default;

// Manual progress is enough, since fab polls, and spares the threads that some providers run for automatic progress. A
// provider that has a descriptor to sleep on only together with those threads (sockets) gets them.
void OfiProvider::open(const fi_info& info) {
  open_domain(info, FI_PROGRESS_MANUAL);
  if (wait_fd_ < 0) {
    try {
      open_domain(info, FI_PROGRESS_AUTO);
    } catch (const Error& error) {
      log_.write(LogLevel::debug, "{} has no automatic progress: {}", name_, error.what());
    }
    if (wait_fd_ < 0) open_domain(info, FI_PROGRESS_MANUAL);
  }
  open_endpoint();
  learn_capabilities();
}

void OfiProvider::open_domain(const fi_info& info, fi_progress progress) {
  queue_.reset();
  wait_set_.reset();
  domain_.reset();
  fabric_.reset();
  info_.reset(fi_dupinfo(&info));
  if (!info_) throw Error(Errc::no_resources, "fi_dupinfo: out of memory");
  info_->domain_attr->data_progress = progress;
  fid_fabric* fabric = nullptr;
  check(fi_fabric(info_->fabric_attr, &fabric, nullptr), "fi_fabric", name_);
  fabric_.reset(fabric);
  fid_domain* domain = nullptr;
  check(fi_domain(fabric, info_.get(), &domain, nullptr), "fi_domain", name_);
  domain_.reset(domain);
  open_queue();
}

void OfiProvider::open_endpoint() {
  fi_av_attr av_attr{};
  av_attr.type = info_->domain_attr->av_type;
  fid_av* addresses = nullptr;
  check(fi_av_open(domain_.get(), &av_attr, &addresses, nullptr), "fi_av_open", name_);
  addresses_.reset(addresses);

  int enabled = -FI_EBUSY;
  for (int tries = 0; tries < kEndpointTries && enabled == -FI_EBUSY; ++tries) enabled = enable_new_endpoint();
  check(enabled, "fi_enable", name_);
}

int OfiProvider::enable_new_endpoint() {
  endpoint_.reset();
  fid_ep* endpoint = nullptr;
  check(fi_endpoint(domain_.get(), info_.get(), &endpoint, nullptr), "fi_endpoint", name_);
  endpoint_.reset(endpoint);
  check(fi_ep_bind(endpoint, &addresses_->fid, 0), "fi_ep_bind (address vector)", name_);
  check(fi_ep_bind(endpoint, &queue_->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind (completion queue)", name_);
  return fi_enable(endpoint);
}

// shm (seen with libfabric 1.17) takes messages for another sender's that come before their sender's address was
// inserted here, so its directed receives cannot be trusted.
void OfiProvider::learn_capabilities() {
  capabilities_.inject_bytes = forgets_injected(name_) ? 0 : info_->tx_attr->inject_size;
  capabilities_.iov_limit = std::min(info_->tx_attr->iov_limit, info_->rx_attr->iov_limit);
  capabilities_.max_message_bytes = info_->ep_attr->max_msg_size;
  capabilities_.may_hold_back = info_->domain_attr->data_progress == FI_PROGRESS_MANUAL;
  capabilities_.early_messages_block = keeps_few_early_messages(name_);
  capabilities_.directed_receive =
      (info_->caps & FI_DIRECTED_RECV) != 0 && name_ != "shm" && !capabilities_.early_messages_block;
  capabilities_.tag_mask = tag_mask(info_->ep_attr->mem_tag_format);
  capabilities_.wait_fd = wait_fd_ >= 0;
  register_local_ = (info_->domain_attr->mr_mode & FI_MR_LOCAL) != 0;
}

// One queue for sends and receives: one place reads it. Without a descriptor to sleep on (shm) it can only be polled.
void OfiProvider::open_queue() {
  wait_fd_ = -1;
  if (never_clears_descriptor(name_) && open_queue(FI_WAIT_SET)) return;
  if (open_queue(FI_WAIT_FD)) return;
  open_queue(FI_WAIT_NONE);
}

bool OfiProvider::open_queue(fi_wait_obj wait_obj) {
  const auto unsupported = [](int result) {
    return result == -FI_ENOSYS || result == -FI_EOPNOTSUPP || result == -FI_EINVAL;
  };
  queue_.reset();
  wait_set_.reset();
  fi_cq_attr attr{};
  attr.size = std::max(kQueueEntries, info_->tx_attr->size + info_->rx_attr->size);
  attr.format = FI_CQ_FORMAT_TAGGED;
  attr.wait_obj = wait_obj;
  if (wait_obj == FI_WAIT_SET) {
    fi_wait_attr wait_attr{};
    wait_attr.wait_obj = FI_WAIT_FD;
    fid_wait* wait_set = nullptr;
    if (fi_wait_open(fabric_.get(), &wait_attr, &wait_set) != 0) return false;
    wait_set_.reset(wait_set);
    attr.wait_set = wait_set;
  }
  fid_cq* queue = nullptr;
  const int opened = fi_cq_open(domain_.get(), &attr, &queue, nullptr);
  if (wait_obj != FI_WAIT_NONE && unsupported(opened)) return false;
  check(opened, "fi_cq_open", name_);
  queue_.reset(queue);
  if (wait_obj == FI_WAIT_NONE) return true;
  const int got = fi_control(wait_set_ ? &wait_set_->fid : &queue->fid, FI_GETWAIT, &wait_fd_);
  if (got == 0) return true;
  wait_fd_ = -1;
  if (!unsupported(got)) check(got, "fi_control (FI_GETWAIT)", name_);
  return false;
}

void OfiProvider::learn_own_address() {
  std::size_t length = 0;
  const int result = fi_getname(&endpoint_->fid, nullptr, &length);
  if (result != -FI_ETOOSMALL) check(result, "fi_getname", name_);
  std::string raw(length, '\0');
  check(fi_getname(&endpoint_->fid, raw.data(), &length), "fi_getname", name_);
  raw.resize(length);
  const bool internet = info_->addr_format == FI_SOCKADDR_IN || info_->addr_format == FI_SOCKADDR_IN6;
  const std::string printed = internet ? to_string(reinterpret_cast<const sockaddr*>(raw.data())) : std::string();
  description_ = fmt::format("{} on {}{}", name_, domain_name_, printed.empty() ? "" : " (" + printed + ")");
  address_ = name_ + kSeparator + persistent_way(capabilities_.writes) + kSeparator + description_ + kSeparator + raw;
}

PeerHandle OfiProvider::connect(std::string_view address) {
  const auto next_part = [&address] {
    const std::size_t end = address.find(kSeparator);
    if (end == std::string_view::npos)
      throw Error(Errc::mismatch, "its address is not one of this version of fab's libfabric provider");
    const std::string_view part = address.substr(0, end);
    address.remove_prefix(end + 1);
    return part;
  };
  const std::string_view peer_provider = next_part();
  const std::string_view peer_way = next_part();
  const std::string_view peer_description = next_part();
  if (peer_provider != name_)
    throw Error(Errc::mismatch, fmt::format("it uses {}, this rank {}; FAB_PROVIDER and FAB_IFACE must choose the same "
                                            "provider on all ranks",
                                            peer_description, description_));
  if (peer_way != persistent_way(capabilities_.writes))
    throw Error(Errc::mismatch,
                fmt::format("its persistent exchanges are {}, this rank's {}; FAB_ONE_SIDED and FAB_CHECK "
                            "must be the same on all ranks",
                            peer_way, persistent_way(capabilities_.writes)));
  fi_addr_t peer = FI_ADDR_UNSPEC;
  const int inserted = fi_av_insert(addresses_.get(), address.data(), 1, &peer, 0, nullptr);
  if (inserted != 1)
    throw Error(Errc::unreachable, fmt::format("fi_av_insert ({}): {} cannot be used as an address: {}", description_,
                                               peer_description, inserted < 0 ? fi_strerror(-inserted) : "refused"));
  return peer;
}

PostResult OfiProvider::posted(ssize_t result, const char* call, Completion& completion) {
  if (result == 0) return PostResult::pending;
  if (result == -FI_EAGAIN) return PostResult::again;
  const int error = static_cast<int>(-result);
  if (register_local_) registered_.erase(&completion);
  completion.fail(
      {make_error_code(code_of(error)), fmt::format("{} ({}): {}", call, description_, fi_strerror(error))});
  return PostResult::pending;
}

PostResult OfiProvider::post_send(PeerHandle to, std::span<const iovec> pieces, std::uint64_t tag,
                                  Completion& completion) {
  return post_registered(pieces, FI_SEND, completion, [&](void** descriptors) {
    fi_msg_tagged message{};
    message.msg_iov = pieces.data();
    message.desc = descriptors;
    message.iov_count = pieces.size();
    message.addr = to;
    message.tag = tag;
    message.context = completion.provider_space();
    const std::uint64_t inject = total(pieces) <= capabilities_.inject_bytes ? FI_INJECT : 0;
    return posted(fi_tsendmsg(endpoint_.get(), &message, FI_COMPLETION | inject), "fi_tsendmsg", completion);
  });
}

PostResult OfiProvider::post_recv(PeerHandle from, std::span<const iovec> pieces, std::uint64_t tag,
                                  std::uint64_t ignore, Completion& completion) {
  return post_registered(pieces, FI_RECV, completion, [&](void** descriptors) {
    fi_msg_tagged message{};
    message.msg_iov = pieces.data();
    message.desc = descriptors;
    message.iov_count = pieces.size();
    message.addr = capabilities_.directed_receive ? from : FI_ADDR_UNSPEC;
    message.tag = tag;
    message.ignore = ignore;
    message.context = completion.provider_space();
    return posted(fi_trecvmsg(endpoint_.get(), &message, FI_COMPLETION), "fi_trecvmsg", completion);
  });
}

template <class Post>
PostResult OfiProvider::post_registered(std::span<const iovec> pieces, std::uint64_t access, Completion& completion,
                                        Post post) {
  if (!register_local_) return post(nullptr);
  Regions regions;
  try {
    regions = register_pieces(pieces, access);
  } catch (const Error& error) {
    completion.fail({error.code(), error.what()});
    return PostResult::pending;
  }
  std::vector<void*> descriptors;
  for (const auto& region : regions) descriptors.push_back(region ? fi_mr_desc(region.get()) : nullptr);
  registered_[&completion] = std::move(regions);
  const PostResult result = post(descriptors.data());
  if (result != PostResult::pending) registered_.erase(&completion);
  return result;
}

Handle<fid_mr> OfiProvider::register_memory(const void* memory, std::size_t bytes, std::uint64_t access) {
  fid_mr* region = nullptr;
  int result = -FI_ENOKEY;
  for (int tries = 0; tries < kKeyTries && result == -FI_ENOKEY; ++tries)
    result = fi_mr_reg(domain_.get(), memory, bytes, access, 0, random_key(*info_), 0, &region, nullptr);
  check(result, "fi_mr_reg", description_, Errc::no_resources);
  Handle<fid_mr> handle(region);
  if ((info_->domain_attr->mr_mode & FI_MR_ENDPOINT) == 0) return handle;
  check(fi_mr_bind(region, &endpoint_->fid, 0), "fi_mr_bind", description_);
  check(fi_mr_enable(region), "fi_mr_enable", description_);
  return handle;
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
  explicit Prepared(Regions regions, RemoteMemory remote = {}) : regions_(std::move(regions)), remote_(remote) {
    for (const auto& region : regions_) descriptors_.push_back(region ? fi_mr_desc(region.get()) : nullptr);
  }
  [[nodiscard]] RemoteMemory remote() const noexcept override { return remote_; }
  /// Null where the provider needs none.
  [[nodiscard]] void** descriptors() const noexcept { return descriptors_.empty() ? nullptr : descriptors_.data(); }

 private:
  Regions regions_;
  RemoteMemory remote_;
  mutable std::vector<void*> descriptors_;  ///< libfabric takes them without const, and only reads
};

std::unique_ptr<Registration> OfiProvider::expose(std::span<std::byte> memory) {
  Regions regions;
  regions.push_back(register_memory(memory.data(), memory.size(), FI_REMOTE_WRITE));
  const bool by_address = (info_->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
  const RemoteMemory remote{.address = by_address ? reinterpret_cast<std::uint64_t>(memory.data()) : 0,
                            .key = fi_mr_key(regions.back().get())};
  return std::make_unique<Prepared>(std::move(regions), remote);
}

std::unique_ptr<Registration> OfiProvider::prepare_source(std::span<const iovec> pieces) {
  return std::make_unique<Prepared>(register_local_ ? register_pieces(pieces, FI_WRITE) : Regions());
}

PostResult OfiProvider::post_write(PeerHandle to, std::span<const iovec> pieces, const Registration& source,
                                   const RemoteMemory& target, std::uint32_t data, Completion& completion) {
  const std::size_t bytes = total(pieces);
  const fi_rma_iov there{.addr = target.address, .len = bytes, .key = target.key};
  fi_msg_rma message{};
  message.msg_iov = pieces.data();
  message.desc = static_cast<const Prepared&>(source).descriptors();
  message.iov_count = pieces.size();
  message.addr = to;
  message.rma_iov = &there;
  message.rma_iov_count = 1;
  message.context = completion.provider_space();
  message.data = data;
  const std::uint64_t inject = bytes <= capabilities_.inject_bytes ? FI_INJECT : 0;
  return posted(fi_writemsg(endpoint_.get(), &message, FI_COMPLETION | FI_REMOTE_CQ_DATA | inject), "fi_writemsg",
                completion);
}

void OfiProvider::cancel(Completion& completion) {
  // -FI_ENOENT: it has completed, and the queue will say so.
  const ssize_t result = fi_cancel(&endpoint_->fid, completion.provider_space());
  if (result != 0 && result != -FI_ENOENT)
    log_.write(LogLevel::debug, "fi_cancel ({}): {}", description_, fi_strerror(static_cast<int>(-result)));
}

std::size_t OfiProvider::poll() {
  std::array<fi_cq_tagged_entry, kReadBatch> entries;
  const ssize_t count = fi_cq_read(queue_.get(), entries.data(), entries.size());
  if (count == -FI_EAGAIN) return 0;
  if (count == -FI_EAVAIL) return read_error();
  if (count < 0) {
    log_.write(LogLevel::error, "fi_cq_read ({}): {}", description_, fi_strerror(static_cast<int>(-count)));
    return 0;
  }
  for (const fi_cq_tagged_entry& entry : std::span(entries).first(static_cast<std::size_t>(count))) {
    if ((entry.flags & FI_REMOTE_WRITE) != 0) {
      if (listener_ != nullptr) listener_->written(static_cast<std::uint32_t>(entry.data));
      continue;
    }
    Completion& completion = Completion::from_provider_space(entry.op_context);
    if (register_local_) registered_.erase(&completion);
    completion.done(entry.len, entry.tag);
  }
  return static_cast<std::size_t>(count);
}

std::size_t OfiProvider::read_error() {
  fi_cq_err_entry entry{};
  const ssize_t count = fi_cq_readerr(queue_.get(), &entry, 0);
  if (count != 1) {
    if (count != -FI_EAGAIN)
      log_.write(LogLevel::error, "fi_cq_readerr ({}): {}", description_, fi_strerror(static_cast<int>(-count)));
    return 0;
  }
  std::array<char, 256> detail{};
  const char* text = fi_cq_strerror(queue_.get(), entry.prov_errno, entry.err_data, detail.data(), detail.size());
  if (entry.op_context == nullptr) {
    log_.write(LogLevel::error, "{}: an error that belongs to no operation: {} ({})", description_,
               fi_strerror(entry.err), text == nullptr ? "" : text);
    return 1;
  }
  Completion& completion = Completion::from_provider_space(entry.op_context);
  if (register_local_) registered_.erase(&completion);
  const std::string message =
      entry.err == FI_ETRUNC
          ? fmt::format("a message of {} bytes arrived, which is {} bytes more than declared", entry.len + entry.olen,
                        entry.olen)
          : fmt::format("{} ({}, {})", fi_strerror(entry.err), text == nullptr ? "no detail" : text, description_);
  completion.fail({make_error_code(code_of(entry.err)), message});
  return 1;
}

bool OfiProvider::may_sleep() {
  if (wait_set_) return fi_wait(wait_set_.get(), 0) == -FI_ETIMEDOUT;
  if (wait_fd_ < 0) return false;
  std::array<fid*, 1> fids{&queue_->fid};
  return fi_trywait(fabric_.get(), fids.data(), static_cast<int>(fids.size())) == FI_SUCCESS;
}

}  // namespace fab::ofi
