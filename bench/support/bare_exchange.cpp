#include "support/bare_exchange.h"

#include <rdma/fi_cm.h>
#include <rdma/fi_tagged.h>

#include <array>
#include <exception>
#include <string>

#include "apps/mpi_call.h"

namespace bench {
namespace {

using apps::check_mpi;
using fab::Errc;
using fab::Error;
using fab::ofi::check;

constexpr std::uint64_t kTag = 1;  // the messages of one peer with one tag match in order
constexpr std::size_t kOperations = 2;

template <class Object, class Open>
void open_handle(fab::ofi::Handle<Object>& handle, const char* call, const std::string& provider, Open open) {
  Object* object = nullptr;
  check(open(&object), call, provider);
  handle.reset(object);
}

}  // namespace

BareExchange::BareExchange(const fi_info& info, int peer) : peer_rank_(peer), info_(fi_dupinfo(&info)) {
  if (!info_) throw Error(Errc::no_resources, "fi_dupinfo: out of memory");
  name_ = info_->fabric_attr->prov_name;
  if ((info_->domain_attr->mr_mode & FI_MR_LOCAL) != 0)
    throw Error(Errc::transport, fmt::format("bare exchange: {} wants registered memory", name_));
  open();
  insert_peer();
}

// One rank may be done with the last exchange while its message is still inside the provider: both poll until both are
// here. Not with an exception on its way: that ends the job, and the peer may never come.
BareExchange::~BareExchange() {
  if (std::uncaught_exceptions() > 0) return;
  char token = 0;
  std::array<MPI_Request, 2> meeting{};
  if (MPI_Irecv(&token, 0, MPI_CHAR, peer_rank_, 0, MPI_COMM_WORLD, &meeting[0]) != MPI_SUCCESS) return;
  if (MPI_Isend(&token, 0, MPI_CHAR, peer_rank_, 0, MPI_COMM_WORLD, &meeting[1]) != MPI_SUCCESS) return;
  for (int met = 0; met == 0;) {
    fi_cq_read(queue_.get(), nullptr, 0);  // nothing can complete: this only drives the provider
    if (MPI_Testall(2, meeting.data(), &met, MPI_STATUSES_IGNORE) != MPI_SUCCESS) return;
  }
}

void BareExchange::open() {
  open_handle(fabric_, "fi_fabric", name_,
              [&](fid_fabric** fabric) { return fi_fabric(info_->fabric_attr, fabric, nullptr); });
  open_handle(domain_, "fi_domain", name_,
              [&](fid_domain** domain) { return fi_domain(fabric_.get(), info_.get(), domain, nullptr); });
  fi_av_attr address_attributes{};
  address_attributes.type = info_->domain_attr->av_type;
  open_handle(addresses_, "fi_av_open", name_,
              [&](fid_av** vector) { return fi_av_open(domain_.get(), &address_attributes, vector, nullptr); });
  fi_cq_attr queue_attributes{};
  queue_attributes.format = FI_CQ_FORMAT_CONTEXT;
  queue_attributes.wait_obj = FI_WAIT_NONE;
  open_handle(queue_, "fi_cq_open", name_,
              [&](fid_cq** queue) { return fi_cq_open(domain_.get(), &queue_attributes, queue, nullptr); });
  open_handle(endpoint_, "fi_endpoint", name_,
              [&](fid_ep** endpoint) { return fi_endpoint(domain_.get(), info_.get(), endpoint, nullptr); });
  check(fi_ep_bind(endpoint_.get(), &addresses_->fid, 0), "fi_ep_bind", name_);
  check(fi_ep_bind(endpoint_.get(), &queue_->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind", name_);
  check(fi_enable(endpoint_.get()), "fi_enable", name_);
}

void BareExchange::insert_peer() {
  constexpr std::size_t kMostAddressBytes = 512;
  std::array<char, kMostAddressBytes> own{};
  std::array<char, kMostAddressBytes> peer{};
  std::size_t bytes = own.size();
  check(fi_getname(&endpoint_->fid, own.data(), &bytes), "fi_getname", name_);
  const auto count = static_cast<int>(own.size());
  check_mpi(MPI_Sendrecv(own.data(), count, MPI_BYTE, peer_rank_, 0, peer.data(), count, MPI_BYTE, peer_rank_, 0,
                         MPI_COMM_WORLD, MPI_STATUS_IGNORE),
            "MPI_Sendrecv");
  const int inserted = fi_av_insert(addresses_.get(), peer.data(), 1, &peer_, 0, nullptr);
  if (inserted != 1) throw Error(Errc::unreachable, fmt::format("fi_av_insert ({}): returned {}", name_, inserted));
}

void BareExchange::exchange(const void* send, void* receive, std::size_t bytes) {
  completed_ = 0;
  post("fi_trecv",
       [&] { return fi_trecv(endpoint_.get(), receive, bytes, nullptr, peer_, kTag, 0, &receive_context_); });
  post("fi_tsend", [&] { return fi_tsend(endpoint_.get(), send, bytes, nullptr, peer_, kTag, &send_context_); });
  while (completed_ < kOperations) poll();
}

template <class Post>
void BareExchange::post(const char* call, Post operation) {
  ssize_t result = operation();
  for (; result == -FI_EAGAIN; result = operation()) poll();
  check(result, call, name_);
}

void BareExchange::poll() {
  std::array<fi_cq_entry, kOperations> entries;
  const ssize_t count = fi_cq_read(queue_.get(), entries.data(), entries.size());
  if (count > 0) {
    completed_ += static_cast<std::size_t>(count);
  } else if (count != -FI_EAGAIN) {
    fail(count);
  }
}

void BareExchange::fail(ssize_t result) {
  fi_cq_err_entry entry{};
  if (result == -FI_EAVAIL && fi_cq_readerr(queue_.get(), &entry, 0) == 1) check(-entry.err, "completion", name_);
  check(result, "fi_cq_read", name_);
}

}  // namespace bench
