// The libfabric provider: works with any that has reliable datagram endpoints and tagged messages.
#pragma once

#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/config.h"
#include "core/base/log.h"
#include "core/bootstrap/store.h"
#include "core/provider.h"
#include "providers/ofi/handles.h"
#include "providers/ofi/kept_memory.h"
#include "providers/ofi/peek.h"
#include "providers/ofi/receiver_key.h"
#include "providers/ofi/regions_in_flight.h"
#include "providers/ofi/send_order.h"
#include "providers/ofi/split_messages.h"
#include "providers/ofi/withdrawn_memory.h"

namespace fab::ofi {

/// Opens what the survey found best. Honours mode bits (FI_CONTEXT, FI_CONTEXT2: the completion's provider space) and
/// mr_mode bits (FI_MR_LOCAL: memory is registered for each message). Every send reports its end, injected ones too, so
/// that closing never loses a message that some provider still keeps to itself.
class OfiProvider final : public Provider {
 public:
  /// Throws Error(unreachable) when nothing fits, Error(transport) when libfabric refuses.
  OfiProvider(const Config& config, const JobInfo& job, const Log& log);
  ~OfiProvider() override;

  [[nodiscard]] const Capabilities& capabilities() const noexcept override { return capabilities_; }
  [[nodiscard]] const std::string& name() const noexcept override { return name_; }
  [[nodiscard]] const std::string& description() const noexcept override { return description_; }
  [[nodiscard]] const std::string& address() const noexcept override { return address_; }

  [[nodiscard]] HostAddress host_address() const override { return host_address_; }

  PeerHandle connect(std::string_view address) override;
  [[nodiscard]] PostResult post_send(PeerHandle to, std::span<const iovec> pieces, std::uint64_t tag,
                                     Completion& completion) override;
  [[nodiscard]] PostResult post_recv(PeerHandle from, std::span<const iovec> pieces, std::uint64_t tag,
                                     std::uint64_t ignore, Completion& completion) override;
  [[nodiscard]] std::unique_ptr<Registration> hold(std::span<const iovec> sent,
                                                   std::span<const iovec> received) override;
  [[nodiscard]] std::unique_ptr<Registration> expose(std::span<std::byte> memory) override;
  void withdraw(std::unique_ptr<Registration> exposed) override;
  [[nodiscard]] std::unique_ptr<Registration> prepare_source(std::span<const iovec> pieces) override;
  [[nodiscard]] PostResult post_write(PeerHandle to, std::span<const iovec> pieces, const Registration& source,
                                      const RemoteMemory& target, std::uint32_t data, Completion& completion) override;
  void set_listener(WriteListener* listener) noexcept override { listener_ = listener; }
  [[nodiscard]] std::uint64_t strangers() const noexcept override { return strangers_; }
  void drop(PeerHandle peer, bool whole_host) override;
  void ask_before_receiving(PeerHandle peer, std::function<const char*()> why_not) override;
  void visit_ways(PeerHandle peer, const WayVisitor& visit) const override;
  [[nodiscard]] std::string_view way_of(PeerHandle, std::span<const iovec>, std::size_t) const override {
    return "tagged";
  }
  void cancel(Completion& completion) override;
  std::size_t poll() override;
  [[nodiscard]] int wait_fd() const noexcept override { return wait_fd_; }
  [[nodiscard]] bool may_sleep() override;

  /// Registers local memory even if the provider does not ask for it (a test knob).
  void always_register() noexcept { register_local_ = true; }

 private:
  using Region = std::shared_ptr<fid_mr>;
  using Regions = RegionsInFlight::Regions;
  class Prepared;
  class Held;
  /// A peer, whose handle is its place among all.
  struct KnownPeer {
    fi_addr_t address = FI_ADDR_UNSPEC;
    ReceiverKey key;
    std::uint64_t tagged = 0;  ///< messages, or parts of them, that libfabric has taken
    std::uint64_t tagged_bytes = 0;
    std::uint64_t written = 0;  ///< the same of writes
    std::uint64_t written_bytes = 0;
    std::function<const char*()> why_not_receive{};  ///< see ask_before_receiving
  };
  struct KeptBlock {
    std::uint32_t heap_region = 0;
    Region region{};
  };

  /// Of ofi_rxm: longer messages are announced, or come in parts.
  static constexpr std::size_t kLongestInOne = 4096;

