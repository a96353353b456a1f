// Tests of the strict provider itself: it ends a program that breaks the rules of profile harsh, and reports the rule.
#include <gtest/gtest.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

namespace {

/// One endpoint that sends to itself.
class Violations : public testing::Test {
 protected:
  void SetUp() override {
    fi_info* hints = fi_allocinfo();
    hints->caps = FI_TAGGED;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_ENDPOINT | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
    hints->domain_attr->name = ::strdup("lo");
    hints->fabric_attr->prov_name = ::strdup("strict");
    ASSERT_EQ(fi_getinfo(FI_VERSION(1, 17), nullptr, nullptr, 0, hints, &info_), 0);
    fi_freeinfo(hints);
    ASSERT_EQ(fi_fabric(info_->fabric_attr, &fabric_, nullptr), 0);
    ASSERT_EQ(fi_domain(fabric_, info_, &domain_, nullptr), 0);
    fi_cq_attr queue_attr{};
    queue_attr.format = FI_CQ_FORMAT_TAGGED;
    ASSERT_EQ(fi_cq_open(domain_, &queue_attr, &queue_, nullptr), 0);
    fi_av_attr addresses_attr{};
    ASSERT_EQ(fi_av_open(domain_, &addresses_attr, &addresses_, nullptr), 0);
    ASSERT_EQ(fi_endpoint(domain_, info_, &endpoint_, nullptr), 0);
    ASSERT_EQ(fi_ep_bind(endpoint_, &addresses_->fid, 0), 0);
    ASSERT_EQ(fi_ep_bind(endpoint_, &queue_->fid, FI_TRANSMIT | FI_RECV), 0);
    ASSERT_EQ(fi_enable(endpoint_), 0);
    std::array<char, 64> name{};
    std::size_t length = name.size();
    ASSERT_EQ(fi_getname(&endpoint_->fid, name.data(), &length), 0);
    ASSERT_EQ(fi_av_insert(addresses_, name.data(), 1, &self_, 0, nullptr), 1);
    region_ = enrol(memory_);
  }
  // What a test leaves in flight ends with the process.
  void TearDown() override { fi_freeinfo(info_); }

  template <class Memory>
  fid_mr* enrol(Memory& memory) {
    fid_mr* region = nullptr;
    EXPECT_EQ(fi_mr_reg(domain_, memory.data(), memory.size(), FI_SEND | FI_RECV, 0, 0, 0, &region, nullptr), 0);
    EXPECT_EQ(fi_mr_bind(region, &endpoint_->fid, 0), 0);
    EXPECT_EQ(fi_mr_enable(region), 0);
    return region;
  }
  /// A message that breaks no rule.
  fi_msg_tagged message() {
    descriptor_ = fi_mr_desc(region_);
    piece_ = {memory_.data(), memory_.size()};
    fi_msg_tagged result{};
    result.msg_iov = &piece_;
    result.desc = &descriptor_;
    result.iov_count = 1;
    result.addr = self_;
    result.tag = 5;
    result.context = &context_;
    return result;
  }
  void send(const fi_msg_tagged& message, std::uint64_t flags = 0) {
    while (fi_tsendmsg(endpoint_, &message, FI_COMPLETION | flags) == -FI_EAGAIN) read();
  }
  void receive(fi_msg_tagged message) {
    message.addr = FI_ADDR_UNSPEC;
    while (fi_trecvmsg(endpoint_, &message, FI_COMPLETION) == -FI_EAGAIN) read();
  }
  ssize_t read() {
    fi_cq_tagged_entry entry{};
    return fi_cq_read(queue_, &entry, 1);
  }

