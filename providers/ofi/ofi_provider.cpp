#include "providers/ofi/ofi_provider.h"

#include <rdma/fi_cm.h>
#include <rdma/fi_eq.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <limits>
#include <system_error>
#include <utility>

#include "providers/ofi/congestion.h"
#include "providers/ofi/connections.h"
#include "providers/ofi/features.h"
#include "providers/ofi/interfaces.h"
#include "providers/ofi/native_tcp.h"
#include "providers/ofi/survey.h"

namespace fab::ofi {

namespace {

static_assert(sizeof(fi_context2) <= Completion::kProviderSpace);

constexpr std::size_t kQueueEntries = 1024;
constexpr std::size_t kReadBatch = 16;
/// Of receives that are taken back when all ends.
constexpr int kPollsForTheLast = 10'000;
/// Between provider name, how persistent exchanges travel, description, longest message, room for a key, the key, and
/// the raw address.
constexpr char kSeparator = '\n';
constexpr std::uint64_t kAnyLength = std::numeric_limits<std::int64_t>::max();

/// shm names a file after the process and the count of its endpoints. A process that was killed leaves its file, which
/// a later one with the same number finds in its way (-FI_EBUSY); its next endpoint has another name.
constexpr int kEndpointTries = 16;

/// ofi_rxd (seen with 1.17) reports the end of an injected message without the context that it was given.
bool forgets_injected(const std::string& provider) { return provider.ends_with("ofi_rxd"); }

/// ofi_rxm (seen with 1.17) ends the process by a signal when a receive meets a message that was announced, or has come
/// in part, by a connection that has ended since.
bool forgets_connections(const std::string& provider) { return provider.ends_with("ofi_rxm"); }

void* provider_space_of(const Completion& completion) { return const_cast<Completion&>(completion).provider_space(); }

std::string persistent_way(bool writes) { return writes ? "writes" : "messages"; }

}  // namespace

OfiProvider::OfiProvider(const Config& config, const JobInfo& job, const Log& log) : log_(log) {
  const Survey survey(config, job, Survey::Extent::for_use);
  const Candidate& choice = survey.best();
  name_ = choice.provider;
  domain_name_ = choice.domain;
  if (goes_by_tcp(name_)) choose_congestion_control(config);
  open(*choice.info);
  capabilities_.writes = choice.writes;
  key_.emplace(key_room());
  learn_own_address(choice.interface.empty() ? survey.wanted_interface() : choice.interface);
  log_.write(LogLevel::info, "chose {}: {}", description_, choice.reason);
  if (const std::string warning = locked_memory_warning(*choice.info); !warning.empty())
    log_.write(LogLevel::warn, "{}", warning);
}

void OfiProvider::choose_congestion_control(const Config& config) const {
  const std::string name = wanted_congestion_control(config.tcp_congestion);
  if (name.empty()) return;
  if (use_congestion_control(name))
    log_.write(LogLevel::info, "TCP connections have the congestion control {} (FAB_TCP_CONGESTION={})", name,
               config.tcp_congestion);
  else
    log_.write(LogLevel::warn,
               "FAB_TCP_CONGESTION={}: without effect on connections: libfabric's calls were not found, or have "
               "another one already",
               config.tcp_congestion);
}

// Memory that is in use must stay registered, so the endpoint ends first. Memory that is bound to the endpoint must
// not, so what uses it is taken back.
OfiProvider::~OfiProvider() {
  if ((info_->domain_attr->mr_mode & FI_MR_ENDPOINT) != 0) {
    end_registered_operations();
    kept_blocks_.clear();
    kept_ = {};
  }
  endpoint_.reset();
}

// No caller waits for these completions any more. Sends that their peers do not take are dropped. What cannot be
// cancelled (fi_cancel fails) ends by itself, or is given up too.
void OfiProvider::end_registered_operations() {
  registered_.for_each_message(
      [&](const Completion& message) { fi_cancel(&endpoint_->fid, provider_space_of(message)); });
  std::array<fi_cq_tagged_entry, kReadBatch> entries;
  for (int polls = 0; !registered_.empty() && polls < kPollsForTheLast; ++polls) {
    const ssize_t count = fi_cq_read(queue_.get(), entries.data(), entries.size());
    fi_cq_err_entry error{};
    if (count == -FI_EAVAIL && fi_cq_readerr(queue_.get(), &error, 0) == 1 && error.op_context != nullptr)
      registered_.end(Completion::from_provider_space(error.op_context));
    for (const fi_cq_tagged_entry& entry :
         std::span(entries).first(static_cast<std::size_t>(std::max<ssize_t>(count, 0))))
      if ((entry.flags & FI_REMOTE_WRITE) == 0) registered_.end(Completion::from_provider_space(entry.op_context));
  }
  registered_.end_all();
}

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
  // Not only unused: libfabric's own TCP endpoint (seen with 1.17, mended in 1.18) that is asked for them and takes a
  // message of a source that was not inserted yet looks for its receives in foreign memory.
  if (!receives_by_source(*info_)) forgo_receives_by_source(*info_);
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

void OfiProvider::learn_capabilities() {
  capabilities_.inject_bytes = forgets_injected(name_) ? 0 : info_->tx_attr->inject_size;
  capabilities_.iov_limit = std::min(info_->tx_attr->iov_limit, info_->rx_attr->iov_limit);
  capabilities_.max_message_bytes = kAnyLength;
  most_ = least_limit_ = info_->ep_attr->max_msg_size;
  capabilities_.may_hold_back = info_->domain_attr->data_progress == FI_PROGRESS_MANUAL;
  capabilities_.unattended_bytes = unattended_bytes(*info_);
  capabilities_.card = drives_card(name_);
  flags_data_ = flags_data(*info_);
  capabilities_.early_messages_block = can_peek_ = keeps_few_early_messages(*info_);
  can_sweep_ = keeps_early_messages_to_itself(*info_) && info_->domain_attr->cq_data_size >= kWriteDataBytes;
  capabilities_.directed_receive = receives_by_source(*info_);
  capabilities_.tag_mask = tag_mask(*info_);
  capabilities_.wait_fd = wait_fd_ >= 0;
  register_local_ = (info_->domain_attr->mr_mode & FI_MR_LOCAL) != 0;
  const bool in_order = (info_->tx_attr->msg_order & info_->rx_attr->msg_order & FI_ORDER_SAS) != 0;
  if (!in_order) order_ = std::make_unique<SendOrder>();
}

// One queue for sends and receives: one place reads it. Without a descriptor to sleep on (shm) it can only be polled.
void OfiProvider::open_queue() {
  wait_fd_ = -1;
  // The native TCP endpoint signals its queue's descriptor with every completion, and fi_trywait does not clear it
  // (seen with 1.17): after the first completion every sleep would end at once. A wait set does the same job, and
  // fi_wait with no time-out clears it.
  if (is_native_tcp(name_) && open_queue(FI_WAIT_SET)) return;
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
  const int opened = open_queue_of_some_size(attr, queue);
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

// How long a queue may be providers do not tell, but where they refuse one they choose.
int OfiProvider::open_queue_of_some_size(fi_cq_attr& attr, fid_cq*& queue) const {
  const int opened = fi_cq_open(domain_.get(), &attr, &queue, nullptr);
  if (opened != -FI_EINVAL) return opened;
  attr.size = 0;
  return fi_cq_open(domain_.get(), &attr, &queue, nullptr);
}

ReceiverKey::Room OfiProvider::key_room() const noexcept {
  return ReceiverKey::room_of(capabilities_.closed_tag_bits(), info_->domain_attr->cq_data_size);
}

void OfiProvider::learn_own_address(const std::string& interface) {
  std::size_t length = 0;
  const int result = fi_getname(&endpoint_->fid, nullptr, &length);
  if (result != -FI_ETOOSMALL) check(result, "fi_getname", name_);
  std::string raw(length, '\0');
  check(fi_getname(&endpoint_->fid, raw.data(), &length), "fi_getname", name_);
  raw.resize(length);
  const bool internet = info_->addr_format == FI_SOCKADDR_IN || info_->addr_format == FI_SOCKADDR_IN6;
  const std::string printed = internet ? to_string(reinterpret_cast<const sockaddr*>(raw.data())) : std::string();
  host_address_ = internet ? HostAddress{raw, true} : HostAddress{address_of(interface), false};
  description_ = fmt::format("{} on {}{}", name_, domain_name_, printed.empty() ? "" : " (" + printed + ")");
  address_ = fmt::format("{}{sep}{}{sep}{}{sep}{}{sep}{}{sep}{}{sep}{}", name_, persistent_way(capabilities_.writes),
                         description_, most_, key_room().text(), key_->text(), raw, fmt::arg("sep", kSeparator));
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
  const std::string_view peer_limit = next_part();
  const std::string_view peer_room = next_part();
  if (const std::string room = key_room().text(); peer_room != room)
    throw Error(Errc::mismatch,
                fmt::format("its messages carry {} bits that a stranger would have to guess, this rank's "
                            "{}; all nodes need the same libfabric and network cards",
                            peer_room, room));
  ReceiverKey peer_key(key_room(), next_part());
  fi_addr_t peer = FI_ADDR_UNSPEC;
  const int inserted = fi_av_insert(addresses_.get(), address.data(), 1, &peer, 0, nullptr);
  if (inserted != 1)
    throw Error(Errc::unreachable, fmt::format("fi_av_insert ({}): {} cannot be used as an address: {}", description_,
                                               peer_description, inserted < 0 ? fi_strerror(-inserted) : "refused"));
  peers_.push_back({peer, std::move(peer_key)});
  const PeerHandle handle = peers_.size() - 1;
  learn_limit(handle, peer_limit);
  return handle;
}

void OfiProvider::drop(PeerHandle peer, bool whole_host) {
  sockaddr_storage address{};
  std::size_t length = sizeof(address);
  if (!host_address_.carries_messages || fi_av_lookup(addresses_.get(), peers_[peer].address, &address, &length) != 0)
    return;
  const int ended =
      shut_down_connections(reinterpret_cast<const sockaddr*>(host_address_.socket_address.data()),
                            reinterpret_cast<const sockaddr*>(&address), whole_host ? Reach::host : Reach::port);
  log_.write(LogLevel::info, "{}: ended {} connections with {}", description_, ended,
             to_string(reinterpret_cast<const sockaddr*>(&address)));
}

void OfiProvider::ask_before_receiving(PeerHandle peer, std::function<const char*()> why_not) {
  asks_before_receiving_ = forgets_connections(name_);
  if (asks_before_receiving_) peers_[peer].why_not_receive = std::move(why_not);
}

// Both ends cut long messages by the same length.
void OfiProvider::learn_limit(PeerHandle peer, std::string_view limit) {
  std::uint64_t most = 0;
  if (std::from_chars(limit.data(), limit.data() + limit.size(), most).ec != std::errc() || most == 0)
    throw Error(Errc::mismatch, "its address is not one of this version of fab's libfabric provider");
  if (most < most_) lower_limits_[peer] = most;
  least_limit_ = std::min(least_limit_, most);
}

std::size_t OfiProvider::poll() {
  const std::size_t events = read_queue();
  if (can_sweep_) sweep();
  if (!kept_blocks_.empty()) let_go_of_freed_blocks();
  if (split_.has_due()) post_due_parts();
  if (order_) send_due();
  return events;
}

std::size_t OfiProvider::read_queue() {
  std::array<fi_cq_tagged_entry, kReadBatch> entries;
  const ssize_t count = fi_cq_read(queue_.get(), entries.data(), entries.size());
  if (count == -FI_EAGAIN) return 0;
  if (count == -FI_EAVAIL) return read_error();
  if (count < 0) {
    log_.write(LogLevel::error, "fi_cq_read ({}): {}", description_, fi_strerror(static_cast<int>(-count)));
    return 0;
  }
  std::size_t events = static_cast<std::size_t>(count);
  for (const fi_cq_tagged_entry& entry : std::span(entries).first(static_cast<std::size_t>(count))) {
    // Of a peer's write. shm of libfabric 2.1 does not say so; but all that this rank has posted has a context.
    if ((entry.flags & FI_REMOTE_WRITE) != 0 || entry.op_context == nullptr) {
      written(entry);
      continue;
    }
    Completion& completion = Completion::from_provider_space(entry.op_context);
    if (Peek* peek = find_peek(completion))
      events -= found(*peek, entry) ? 0u : 1u;
    else if ((entry.flags & FI_RECV) != 0)
      received(completion, entry);
    else
      ended(completion, entry.len, entry.tag);
  }
  return events;
}

void OfiProvider::ended(Completion& completion, std::uint64_t bytes, std::uint64_t tag) {
  taken_back_ = nullptr;
  if (!split_.empty() && goes_on(completion, bytes)) return;
  forget(completion);
  completion.done(bytes, tag);
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
  if (Peek* peek = find_peek(completion)) {
    return ended_in_vain(*peek) ? 1 : 0;
  }
  const bool taken_back = std::exchange(taken_back_, nullptr) == &completion;
  forget(completion);
  if (taken_back && entry.err == FI_ECANCELED) {
    // Where the provider cannot peek, an inbox takes a receive back in each look: no allocation, as in ended_in_vain.
    completion.fail({make_error_code(Errc::cancelled), "taken back"});
    return 1;
  }
  const std::string message =
      entry.err == FI_ETRUNC
          ? fmt::format("a message of {} bytes arrived, which is {} bytes more than declared", entry.len + entry.olen,
                        entry.olen)
          : fmt::format("{} ({}, {})", fi_strerror(entry.err), text == nullptr ? "no detail" : text, description_);
  completion.fail({make_error_code(code_of(entry.err)), message});
  return 1;
}

bool OfiProvider::may_sleep() {
  if (split_.has_due() || (order_ && order_->has_due())) return false;
  if (wait_set_) return fi_wait(wait_set_.get(), 0) == -FI_ETIMEDOUT;
  if (wait_fd_ < 0) return false;
  std::array<fid*, 1> fids{&queue_->fid};
  return fi_trywait(fabric_.get(), fids.data(), static_cast<int>(fids.size())) == FI_SUCCESS;
}

}  // namespace fab::ofi
