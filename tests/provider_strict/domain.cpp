#include "domain.h"

#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <memory>

#include "addresses.h"
#include "endpoint.h"
#include "object.h"
#include "profile.h"
#include "queue.h"
#include "violation.h"

namespace strict {

namespace {

Domain& domain_of(fid_domain* object) { return *static_cast<Domain*>(object); }
Domain& domain_of(fid* object) { return domain_of(reinterpret_cast<fid_domain*>(object)); }

int close_domain(fid* object) {
  delete &domain_of(object);
  return 0;
}

int register_memory(fid* object, const void* memory, std::size_t bytes, std::uint64_t access, std::uint64_t offset,
                    std::uint64_t key, std::uint64_t flags, fid_mr** region, void*) {
  const Domain::Entry entry(domain_of(object), "fi_mr_reg");
  if (offset != 0 || flags != 0) return -FI_EINVAL;
  return domain_of(object).regions().add(memory, bytes, access, key, region);
}

int open_addresses(fid_domain* object, fi_av_attr* attr, fid_av** result, void*) {
  if (attr->type == FI_AV_UNSPEC) attr->type = profile().av_type;
  if (attr->type != profile().av_type || attr->flags != 0) return -FI_EINVAL;
  fi_av_attr lower_attr{};
  fid_av* lower = nullptr;
  const int opened = fi_av_open(domain_of(object).lower(), &lower_attr, &lower, nullptr);
  if (opened == 0) *result = new Addresses(lower, domain_of(object).lower_info()->src_addrlen);
  return opened;
}

int open_queue(fid_domain* object, fi_cq_attr* attr, fid_cq** result, void*) {
  const bool wait = attr->wait_obj == FI_WAIT_FD;
  if (attr->size > profile().cq_limit) return -FI_EINVAL;
  if (attr->format != FI_CQ_FORMAT_TAGGED) return -FI_ENOSYS;
  if ((wait && !profile().wait_fd) || (!wait && attr->wait_obj != FI_WAIT_NONE)) return -FI_ENOSYS;
  const Domain& domain = domain_of(object);
  fi_cq_attr lower_attr{};
  lower_attr.size = 1024;
  lower_attr.format = FI_CQ_FORMAT_MSG;
  fid_wait* lower_wait = nullptr;
  if (wait) {
    fi_wait_attr wait_attr{};
    wait_attr.wait_obj = FI_WAIT_FD;
    const int opened = fi_wait_open(domain.lower_fabric(), &wait_attr, &lower_wait);
    if (opened != 0) return opened;
    lower_attr.wait_obj = FI_WAIT_SET;
    lower_attr.wait_set = lower_wait;
  }
  fid_cq* lower = nullptr;
  const int opened = fi_cq_open(domain.lower(), &lower_attr, &lower, nullptr);
  if (opened == 0)
    *result = new Queue(lower_wait, lower, attr->size == 0 ? profile().cq_limit : attr->size);
  else if (lower_wait != nullptr)
    fi_close(&lower_wait->fid);
  return opened;
}

int open_endpoint(fid_domain* object, fi_info* info, fid_ep** result, void*) {
  demand((info->mode & profile().mode) == profile().mode, "fi_endpoint: mode {:#x}; {:#x} is required", info->mode,
         profile().mode);
  fid_ep* lower = nullptr;
  const int opened = fi_endpoint(domain_of(object).lower(), domain_of(object).lower_info(), &lower, nullptr);
  if (opened == 0) *result = new Endpoint(domain_of(object), lower);
  return opened;
}

fi_ops fid_operations = object_operations(close_domain);
fi_ops_domain operations = {.size = sizeof(fi_ops_domain),
                            .av_open = open_addresses,
                            .cq_open = open_queue,
                            .endpoint = open_endpoint,
                            .scalable_ep = nullptr,
                            .cntr_open = nullptr,
                            .poll_open = nullptr,
                            .stx_ctx = nullptr,
                            .srx_ctx = nullptr,
                            .query_atomic = nullptr,
                            .query_collective = nullptr,
                            .endpoint2 = nullptr};
fi_ops_mr memory_operations = {.size = sizeof(fi_ops_mr), .reg = register_memory, .regv = nullptr, .regattr = nullptr};

}  // namespace

Domain::Domain(fid_fabric* lower_fabric, fid_domain* lower, Info lower_info)
    : fid_domain{.fid = {.fclass = FI_CLASS_DOMAIN, .context = nullptr, .ops = &fid_operations},
                 .ops = &operations,
                 .mr = &memory_operations},
      lower_fabric_(lower_fabric),
      lower_(lower),
      lower_info_(std::move(lower_info)) {}

Domain::~Domain() {
  demand(regions_.empty(), "fi_close: the domain is closed before memory that was registered with it");
  fi_close(&lower_->fid);
}

Domain::Entry::Entry(Domain& domain, const char* call) : domain_(domain) {
  const char* other = domain_.inside_.exchange(call);
  demand(other == nullptr, "{} while another thread is within {} (FI_THREAD_DOMAIN)", call, other);
}

Domain::Entry::~Entry() { domain_.inside_ = nullptr; }

int open_domain(fid_fabric* lower_fabric, const char* fabric, const fi_info* info, fid_domain** result) {
  if (info->domain_attr->data_progress == FI_PROGRESS_AUTO) return -FI_EOPNOTSUPP;
  demand((info->domain_attr->mr_mode & profile().mr_mode) == profile().mr_mode,
         "fi_domain: mr_mode {:#x}; {:#x} is required", info->domain_attr->mr_mode, profile().mr_mode);
  Info lower_info = find_lower(fabric, info);
  if (!lower_info) return -FI_ENODATA;
  fid_domain* lower = nullptr;
  const int opened = fi_domain(lower_fabric, lower_info.get(), &lower, nullptr);
  if (opened == 0) *result = new Domain(lower_fabric, lower, std::move(lower_info));
  return opened;
}

}  // namespace strict
