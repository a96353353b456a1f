#include "profile.h"

#include <cstdlib>
#include <string>

#include "violation.h"

namespace strict {

namespace {

constexpr std::uint64_t kNoLimit = ~0ull;

// README.md says where each row comes from.
constexpr Profile kProfiles[] = {
    {.name = "psm2",
     .mode = FI_CONTEXT,
     .mr_mode = 0,
     .tag_bits = 60,
     .inject_bytes = 64,
     .iov_limit = 1,
     .cq_data_bytes = 4,
     .directed_receive = true,
     .ordered = true,
     .completions_in_order = false,
     .av_type = FI_AV_MAP,
     .wait_fd = true,
     .queue_size = 64,
     .cq_limit = 4096,
     .refuses_one_in = 0,
     .max_message_bytes = 0xffff'ffffull,
     .key_bytes = 8},
    {.name = "opx",
     .mode = FI_CONTEXT2,
     .mr_mode = 0,
     .tag_bits = 64,
     .inject_bytes = 16,
     .iov_limit = 1,
     .cq_data_bytes = 4,
     .directed_receive = true,
     .ordered = true,
     .completions_in_order = false,
     .av_type = FI_AV_MAP,
     .wait_fd = false,
     .queue_size = 128,
     .cq_limit = 2048,
     .refuses_one_in = 7,
     .max_message_bytes = kNoLimit,
     .key_bytes = 8},
    {.name = "cxi",
     .mode = 0,
     .mr_mode = FI_MR_ENDPOINT | FI_MR_ALLOCATED,
     .tag_bits = 48,
     .inject_bytes = 192,
     .iov_limit = 1,
     .cq_data_bytes = 8,
     .directed_receive = true,
     .ordered = true,
     .completions_in_order = false,
     .av_type = FI_AV_TABLE,
     .wait_fd = false,
     .queue_size = 256,
     .cq_limit = 1024,
     .refuses_one_in = 11,
     .max_message_bytes = 0xffff'ffffull,
     .key_bytes = 4},
    {.name = "efa",
     .mode = 0,
     .mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY,
     .tag_bits = 64,
     .inject_bytes = 0,
     .iov_limit = 4,
     .cq_data_bytes = 4,
     .directed_receive = true,
     .ordered = true,
     .completions_in_order = false,
     .av_type = FI_AV_TABLE,
     .wait_fd = false,
     .queue_size = 256,
     .cq_limit = 8192,
     .refuses_one_in = 5,
     .max_message_bytes = kNoLimit,
     .key_bytes = 4},
    {.name = "verbs",
     .mode = 0,
     .mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY,
     .tag_bits = 64,
     .inject_bytes = 192,
     .iov_limit = 4,
     .cq_data_bytes = 4,
     .directed_receive = false,
     .ordered = true,
     .completions_in_order = true,
     .av_type = FI_AV_TABLE,
     .wait_fd = true,
     .queue_size = 384,
     .cq_limit = 4096,
     .refuses_one_in = 0,
     .max_message_bytes = 1ull << 30,
     .key_bytes = 4},
    {.name = "harsh",
     .mode = FI_CONTEXT | FI_CONTEXT2,
     .mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT,
     .tag_bits = 60,
     .inject_bytes = 32,
     .iov_limit = 1,
     .cq_data_bytes = 4,
     .directed_receive = false,
     .ordered = false,
     .completions_in_order = false,
     .av_type = FI_AV_MAP,
     .wait_fd = true,
     .queue_size = 16,
     .cq_limit = 64,
     .refuses_one_in = 3,
     .max_message_bytes = 96'000,
     .key_bytes = 8},
    {.name = "bare",
     .mode = 0,
     .mr_mode = 0,
     .tag_bits = 32,
     .inject_bytes = 0,
     .iov_limit = 1,
     .cq_data_bytes = 8,
     .writes = false,
     .directed_receive = false,
     .ordered = false,
     .completions_in_order = false,
     .av_type = FI_AV_TABLE,
     .wait_fd = false,
     .queue_size = 32,
     .cq_limit = 128,
     .refuses_one_in = 5,
     .max_message_bytes = 70'000,
     .key_bytes = 4},
    {.name = "open",
     .mode = 0,
     .mr_mode = 0,
     .tag_bits = 64,
     .inject_bytes = 64,
     .iov_limit = 4,
     .cq_data_bytes = 0,
     .writes = false,
     .directed_receive = true,
     .ordered = true,
     .completions_in_order = true,
     .av_type = FI_AV_TABLE,
     .wait_fd = true,
     .queue_size = 256,
     .cq_limit = 4096,
     .refuses_one_in = 0,
     .max_message_bytes = kNoLimit,
     .key_bytes = 8},
};

const Profile& chosen() {
  const char* wanted = std::getenv("FI_STRICT_PROFILE");
  const std::string name = wanted == nullptr ? "harsh" : wanted;
  std::string valid;
  for (const Profile& row : kProfiles) {
    if (name == row.name) return row;
    valid += std::string(valid.empty() ? "" : ", ") + row.name;
  }
  violation("FI_STRICT_PROFILE is {}; valid are {}", name, valid);
}

}  // namespace

const Profile& profile() {
  static const Profile& row = chosen();
  return row;
}

}  // namespace strict
