#include "core/point/envelope.h"
#include "fab/fab.h"
#include "support/fab_transport.h"
#include "support/fab_worlds.h"
#include "support/lane.h"

namespace bench {
namespace {

class FabLane final : public Lane {
 public:
  explicit FabLane(const fab::Communicator& communicator) : communicator_(communicator) {}

  void send(int peer, int tag, std::span<const std::byte> data) override {
    fab::send(communicator_, data, {peer, fab::Tag{tag}});
  }
  void receive(int peer, int tag, std::span<std::byte> data) override {
    fab::recv(communicator_, data, {peer, fab::Tag{tag}});
  }
  void start_send(int peer, int tag, std::span<const std::byte> data) override {
    requests_.push_back(fab::isend(communicator_, data, {peer, fab::Tag{tag}}));
  }
  void start_receive(int peer, int tag, std::span<std::byte> data) override {
    requests_.push_back(fab::irecv(communicator_, data, {peer, fab::Tag{tag}}));
  }
  void complete() override {
    fab::Request::wait_all(requests_);
    requests_.clear();
  }

 private:
  const fab::Communicator& communicator_;
  std::vector<fab::Request> requests_;
};

}  // namespace

struct FabLanes::Parts {
  explicit Parts(const ThreadOptions& threads) : worlds(threads) {}

  FabTransport transport;
  FabWorlds worlds;
  Lanes lanes{.library = "fab", .blocking = "fab::send, fab::recv", .nonblocking = "fab::irecv, fab::isend, wait_all"};
};

FabLanes::FabLanes(const ThreadOptions& threads) : parts_(std::make_unique<Parts>(threads)) {
  for (int thread = 0; thread < threads.count; ++thread)
    parts_->lanes.of_thread.push_back(std::make_unique<FabLane>(parts_->worlds.of_thread(thread)));
}
FabLanes::~FabLanes() = default;

FabPath FabLanes::path() const { return parts_->transport.path(); }
Lanes& FabLanes::lanes() { return parts_->lanes; }

SentByWay FabLanes::sent() const { return sent_by("send", parts_->worlds.context().statistics_by_way()); }

const char* FabLanes::protocol(std::size_t bytes) const {
  const bool is_near = !parts_->transport.uses_network();
  return bytes <= (is_near ? fab::core::kNearEagerBytes : fab::core::kEagerBytes) ? "eager" : "rendezvous";
}

}  // namespace bench
