// The demands and the missing features of a provider, as one of the profiles in README.md.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>

#include <cstddef>
#include <cstdint>

namespace strict {

struct Profile {
  const char* name;
  std::uint64_t mode;
  std::uint64_t mr_mode;
  unsigned tag_bits;
  std::size_t inject_bytes;
  std::size_t iov_limit;
  std::size_t cq_data_bytes;
  bool writes = true;  ///< one-sided, with that data
  bool directed_receive;
  bool ordered;  ///< sends to one peer keep their order; otherwise they lose it on purpose
  bool completions_in_order;
  fi_av_type av_type;
  bool wait_fd;
  std::size_t queue_size;   ///< posts of a direction that may be in flight
  std::size_t cq_limit;     ///< the longest completion queue that can be opened
  unsigned refuses_one_in;  ///< posts, with -FI_EAGAIN; 0: only when a queue is full
  std::uint64_t max_message_bytes;
  std::size_t key_bytes;
};

/// The one that FI_STRICT_PROFILE names, "harsh" where it is not set. Ends the process where it names none.
const Profile& profile();

}  // namespace strict