  void choose_congestion_control(const Config& config) const;
  void open(const fi_info& info);
  void open_domain(const fi_info& info, fi_progress progress);
  void open_queue();
  bool open_queue(fi_wait_obj wait_obj);
  [[nodiscard]] int open_queue_of_some_size(fi_cq_attr& attr, fid_cq*& queue) const;
  void open_endpoint();
  /// Returns what fi_enable says.
  int enable_new_endpoint();
  void learn_capabilities();
  void learn_own_address(const std::string& interface);
  [[nodiscard]] ReceiverKey::Room key_room() const noexcept;
  [[nodiscard]] PostResult posted(ssize_t result, const char* call, Completion& completion);
  /// A message that no other of its tag is ahead of.
  [[nodiscard]] PostResult send_now(PeerHandle to, std::span<const iovec> pieces, std::uint64_t tag,
                                    Completion& completion);
  [[nodiscard]] PostResult send_in_order(PeerHandle to, std::span<const iovec> pieces, std::uint64_t tag,
                                         Completion& completion);
  void send_due();
  /// Of messages to or from a peer.
  [[nodiscard]] std::uint64_t limit_of(PeerHandle peer) const {
    const auto lower = lower_limits_.find(peer);
    return lower == lower_limits_.end() ? most_ : lower->second;
  }
  void learn_limit(PeerHandle peer, std::string_view limit);
  /// No longer than the limit.
  [[nodiscard]] PostResult send_part(PeerHandle to, std::span<const iovec> pieces, std::uint64_t tag,
                                     Completion& completion);
  [[nodiscard]] PostResult receive_part(PeerHandle from, std::span<const iovec> pieces, std::uint64_t tag,
                                        std::uint64_t ignore, Completion& completion);
  [[nodiscard]] PostResult write_part(PeerHandle to, std::span<const iovec> pieces, void** descriptors,
                                      const RemoteMemory& target, std::optional<std::uint32_t> data,
                                      Completion& completion);
  [[nodiscard]] PostResult begin(Completion& completion, SplitMessage message, std::span<const iovec> pieces);
  [[nodiscard]] PostResult post_part(const SplitMessage& message, Completion& completion);
  /// One part has ended. Returns whether another follows; otherwise `bytes` becomes what the whole had.
  [[nodiscard]] bool goes_on(Completion& completion, std::uint64_t& bytes);
  void post_due_parts();
  /// A provider without injection refuses messages of no bytes, too.
  [[nodiscard]] bool may_inject(std::size_t bytes) const noexcept {
    return capabilities_.inject_bytes > 0 && bytes <= capabilities_.inject_bytes;
  }
  std::size_t read_queue();
  void received(Completion& completion, const fi_cq_tagged_entry& entry);
  void ended(Completion& completion, std::uint64_t bytes, std::uint64_t tag);
  void written(const fi_cq_tagged_entry& entry);
  [[nodiscard]] bool is_of_the_job(const fi_cq_tagged_entry& entry, std::uint64_t tag) const noexcept;
  [[nodiscard]] PostResult look_for_any(std::span<const iovec> pieces, std::uint64_t tag, std::uint64_t ignore,
                                        Completion& completion);
  [[nodiscard]] Peek& idle_peek();
  [[nodiscard]] Peek* find_peek(const Completion& completion) noexcept;
  [[nodiscard]] ssize_t receive_by(Peek& peek, std::uint64_t wire_tag, std::uint64_t ignore, std::uint64_t flags);
  /// Of what it looked for, or dropped.
  /// Returns whether something happened that matters to others.
  bool found(Peek& peek, const fi_cq_tagged_entry& entry);
  bool ended_in_vain(Peek& peek);
  void sweep();
  void swept(Peek& peek, const fi_cq_tagged_entry& entry);
  /// Of the receive that it looked for, if it did.
  Completion* end(Peek& peek) noexcept;
  /// Something has come that no rank of the job can have sent.
  void meet_stranger(std::string_view what);
  std::size_t read_error();
  /// The operation is over, or never began.
  void forget(const Completion& completion);
  void end_registered_operations();
  [[nodiscard]] Region register_memory(const void* memory, std::size_t bytes, std::uint64_t access);
  [[nodiscard]] Regions register_pieces(std::span<const iovec> pieces, std::uint64_t access);
  void hold(Held& held, std::span<const iovec> pieces, std::uint64_t access);
  /// Of memory that is kept, or is registered now for one message.
  [[nodiscard]] Region region_for(const iovec& piece, std::uint64_t access);
  /// Registers all of the block of fab's heap that holds the piece; null: there is none.
  [[nodiscard]] Region keep_block_of(const iovec& piece);
  void let_go_of_freed_blocks();
  template <class Post>
  PostResult post_registered(std::span<const iovec> pieces, std::uint64_t access, Completion& completion, Post post);

  const Log& log_;
  std::string name_;
  std::string domain_name_;
  std::string description_;
  std::string address_;
  HostAddress host_address_;
  Capabilities capabilities_;
  std::optional<ReceiverKey> key_;  ///< from when the provider is open on
  std::vector<KnownPeer> peers_;
  std::uint64_t strangers_ = 0;
  std::deque<Peek> peeks_;
  std::size_t peeks_in_use_ = 0;
  const Completion* taken_back_ = nullptr;  ///< the latest receive of which fi_cancel was asked, until one ends
  bool can_peek_ = false;                   ///< where a receive of any message is needed
  bool flags_data_ = true;                  ///< flags_data(), of this provider
  bool can_sweep_ = false;
  bool sweeps_ = false;         ///< a look is under way
  std::uint64_t swept_at_ = 0;  ///< ticks()
  unsigned polls_unswept_ = 0;
  InfoHandle info_;
  Handle<fid_fabric> fabric_;
  Handle<fid_domain> domain_;
  Handle<fid_av> addresses_;
  Handle<fid_wait> wait_set_;
  Handle<fid_cq> queue_;
  Handle<fid_ep> endpoint_;
  int wait_fd_ = -1;
  bool register_local_ = false;
  bool asks_before_receiving_ = false;  ///< messages longer than kLongestInOne
  RegionsInFlight registered_;          ///< FI_MR_LOCAL only
  KeptMemory kept_;                     ///< as above
  std::vector<KeptBlock> kept_blocks_;  ///< of fab's heap, in kept_
  WithdrawnMemory withdrawn_;
  std::uint64_t heap_generation_ = 0;                           ///< of which freed blocks were let go
  std::vector<void*> descriptors_;                              ///< of the post that is being made
  std::unique_ptr<SendOrder> order_;                            ///< null: the provider keeps it
  std::uint64_t most_ = 0;                                      ///< bytes in one message
  std::uint64_t least_limit_ = 0;                               ///< of this rank's and all peers'
  std::unordered_map<PeerHandle, std::uint64_t> lower_limits_;  ///< of peers that carry less than this rank
  SplitMessages split_;
  WriteListener* listener_ = nullptr;
};

}  // namespace fab::ofi
