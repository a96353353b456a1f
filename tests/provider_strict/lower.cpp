#include "lower.h"

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <cstring>

#include "providers/ofi/native_tcp.h"

namespace strict {

Info find_lower() {
  const Info hints(fi_allocinfo());
  if (!hints) return nullptr;
  hints->caps = FI_MSG;
  hints->ep_attr->type = FI_EP_RDM;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
  hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS;
  hints->fabric_attr->prov_name = ::strdup(fab::ofi::native_tcp());
  fi_info* list = nullptr;
  return Info(fi_getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, hints.get(), &list) == 0 ? list : nullptr);
}

Info find_lower(const char* fabric, const fi_info* info) {
  const Info list = find_lower();
  for (const fi_info* each = list.get(); each != nullptr; each = each->next) {
    if (std::strcmp(each->fabric_attr->name, fabric) != 0) continue;
    const bool same = info == nullptr || (std::strcmp(each->domain_attr->name, info->domain_attr->name) == 0 &&
                                          each->src_addrlen == info->src_addrlen &&
                                          std::memcmp(each->src_addr, info->src_addr, info->src_addrlen) == 0);
    if (same) return Info(fi_dupinfo(each));
  }
  return nullptr;
}

}  // namespace strict
