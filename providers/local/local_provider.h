// The provider for ranks of one node: it uses memory that they share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/log.h"
#include "core/bootstrap/store.h"
#include "core/provider.h"
#include "providers/local/doorbell.h"
#include "providers/local/link.h"
#include "providers/local/segment.h"
#include "providers/local/thresholds.h"

namespace fab::local {

/// Memory grows with the ranks that this one talks to: a ring for each. Directed receives; longer messages are cut.
/// When a peer's process ends, what is pending with it fails with Errc::unreachable.
class LocalProvider final : public Provider {
 public:
  /// Precondition: the job's ranks on this node are known. Throws Error(no_resources).
  LocalProvider(LocalLong way, const JobInfo& job, const Log& log, const LocalLengths& lengths = kBuiltInLengths);

  [[nodiscard]] const Capabilities& capabilities() const noexcept override { return capabilities_; }
  [[nodiscard]] const std::string& name() const noexcept override { return name_; }
  [[nodiscard]] const std::string& description() const noexcept override { return description_; }
  [[nodiscard]] const std::string& address() const noexcept override { return address_; }

  PeerHandle connect(std::string_view address) override;
  [[nodiscard]] PostResult post_send(PeerHandle to, std::span<const iovec> pieces, std::uint64_t tag,
                                     Completion& completion) override;
  [[nodiscard]] PostResult post_repeated(PeerHandle to, std::span<const iovec> pieces, std::uint64_t tag,
                                         Completion& completion) override;
  [[nodiscard]] PostResult post_recv(PeerHandle from, std::span<const iovec> pieces, std::uint64_t tag,
                                     std::uint64_t ignore, Completion& completion) override;
  void tell_closed() noexcept override { segment_.head().closed.store(true, std::memory_order_release); }
  void notice_close(PeerHandle peer) override;
  void tell_lost(Rank rank) noexcept override;
  [[nodiscard]] Rank lost_by(PeerHandle peer) const noexcept override { return links_[peer]->lost_by_peer(); }
  void tell_given_up(const GivenUp& what) noexcept override { segment_.head().given_up.show(what); }
  [[nodiscard]] Rank given_up_by(PeerHandle peer, std::uint32_t communicator) const noexcept override {
    return links_[peer]->given_up_by_peer(communicator);
  }
  void visit_ways(PeerHandle peer, const WayVisitor& visit) const override { links_[peer]->sent().visit(visit); }
  [[nodiscard]] std::string_view way_of(PeerHandle peer, std::span<const iovec> pieces,
                                        std::size_t peers = 1) const override {
    return name_of(peers > 1 && is_shared(pieces, total_bytes(pieces)) ? Way::shared : links_[peer]->way_of(pieces));
  }
  [[nodiscard]] std::string_view way_of_repeated(PeerHandle peer, std::span<const iovec> pieces,
                                                 std::size_t peers = 1) const override {
    const bool shared = peers > 1 && is_shared(pieces, total_bytes(pieces));
    return name_of(shared ? Way::shared : links_[peer]->way_of_repeated(pieces));
  }
  void cancel(Completion& completion) override;
  bool take_back(Completion& completion) override;
  std::size_t poll() override;
  [[nodiscard]] bool busy() const noexcept override;
  [[nodiscard]] int wait_fd() const noexcept override { return doorbell_.descriptor(); }
  [[nodiscard]] bool may_sleep() override;
  [[nodiscard]] std::atomic<bool>* caller_waits() noexcept override { return &segment_.head().caller_waits; }
  void awake() override;
  [[nodiscard]] bool is_disarmed() const noexcept override { return !doorbell_.armed(); }
  void post_send_to_all(std::span<Addressee> addressees, std::span<const iovec> pieces) override;

 private:
  [[nodiscard]] static std::string_view name_of(Way way) noexcept { return kWayNames[static_cast<std::size_t>(way)]; }
  /// Of a message to several ranks: they read the same copy, where there is room for it.
  [[nodiscard]] bool is_shared(std::span<const iovec> pieces, std::uint64_t bytes) const;
  /// Where all readers of a message find its bytes: in the cell, or in the area.
  struct CommonCopy {
    std::uint64_t bytes = 0;
    Stretch stretch{};
  };
  /// Null: there is no room.
  [[nodiscard]] bool make_copy(CommonCopy& copy, std::span<const iovec> pieces);
  /// To those that have the first one's tag, with one cell, unless a cell for each costs less. False: there is no room.
  [[nodiscard]] bool send_common(std::span<Addressee> from_first, const CommonCopy& copy,
                                 std::span<const iovec> pieces);
  void notice_ends();

  const Log& log_;
  std::size_t places_;
  std::size_t place_;
  Segment segment_;
  CommonWriter common_;
  SharedArea area_;
  Doorbell doorbell_;
  CrossMemory memory_;
  OwnMemory own_memory_;
  Link::Traffic traffic_;
  Link::Shared shared_;
  SegmentName own_name_;
  std::string name_ = "local";
  std::string description_;
  std::string address_;
  Capabilities capabilities_;
  std::vector<std::unique_ptr<Link>> links_;  ///< by handle
  std::vector<long> processes_;               ///< of the peers, by handle
};

}  // namespace fab::local
