#include "support/fab_collectives.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <stdexcept>

#include "bindings/native/base/access.h"
#include "collectives/choice/built_in_rules.h"
#include "collectives/start.h"
#include "fab/fab.h"
#include "support/fab_transport.h"
#include "support/fab_worlds.h"
#include "support/sent_by_way.h"

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

namespace {

fab::collectives::Rules flat_rules() {
  fab::collectives::Rules rules = fab::collectives::built_in_rules();
  std::erase_if(rules.rows, [](const fab::collectives::Rule& rule) {
    return rule.where == fab::collectives::Where::nodes || rule.least_per_node > 1;
  });
  return rules;
}

/// Rules as FAB_RULES takes them, as long as it lives. Ranks compare names, so the file has one that is the same on
/// all.
class RulesVariable {
 public:
  explicit RulesVariable(const fab::collectives::Rules& rules) {
    const std::string text = fab::collectives::to_json(rules, "fab_perf collective --flat");
    const int file = ::memfd_create("rules", MFD_CLOEXEC);
    fd_ = ::fcntl(file, F_DUPFD_CLOEXEC, kFirstFd);
    const std::string name = "/proc/self/fd/" + std::to_string(fd_);
    const bool handed_over = fd_ >= 0 && ::write(fd_, text.data(), text.size()) == std::ssize(text) &&
                             ::setenv("FAB_RULES", name.c_str(), 1) == 0;
    const std::string reason = std::strerror(errno);
    ::close(file);
    if (!handed_over) throw std::runtime_error("cannot hand rules to fab: " + reason);
  }
  ~RulesVariable() {
    ::unsetenv("FAB_RULES");
    ::close(fd_);
  }
  RulesVariable(const RulesVariable&) = delete;
  RulesVariable& operator=(const RulesVariable&) = delete;

 private:
  static constexpr int kFirstFd = 500;  ///< above those that ranks have open
  int fd_ = -1;
};

FabWorlds open(FabRules rules, const ThreadOptions& threads) {
  if (rules == FabRules::own) return FabWorlds(threads);
  const RulesVariable variable(flat_rules());
  return FabWorlds(threads);
}

}  // namespace

struct FabCollectives::Parts {
  Parts(FabRules rules, const ThreadOptions& threads)
      : library(rules == FabRules::flat ? "flat" : "fab"), worlds(open(rules, threads)) {}

  FabTransport transport;
  const char* library;
  FabWorlds worlds;
};

FabCollectives::FabCollectives(FabRules rules, const ThreadOptions& threads)
    : parts_(std::make_unique<Parts>(rules, threads)) {}
FabCollectives::~FabCollectives() = default;

std::optional<FabPath> FabCollectives::path() const { return parts_->transport.path(); }

std::string FabCollectives::algorithm(const CollectiveCase& one) const {
  const bool is_split = one.collective() == Collective::reduce_scatter_block;
  return fab::collectives::algorithm_for(*fab::Access::core(parts_->worlds.of_thread(one.thread())),
                                         {.collective = of_fab(one.collective()),
                                          .bytes = one.bytes() * static_cast<std::size_t>(is_split ? one.ranks() : 1),
                                          .operation = fab::Operator::of<double>(fab::ReduceOp::sum)})
      .name;
}

std::vector<Contestant> FabCollectives::contestants(CollectiveCase& one) {
  const auto call = std::make_shared<Call>(parts_->worlds.of_thread(one.thread()), one);
  const std::string name = name_of(one.collective());
  const char* const library = parts_->library;
  return {
      {.library = library, .form = Form::blocking, .call = "fab::" + name, .calls = repeat([call] {
                                                                             call->blocking();
                                                                           })},
      {.library = library, .form = Form::nonblocking, .call = "fab::" + name + ".start + wait", .calls = repeat([call] {
                                                                                                  call->begin().wait();
                                                                                                })}};
}

std::optional<NonblockingCall> FabCollectives::nonblocking(CollectiveCase& one) {
  const auto call = std::make_shared<Call>(parts_->worlds.of_thread(one.thread()), one);
  return in_halves(
      "fab", std::string("fab::") + name_of(one.collective()) + ".start", [call] { return call->begin(); },
      [](fab::Request& request) { request.wait(); });
}

std::set<std::string> FabCollectives::ways_during(Collective collective, const std::function<void()>& calls) const {
  const fab::Context& context = parts_->worlds.context();
  const std::string_view name = fab::to_string(of_fab(collective));
  return union_over_ranks(bench::ways_during([&] { return sent_by(name, context.statistics_by_way()); },
                                             [&calls] {
                                               meet();
                                               calls();
                                             }));
}

}  // namespace bench
