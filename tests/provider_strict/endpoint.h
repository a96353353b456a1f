// An endpoint that holds messages back and releases them in any order that the profile allows.
#pragma once

#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "chance.h"
#include "matching.h"
#include "wire.h"

namespace strict {

class Addresses;
class Domain;
class Queue;

/// A message or a write that leaves.
struct Transfer {
  FrameKind kind = FrameKind::message;
  std::uint64_t number = 0;
  std::uint64_t lent_flags = 0;  ///< those of its completion
  void* context = nullptr;
  fi_addr_t to = FI_ADDR_UNSPEC;  ///< below
  std::vector<iovec> pieces;
  std::vector<void*> descriptors;
  std::vector<std::byte> injected;  ///< a copy, where the application has its memory back at once
  FrameHead head;
  std::uint64_t posted = 0;  ///< bytes
  bool begun = false;
  bool all_posted = false;
  unsigned frames_leaving = 0;
  bool answered = false;
  int error = 0;
};

class Endpoint : public fid_ep {
 public:
  /// Takes over the endpoint below.
  Endpoint(Domain& domain, fid_ep* lower);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  [[nodiscard]] Domain& domain() const noexcept { return domain_; }
  int bind(struct fid* other, std::uint64_t flags);
  int enable();
  int name(void* address, std::size_t* bytes);

  ssize_t send(const fi_msg_tagged& message, std::uint64_t flags);
  ssize_t receive(const fi_msg_tagged& message, std::uint64_t flags);
  ssize_t write(const fi_msg_rma& message, std::uint64_t flags);
  ssize_t cancel(void* context);

  void progress();
  /// Something is held back that only progress() lets go.
  [[nodiscard]] bool needs_polls() const noexcept;

 private:
  [[nodiscard]] bool refuses(std::size_t in_flight);
  void check_post(const char* call, const iovec* pieces, void* const* descriptors, std::size_t count,
                  std::uint64_t access, std::uint64_t flags) const;
  ssize_t post(Transfer transfer, const iovec* pieces, void* const* descriptors, std::size_t count, std::uint64_t flags,
               fi_addr_t to, const char* call);
  [[nodiscard]] bool may_begin(const Transfer& transfer) const;
  void let_go();
  void push(Transfer& transfer);
  void frame_left(std::uint64_t number, int error);
  void end_if_over(Transfer& transfer);
  void frame_arrived(const Frame& frame);
  void written(const Frame& frame, const std::string& source);
  void answer(const std::string& source, std::uint64_t number, int error);
  void answered(const FrameHead& head);
  void received(const Message& message);

  Domain& domain_;
  fid_ep* lower_;  ///< until it is enabled
  Addresses* addresses_ = nullptr;
  Queue* queue_ = nullptr;
  std::unique_ptr<Wire> wire_;
  std::string own_address_;
  Matching matching_;
  std::list<Transfer> transfers_;  ///< in the order in which they were posted
  std::uint64_t last_number_ = 0;
  struct Answer {
    fi_addr_t to;
    std::unique_ptr<Frame> frame;
  };
  std::list<Answer> answers_;
  Chance chance_;
};

}  // namespace strict
