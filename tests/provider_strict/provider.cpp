// The provider as libfabric sees it: its capabilities and its fabrics.
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <rdma/providers/fi_prov.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "domain.h"
#include "lower.h"
#include "object.h"
#include "profile.h"
#include "queue.h"
#include "violation.h"

namespace strict {

namespace {

constexpr const char* kFabricPrefix = "strict over ";

struct Fabric : fid_fabric {
  fid_fabric* lower = nullptr;
  std::string lower_name;
};

Fabric& fabric_of(fid_fabric* object) { return *static_cast<Fabric*>(object); }

int close_fabric(fid* object) {
  Fabric& fabric = fabric_of(reinterpret_cast<fid_fabric*>(object));
  fi_close(&fabric.lower->fid);
  delete &fabric;
  return 0;
}

int open_domain_of(fid_fabric* object, fi_info* info, fid_domain** result, void*) {
  return open_domain(fabric_of(object).lower, fabric_of(object).lower_name.c_str(), info, result);
}

int try_wait(fid_fabric*, fid** objects, int count) {
  for (int i = 0; i < count; ++i) {
    if (objects[i]->fclass != FI_CLASS_CQ) return -FI_ENOSYS;
    if (!static_cast<Queue*>(reinterpret_cast<fid_cq*>(objects[i]))->may_wait()) return -FI_EAGAIN;
  }
  return 0;
}

int no_wait_set(fid_fabric*, fi_wait_attr*, fid_wait**) { return -FI_ENOSYS; }

fi_ops fid_operations = object_operations(close_fabric);
fi_ops_fabric operations = {.size = sizeof(fi_ops_fabric),
                            .domain = open_domain_of,
                            .passive_ep = nullptr,
                            .eq_open = nullptr,
                            .wait_open = no_wait_set,
                            .trywait = try_wait,
                            .domain2 = nullptr};

int open_fabric(fi_fabric_attr* attr, fid_fabric** result, void*) {
  const std::string name = attr->name;
  if (!name.starts_with(kFabricPrefix)) return -FI_EINVAL;
  const std::string lower_name = name.substr(std::string(kFabricPrefix).size());
  const Info lower = find_lower(lower_name.c_str(), nullptr);
  if (!lower) return -FI_ENODATA;
  auto fabric = std::make_unique<Fabric>();
  const int opened = fi_fabric(lower->fabric_attr, &fabric->lower, nullptr);
  if (opened != 0) return opened;
  fabric->fid = {.fclass = FI_CLASS_FABRIC, .context = nullptr, .ops = &fid_operations};
  fabric->ops = &operations;
  fabric->api_version = attr->api_version;
  fabric->lower_name = lower_name;
  *result = fabric.release();
  return 0;
}

std::uint64_t capabilities() noexcept {
  std::uint64_t caps = FI_TAGGED | FI_SEND | FI_RECV | FI_LOCAL_COMM | FI_REMOTE_COMM;
  if (profile().directed_receive) caps |= FI_DIRECTED_RECV;
  if (profile().writes) caps |= FI_RMA | FI_WRITE | FI_REMOTE_WRITE;
  return caps;
}

std::uint64_t order() noexcept { return profile().ordered ? FI_ORDER_SAS : FI_ORDER_NONE; }

bool has_all(std::uint64_t offered, std::uint64_t wanted) noexcept { return (wanted & ~offered) == 0; }

/// What the application asks for is there, and what the profile requires it knows.
bool fits(const fi_info& hints) {
  const Profile& row = profile();
  if (!has_all(capabilities(), hints.caps) || !has_all(hints.mode, row.mode)) return false;
  if (hints.ep_attr != nullptr && hints.ep_attr->type != FI_EP_UNSPEC && hints.ep_attr->type != FI_EP_RDM) return false;
  if (hints.tx_attr != nullptr && !has_all(order(), hints.tx_attr->msg_order)) return false;
  if (hints.rx_attr != nullptr && !has_all(order(), hints.rx_attr->msg_order)) return false;
  const fi_domain_attr* domain = hints.domain_attr;
  if (domain == nullptr) return row.mr_mode == 0;
  if (!has_all(static_cast<std::uint64_t>(domain->mr_mode), row.mr_mode)) return false;
  if (domain->data_progress == FI_PROGRESS_AUTO || domain->cq_data_size > row.cq_data_bytes) return false;
  return domain->av_type == FI_AV_UNSPEC || domain->av_type == row.av_type;
}

/// No fields: the bits alternate, as in libfabric's own providers.
constexpr std::uint64_t kAnyTagFormat = 0xaaaa'aaaa'aaaa'aaaaull;

std::uint64_t tag_format() noexcept { return kAnyTagFormat >> (64 - profile().tag_bits); }

void describe_transmit(fi_tx_attr& attr, std::uint64_t caps, const fi_info* hints) {
  const Profile& row = profile();
  attr.caps = caps & ~(FI_RECV | FI_REMOTE_WRITE | FI_DIRECTED_RECV | FI_LOCAL_COMM | FI_REMOTE_COMM);
  attr.mode = row.mode;
  attr.op_flags = 0;
  attr.msg_order = hints != nullptr && hints->tx_attr != nullptr ? hints->tx_attr->msg_order : order();
  attr.comp_order = row.completions_in_order ? FI_ORDER_STRICT : FI_ORDER_NONE;
  attr.inject_size = row.inject_bytes;
  attr.size = row.queue_size;
  attr.iov_limit = row.iov_limit;
  attr.rma_iov_limit = 1;
}

void describe_receive(fi_rx_attr& attr, std::uint64_t caps, const fi_info* hints) {
  const Profile& row = profile();
  attr.caps = caps & ~(FI_SEND | FI_WRITE | FI_LOCAL_COMM | FI_REMOTE_COMM);
  attr.mode = row.mode;
  attr.op_flags = 0;
  attr.msg_order = hints != nullptr && hints->rx_attr != nullptr ? hints->rx_attr->msg_order : order();
  attr.comp_order = row.completions_in_order ? FI_ORDER_STRICT : FI_ORDER_NONE;
  attr.size = row.queue_size;
  attr.iov_limit = row.iov_limit;
}

void describe_domain(fi_domain_attr& attr, std::uint64_t caps) {
  const Profile& row = profile();
  attr.threading = FI_THREAD_DOMAIN;
  attr.control_progress = attr.data_progress = FI_PROGRESS_MANUAL;
  attr.resource_mgmt = FI_RM_ENABLED;
  attr.av_type = row.av_type;
  attr.mr_mode = static_cast<int>(row.mr_mode);
  attr.mr_key_size = row.key_bytes;
  attr.cq_data_size = row.cq_data_bytes;
  attr.mr_iov_limit = 1;
  attr.caps = caps & (FI_LOCAL_COMM | FI_REMOTE_COMM);
  attr.mode = 0;
}

/// `info` comes from below.
void describe(fi_info& info, const fi_info* hints) {
  constexpr std::uint64_t kPrimary = FI_TAGGED | FI_RMA | FI_DIRECTED_RECV;
  std::uint64_t caps = capabilities();
  if (hints != nullptr && hints->caps != 0) caps &= ~(kPrimary & ~hints->caps);
  if ((caps & FI_RMA) == 0) caps &= ~(FI_WRITE | FI_REMOTE_WRITE);
  info.caps = caps;
  info.mode = profile().mode;
  describe_transmit(*info.tx_attr, caps, hints);
  describe_receive(*info.rx_attr, caps, hints);
  describe_domain(*info.domain_attr, caps);
  info.ep_attr->max_msg_size = profile().max_message_bytes;
  info.ep_attr->mem_tag_format = tag_format();
  std::free(info.fabric_attr->prov_name);
  info.fabric_attr->prov_name = nullptr;  // libfabric writes ours there
  const std::string name = kFabricPrefix + std::string(info.fabric_attr->name);
  std::free(info.fabric_attr->name);
  info.fabric_attr->name = ::strdup(name.c_str());
}

int get_info(std::uint32_t, const char* node, const char* service, std::uint64_t, const fi_info* hints,
             fi_info** result) {
  if (node != nullptr || service != nullptr) return -FI_ENODATA;
  if (hints != nullptr && !fits(*hints)) return -FI_ENODATA;
  Info list = find_lower();
  if (!list) return -FI_ENODATA;
  for (fi_info* info = list.get(); info != nullptr; info = info->next) describe(*info, hints);
  *result = list.release();
  return 0;
}

fi_provider provider = {.version = FI_VERSION(1, 0),
                        .fi_version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION),
                        .context = {},
                        .name = "strict",
                        .getinfo = get_info,
                        .fabric = open_fabric,
                        .cleanup = [] {}};

}  // namespace

}  // namespace strict

extern "C" __attribute__((visibility("default"))) fi_provider* fi_prov_ini() { return &strict::provider; }
