#include "support/fab_collectives.h"

#include <stdexcept>

#include "bindings/native/access.h"
#include "collectives/start.h"
#include "fab/fab.h"
#include "support/fab_transport.h"

namespace bench {
namespace {

/// A case with what fab's calls want to know of it.
class Call {
 public:
  Call(const fab::Communicator& communicator, CollectiveCase& one)
      : communicator_(communicator), case_(one), block_(fab::Layout::contiguous(one.bytes())) {}

  void blocking() {
    const int root = case_.take_root();
    const std::byte* const send = case_.send();
    std::byte* const receive = case_.receive();
    switch (case_.collective()) {
      case Collective::barrier:
        return fab::barrier(communicator_);
      case Collective::bcast:
        return fab::bcast(communicator_, receive, block_, fab::Root{root});
      case Collective::reduce:
        return fab::reduce(communicator_, send, receive, block_, sum_, fab::Root{root});
      case Collective::allreduce:
        return fab::allreduce(communicator_, send, receive, block_, sum_);
      case Collective::gather:
        return fab::gather(communicator_, send, receive, block_, fab::Root{root});
      case Collective::scatter:
        return fab::scatter(communicator_, send, receive, block_, fab::Root{root});
      case Collective::allgather:
        return fab::allgather(communicator_, send, receive, block_);
      case Collective::alltoall:
        return fab::alltoall(communicator_, send, receive, block_);
      case Collective::reduce_scatter_block:
        return fab::reduce_scatter_block(communicator_, send, receive, block_, sum_);
      case Collective::scan:
        return fab::scan(communicator_, send, receive, block_, sum_);
    }
  }

  [[nodiscard]] fab::Request begin() {
    const int root = case_.take_root();
    const std::byte* const send = case_.send();
    std::byte* const receive = case_.receive();
    switch (case_.collective()) {
      case Collective::barrier:
        return fab::barrier.start(communicator_);
      case Collective::bcast:
        return fab::bcast.start(communicator_, receive, block_, fab::Root{root});
      case Collective::reduce:
        return fab::reduce.start(communicator_, send, receive, block_, sum_, fab::Root{root});
      case Collective::allreduce:
        return fab::allreduce.start(communicator_, send, receive, block_, sum_);
      case Collective::gather:
        return fab::gather.start(communicator_, send, receive, block_, fab::Root{root});
      case Collective::scatter:
        return fab::scatter.start(communicator_, send, receive, block_, fab::Root{root});
      case Collective::allgather:
        return fab::allgather.start(communicator_, send, receive, block_);
      case Collective::alltoall:
        return fab::alltoall.start(communicator_, send, receive, block_);
      case Collective::reduce_scatter_block:
        return fab::reduce_scatter_block.start(communicator_, send, receive, block_, sum_);
      case Collective::scan:
        return fab::scan.start(communicator_, send, receive, block_, sum_);
    }
    throw std::logic_error("not a collective");
  }

 private:
  const fab::Communicator& communicator_;
  CollectiveCase& case_;
  fab::Layout block_;
  fab::Operator sum_ = fab::Operator::of<double>(fab::ReduceOp::sum);
};

fab::Collective of_fab(Collective collective) {
  switch (collective) {
    case Collective::barrier:
      return fab::Collective::barrier;
    case Collective::bcast:
      return fab::Collective::bcast;
    case Collective::reduce:
      return fab::Collective::reduce;
    case Collective::allreduce:
      return fab::Collective::allreduce;
    case Collective::gather:
      return fab::Collective::gather;
    case Collective::scatter:
      return fab::Collective::scatter;
    case Collective::allgather:
      return fab::Collective::allgather;
    case Collective::alltoall:
      return fab::Collective::alltoall;
    case Collective::reduce_scatter_block:
      return fab::Collective::reduce_scatter;
    case Collective::scan:
      return fab::Collective::scan;
  }
  throw std::logic_error("not a collective");
}

}  // namespace

struct FabCollectives::Parts {
  FabTransport transport;
  fab::Context context = fab::Context::open();
  fab::Communicator world = context.world();
};

FabCollectives::FabCollectives() : parts_(std::make_unique<Parts>()) {}
FabCollectives::~FabCollectives() = default;

std::optional<FabPath> FabCollectives::path() const { return parts_->transport.path(); }

std::string FabCollectives::algorithm(const CollectiveCase& one) const {
  const bool is_split = one.collective() == Collective::reduce_scatter_block;
  return fab::collectives::algorithm_for(*fab::Access::core(parts_->world),
                                         {.collective = of_fab(one.collective()),
                                          .bytes = one.bytes() * static_cast<std::size_t>(is_split ? one.ranks() : 1),
                                          .operation = fab::Operator::of<double>(fab::ReduceOp::sum)})
      .name;
}

std::vector<Contestant> FabCollectives::contestants(CollectiveCase& one) {
  const auto call = std::make_shared<Call>(parts_->world, one);
  const std::string name = name_of(one.collective());
  return {
      {.library = "fab", .form = Form::blocking, .call = "fab::" + name, .calls = repeat([call] { call->blocking(); })},
      {.library = "fab", .form = Form::nonblocking, .call = "fab::" + name + ".start + wait", .calls = repeat([call] {
                                                                                                call->begin().wait();
                                                                                              })}};
}

std::optional<NonblockingCall> FabCollectives::nonblocking(CollectiveCase& one) {
  const auto call = std::make_shared<Call>(parts_->world, one);
  return in_halves(
      "fab", std::string("fab::") + name_of(one.collective()) + ".start", [call] { return call->begin(); },
      [](fab::Request& request) { request.wait(); });
}

}  // namespace bench
