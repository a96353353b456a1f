// The limit of an exchange with one peer: libfabric alone, by the shortest way that its tagged messages offer.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>

#include "providers/ofi/handles.h"

namespace bench {

/// An endpoint of its own on the same provider and interface as fab's. Each exchange is one fi_trecv, one fi_tsend and
/// polling the completion queue until both are complete; nothing is matched, planned or shared with other threads.
class BareExchange {
 public:
  /// Addresses are exchanged through MPI: `peer` makes one too, for this rank. Throws fab::Error, among others when the
  /// provider wants memory to be registered, which the limit leaves out.
  BareExchange(const fi_info& info, int peer);
  /// Waits for the peer to come here.
  ~BareExchange();
  BareExchange(const BareExchange&) = delete;
  BareExchange& operator=(const BareExchange&) = delete;

  /// Sends `bytes` and receives as many. Throws fab::Error.
  void exchange(const void* send, void* receive, std::size_t bytes);

 private:
  void open();
  void insert_peer();
  template <class Post>
  void post(const char* call, Post operation);
  void poll();
  void fail(ssize_t result);

  int peer_rank_;
  fab::ofi::InfoHandle info_;
  std::string name_;
  fab::ofi::Handle<fid_fabric> fabric_;
  fab::ofi::Handle<fid_domain> domain_;
  fab::ofi::Handle<fid_av> addresses_;
  fab::ofi::Handle<fid_cq> queue_;
  fab::ofi::Handle<fid_ep> endpoint_;
  fi_addr_t peer_ = FI_ADDR_UNSPEC;
  fi_context2 send_context_{};
  fi_context2 receive_context_{};
  std::size_t completed_ = 0;
};

}  // namespace bench
