#include <utility>

#include "core/point/envelope.h"
#include "fab/fab.h"
#include "support/fab_transport.h"
#include "support/lane.h"

namespace bench {
namespace {

class FabLane final : public Lane {
 public:
  explicit FabLane(fab::Communicator communicator) : communicator_(std::move(communicator)) {}

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
  fab::Communicator communicator_;
  std::vector<fab::Request> requests_;
};

}  // namespace

struct FabLanes::Parts {
  explicit Parts(int engines) : context(fab::Context::open({.engines = engines})) {}

  FabTransport transport;
  fab::Context context;
  Lanes lanes{.library = "fab", .blocking = "fab::send, fab::recv", .nonblocking = "fab::irecv, fab::isend, wait_all"};
};

FabLanes::FabLanes(int threads, int engines) : parts_(std::make_unique<Parts>(engines)) {
  for (int thread = 0; thread < threads; ++thread)
    parts_->lanes.of_thread.push_back(std::make_unique<FabLane>(parts_->context.world(thread % engines).duplicate()));
}
FabLanes::~FabLanes() = default;

FabPath FabLanes::path() const { return parts_->transport.path(); }
Lanes& FabLanes::lanes() { return parts_->lanes; }

const char* FabLanes::way(std::size_t bytes) const {
  const bool is_near = !parts_->transport.uses_network();
  return bytes <= (is_near ? fab::core::kNearEagerBytes : fab::core::kEagerBytes) ? "eager" : "rendezvous";
}

}  // namespace bench
