#include "providers/ofi/features.h"

#include <fmt/core.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <sys/resource.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>

#include "providers/ofi/native_tcp.h"
#include "providers/ofi/receiver_key.h"

namespace fab::ofi {

namespace {

bool has(std::uint64_t bits, std::uint64_t bit) { return (bits & bit) != 0; }

std::uint64_t registration_mode(const fi_info& info) { return static_cast<std::uint64_t>(info.domain_attr->mr_mode); }

Feature choose(const char* name, bool used, std::string detail, std::string instead) {
  return {name, used, used ? std::move(detail) : std::move(instead)};
}

std::string largest(const fi_info& info) {
  const std::uint64_t bytes = info.ep_attr->max_msg_size;
  return bytes >= 1ull << 40 ? "of any length" : fmt::format("up to {} bytes, longer ones in parts", bytes);
}

ReceiverKey::Room room_of(const fi_info& info) {
  Capabilities capabilities;
  capabilities.tag_mask = tag_mask(info);
  return ReceiverKey::room_of(capabilities.closed_tag_bits(), info.domain_attr->cq_data_size);
}

std::string guess_text(const fi_info& info) {
  const ReceiverKey::Room room = room_of(info);
  const std::string tag =
      fmt::format("a stranger has to guess {} bits of the tag", std::popcount(room.closed_tag_bits));
  return room.data_bits == 0 ? tag : tag + fmt::format(", and {} beside it", room.data_bits);
}

std::string key_text(std::uint64_t mode) {
  std::string text = has(mode, FI_MR_PROV_KEY) ? "keys are the provider's" : "keys are random numbers of fab's";
  text += has(mode, FI_MR_VIRT_ADDR) ? ", targets are addresses" : ", targets are offsets";
  if (has(mode, FI_MR_ENDPOINT)) text += ", bound to the endpoint";
  return text;
}

}  // namespace

// libfabric's own TCP endpoint keeps a few small ones (FI_NET_MAX_SAVED); the next one stays in its connection.
bool keeps_few_early_messages(const fi_info& info) { return is_native_tcp(info.fabric_attr->prov_name); }

bool keeps_early_messages_to_itself(const fi_info& info) {
  return std::string_view(info.fabric_attr->prov_name).ends_with("ofi_rxm");
}

// sm2 (seen with libfabric 2.1) never does, nor does sockets (1.17 and 2.1) for what came before its receive.
bool flags_data(const fi_info& info) {
  const std::string_view provider = info.fabric_attr->prov_name;
  return provider != "sm2" && provider != "sockets";
}

// tcp;ofi_rxm, verbs;ofi_rxm and psm2 ask the receiver before longer ones (from 8 to 16 KiB on). One that has nowhere
// to keep messages sends at once: the kernel takes what its buffers hold.
std::uint64_t unattended_bytes(const fi_info& info) { return keeps_few_early_messages(info) ? 64 << 10 : 8 << 10; }

// A message that is taken in early must say whose it is, so the tag names the source. And shm (seen with libfabric
// 1.17) takes messages for another sender's that come before their sender's address was inserted here.
bool receives_by_source(const fi_info& info) {
  return has(info.caps, FI_DIRECTED_RECV) && std::string_view(info.fabric_attr->prov_name) != "shm" &&
         !keeps_few_early_messages(info);
}

void forgo_receives_by_source(fi_info& info) {
  info.caps &= ~FI_DIRECTED_RECV;
  info.rx_attr->caps &= ~FI_DIRECTED_RECV;
}

std::uint64_t tag_mask(const fi_info& info) {
  const int width = 64 - std::countl_zero(info.ep_attr->mem_tag_format);
  return width == 64 ? ~0ull : (1ull << width) - 1;
}

unsigned bits_to_guess(const fi_info& info) {
  const ReceiverKey::Room room = room_of(info);
  return static_cast<unsigned>(std::popcount(room.closed_tag_bits)) + room.data_bits;
}

bool writes_carry_data(const fi_info& info) {
  return info.domain_attr->cq_data_size >= kWriteDataBytes && !has(info.rx_attr->mode, FI_RX_CQ_DATA);
}

// lnx reads the descriptor of a receive's memory also where it asks for no registration, and hands one on as a list of
// them (seen with libfabric 2.1).
std::string_view fault_of(std::string_view provider) {
  if (provider.ends_with(":lnx") && FI_VERSION_LT(fi_version(), FI_VERSION(2, 2)))
    return "ends the process at a message in memory without a descriptor, before libfabric 2.2";
  return {};
}

std::string locked_memory_warning(const fi_info& info) {
  constexpr rlim_t kComfortable = 64 << 20;  // ofi_rxm's receive buffers alone take 32 MiB
  rlimit limit{};
  if (!has(registration_mode(info), FI_MR_LOCAL) || ::getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return {};
  if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= kComfortable) return {};
  return fmt::format(
      "{} locks the memory that it reads and writes, and `ulimit -l` allows {} KiB: peers may never be "
      "reached; raise it on every node (usual: unlimited)",
      info.fabric_attr->prov_name, limit.rlim_cur >> 10);
}

std::vector<Feature> features_of(const Candidate& candidate) {
  const fi_info& info = *candidate.info;
  const std::size_t pieces = std::min(info.tx_attr->iov_limit, info.rx_attr->iov_limit);
  const std::size_t inject = info.tx_attr->inject_size;
  const std::uint64_t mode = registration_mode(info);
  return {
      {"tagged messages", true, largest(info)},
      choose("receives by source", receives_by_source(info), "messages of several senders may have one tag",
             "the tag names the sender"),
      choose("injection", inject > 0, fmt::format("up to {} bytes", inject),
             "every message keeps its buffer until its end"),
      choose("pieces", pieces > 1, fmt::format("up to {} in a message without packing", pieces),
             "blocks in several pieces are packed"),
      {"keyed messages", true, guess_text(info)},
      choose("one-sided writes", candidate.writes, key_text(mode), candidate.writes_reason),
      choose("data with a write", candidate.writes,
             fmt::format("4 bytes, of {} that can be", info.domain_attr->cq_data_size), candidate.writes_reason),
      choose("registered messages", has(mode, FI_MR_LOCAL), "the memory of every message is registered for it",
             "memory of messages needs no registration"),
  };
}

}  // namespace fab::ofi