  fi_info* info_ = nullptr;
  fid_fabric* fabric_ = nullptr;
  fid_domain* domain_ = nullptr;
  fid_cq* queue_ = nullptr;
  fid_av* addresses_ = nullptr;
  fid_ep* endpoint_ = nullptr;
  fid_mr* region_ = nullptr;
  fi_addr_t self_ = FI_ADDR_UNSPEC;
  std::array<std::byte, 1000> memory_{};
  iovec piece_{};
  void* descriptor_ = nullptr;
  fi_context2 context_{};
};

TEST_F(Violations, AWellFormedExchangeIsNone) {
  fi_context2 other{};
  fi_msg_tagged to_receive = message();
  to_receive.context = &other;
  receive(to_receive);
  send(message());
  for (int completions = 0; completions < 2;) completions += read() == 1 ? 1 : 0;
}

TEST_F(Violations, ReservedTagBits) {
  fi_msg_tagged broken = message();
  broken.tag = 1ull << 60;
  EXPECT_DEATH(send(broken), "fi_tsendmsg: tag 0x1000000000000000 uses reserved bits; the format has 60 bits");
  broken.tag = 1;
  broken.ignore = ~0ull;
  EXPECT_DEATH(receive(broken), "fi_trecvmsg: ignore 0xffffffffffffffff uses reserved bits");
}

TEST_F(Violations, MissingAndSharedContexts) {
  fi_msg_tagged broken = message();
  broken.context = nullptr;
  EXPECT_DEATH(receive(broken), "fi_trecvmsg: no context");
  receive(message());
  EXPECT_DEATH(receive(message()), "is that of another operation in flight");
}

TEST_F(Violations, ContextsThatAreWrittenTo) {
  receive(message());
  context_.internal[7] = &context_;
  ASSERT_EQ(fi_cancel(&endpoint_->fid, &context_), 0);
  fi_cq_err_entry entry{};
  ASSERT_EQ(read(), -FI_EAVAIL);
  EXPECT_DEATH(fi_cq_readerr(queue_, &entry, 0), "was written to while its operation was in flight");
}

TEST_F(Violations, MemoryWithoutALivingRegion) {
  fi_msg_tagged broken = message();
  broken.desc = nullptr;
  EXPECT_DEATH(send(broken), "piece 0 has no descriptor");
  std::array<std::byte, 1000> elsewhere{};
  broken = message();
  piece_.iov_base = elsewhere.data();
  EXPECT_DEATH(send(broken), "is not within its region");
  fid_mr* closed = enrol(elsewhere);
  descriptor_ = fi_mr_desc(closed);
  fi_close(&closed->fid);
  EXPECT_DEATH(send(broken), "is not that of a living region");
}

TEST_F(Violations, RegionsThatAreNotEnabledOrNotMapped) {
  fi_msg_tagged broken = message();
  fid_mr* region = nullptr;
  ASSERT_EQ(fi_mr_reg(domain_, memory_.data(), memory_.size(), FI_SEND, 0, 0, 0, &region, nullptr), 0);
  descriptor_ = fi_mr_desc(region);
  EXPECT_DEATH(send(broken), "is not enabled for this endpoint");
  EXPECT_DEATH(fi_mr_enable(region), "is not bound to an endpoint");
  EXPECT_DEATH(fi_mr_reg(domain_, reinterpret_cast<void*>(4096), 100, FI_SEND, 0, 0, 0, &region, nullptr),
               "no memory behind 100 bytes");
}

TEST_F(Violations, RegionsThatAreClosedWhileInUse) {
  receive(message());
  EXPECT_DEATH(fi_close(&region_->fid), "is closed while 1 operations in flight use it");
}

TEST_F(Violations, EndpointsThatAreClosedBeforeTheirRegions) {
  EXPECT_DEATH(fi_close(&endpoint_->fid), "is closed before memory that is bound to it");
}

TEST_F(Violations, LimitsOfAPost) {
  fi_msg_tagged broken = message();
  EXPECT_DEATH(send(broken, FI_INJECT), "FI_INJECT of 1000 bytes; the limit is 32");
  const std::array<iovec, 2> pieces{{{memory_.data(), 10}, {memory_.data() + 10, 10}}};
  broken.msg_iov = pieces.data();
  broken.iov_count = 2;
  EXPECT_DEATH(send(broken), "2 pieces; the limit is 1");
  broken = message();
  broken.addr = 12345;
  EXPECT_DEATH(send(broken), "was never inserted");
  EXPECT_DEATH(static_cast<void>(fi_trecvmsg(endpoint_, &broken, FI_COMPLETION)), "a source, without FI_DIRECTED_RECV");
}

TEST_F(Violations, QueuesThatAreTooLongAreRefused) {
  fid_cq* queue = nullptr;
  fi_cq_attr attr{};
  attr.format = FI_CQ_FORMAT_TAGGED;
  attr.size = 65;
  EXPECT_EQ(fi_cq_open(domain_, &attr, &queue, nullptr), -FI_EINVAL);
}

}  // namespace
