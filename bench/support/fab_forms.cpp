#include "support/fab_forms.h"

#include <fmt/format.h>

#include <deque>
#include <exception>
#include <set>
#include <utility>

#include "apps/mpi_call.h"
#include "fab/fab.h"
#include "fab/mpi.h"
#include "support/bare_exchange.h"
#include "support/bare_tcp.h"
#include "support/fab_transport.h"
#include "support/fab_worlds.h"
#include "support/mpi_forms.h"
#include "support/sent_by_way.h"

namespace bench {
namespace {

using apps::check_mpi;

// The MPI binding's calls on one exchange.
class BindingExchange {
 public:
  explicit BindingExchange(Exchange& exchange)
      : comm_(exchange.neighbors().comm()),
        send_(exchange.send()),
        receive_(exchange.receive()),
        count_(static_cast<int>(exchange.boxes().bytes_per_neighbor())) {}
  // An exception on its way ends the job.
  ~BindingExchange() {
    if (persistent_ == MPI_REQUEST_NULL || std::uncaught_exceptions() > 0) return;
    if (MPI_Request_free(&persistent_) != MPI_SUCCESS) fmt::print(stderr, "MPI_Request_free failed\n");
  }
  BindingExchange(const BindingExchange&) = delete;
  BindingExchange& operator=(const BindingExchange&) = delete;

  void blocking() {
    check_mpi(MPI_Neighbor_xchg(send_, count_, MPI_BYTE, receive_, count_, MPI_BYTE, comm_), "MPI_Neighbor_xchg");
  }
  [[nodiscard]] MPI_Request start() {
    MPI_Request request = MPI_REQUEST_NULL;
    check_mpi(MPI_Ineighbor_xchg(send_, count_, MPI_BYTE, receive_, count_, MPI_BYTE, comm_, &request),
              "MPI_Ineighbor_xchg");
    return request;
  }
  void make_persistent() {
    check_mpi(
        MPI_Neighbor_xchg_init(send_, count_, MPI_BYTE, receive_, count_, MPI_BYTE, comm_, MPI_INFO_NULL, &persistent_),
        "MPI_Neighbor_xchg_init");
  }
  void persistent() {
    check_mpi(MPI_Start(&persistent_), "MPI_Start");
    wait(persistent_);
  }

 private:
  MPI_Comm comm_;
  const std::byte* send_;
  std::byte* receive_;
  int count_;
  MPI_Request persistent_ = MPI_REQUEST_NULL;
};

std::vector<Contestant> binding_forms(Exchange& exchange) {
  const auto binding = std::make_shared<BindingExchange>(exchange);
  binding->make_persistent();
  return {
      {.library = "fab", .form = Form::blocking, .call = "MPI_Neighbor_xchg", .calls = repeat([binding] {
                                                                                binding->blocking();
                                                                              })},
      {.library = "fab", .form = Form::nonblocking, .call = "MPI_Ineighbor_xchg + MPI_Wait", .calls = repeat([binding] {
                                                                                               MPI_Request request =
                                                                                                   binding->start();
                                                                                               wait(request);
                                                                                             })},
      {.library = "fab",
       .form = Form::persistent,
       .call = "MPI_Start + MPI_Wait (MPI_Neighbor_xchg_init)",
       .calls = repeat([binding] { binding->persistent(); })}};
}

fab::Layout layout_of(const Box& box, std::size_t element_bytes) {
  const auto widened = [](const std::array<int, 3>& numbers) {
    return std::array{static_cast<std::size_t>(numbers[0]), static_cast<std::size_t>(numbers[1]),
                      static_cast<std::size_t>(numbers[2])};
  };
  return fab::Layout::subarray(widened(box.sizes), widened(box.subsizes), widened(box.starts),
                               fab::Layout::contiguous(element_bytes));
}

// The native calls on one exchange; equal contiguous blocks through the simpler ones.
class NativeExchange {
 public:
  NativeExchange(const fab::Communicator& communicator, Exchange& exchange)
      : communicator_(communicator),
        send_(exchange.send()),
        receive_(exchange.receive()),
        block_(fab::Layout::contiguous(exchange.boxes().bytes_per_neighbor())),
        is_regular_(exchange.boxes().edge() == 0) {
    const Boxes& boxes = exchange.boxes();
    for (int block = 0; block < exchange.neighbors().count(); ++block) {
      // fab has no block where the grid ends.
      if (exchange.neighbors().destination(block, Order::fab) == MPI_PROC_NULL) continue;
      sent_.push_back({.layout = layout_of(boxes.sent(block, Order::fab), boxes.element_bytes())});
      received_.push_back({.layout = layout_of(boxes.received(block, Order::fab), boxes.element_bytes())});
    }
    persistent_ = is_regular_ ? fab::neighbor_xchg.persistent(communicator_, send_, receive_, block_)
                              : fab::neighbor_xchgv.persistent(communicator_, send_, sent_, receive_, received_);
  }

  [[nodiscard]] const char* suffix() const { return is_regular_ ? "" : "v"; }
  void blocking() const {
    if (is_regular_)
      fab::neighbor_xchg(communicator_, send_, receive_, block_);
    else
      fab::neighbor_xchgv(communicator_, send_, sent_, receive_, received_);
  }
  void nonblocking() const {
    fab::Request request = is_regular_ ? fab::neighbor_xchg.start(communicator_, send_, receive_, block_)
                                       : fab::neighbor_xchgv.start(communicator_, send_, sent_, receive_, received_);
    request.wait();
  }
  void persistent() {
    persistent_.start();
    persistent_.wait();
  }

 private:
  const fab::Communicator& communicator_;
  const std::byte* send_;
  std::byte* receive_;
  fab::Layout block_;
  bool is_regular_;
  std::vector<fab::BlockShape> sent_;
  std::vector<fab::BlockShape> received_;
  fab::PersistentExchange persistent_;
};

std::vector<Contestant> native_forms(const fab::Communicator& communicator, Exchange& exchange) {
  const auto native = std::make_shared<NativeExchange>(communicator, exchange);
  const std::string name = fmt::format("neighbor_xchg{}", native->suffix());
  return {{.library = "native", .form = Form::blocking, .call = "fab::" + name, .calls = repeat([native] {
                                                                                  native->blocking();
                                                                                })},
          {.library = "native",
           .form = Form::nonblocking,
           .call = fmt::format("fab::{}.start + wait", name),
           .calls = repeat([native] { native->nonblocking(); })},
          {.library = "native",
           .form = Form::persistent,
           .call = fmt::format("start + wait (fab::{}.persistent)", name),
           .calls = repeat([native] { native->persistent(); })}};
}

fab::Communicator with_neighbors(const fab::Communicator& world, const Neighbors& neighbors) {
  const std::vector<bool> periodic(neighbors.dims().size(), neighbors.periodic());
  if (neighbors.is_cartesian()) return world.cartesian(neighbors.dims(), periodic);
  return world.distributed_graph(neighbors.edges().sources, neighbors.edges().destinations);
}

}  // namespace

Memory allocate_from_fab(std::size_t bytes) {
  return {static_cast<std::byte*>(fab::alloc(bytes)), [](std::byte* memory) { fab::free(memory); }};
}

struct FabForms::Parts {
  Parts(const Neighbors& all, const ThreadOptions& threads) : neighbors(all), worlds(threads) {
    for (int thread = 0; thread < threads.count; ++thread)
      communicators.push_back(with_neighbors(worlds.of_thread(thread), neighbors));
    if (!transport.uses_network() || !neighbors.has_single_peer() || threads.count > 1) return;
    const int peer = neighbors.destination(0, Order::fab);
    libfabric = std::make_unique<BareExchange>(*transport.network().info, peer);
    tcp = std::make_unique<BareTcp>(peer);
  }

  const Neighbors& neighbors;
  FabTransport transport;
  FabWorlds worlds;
  std::deque<fab::Communicator> communicators;  ///< by thread
  std::unique_ptr<BareExchange> libfabric;
  std::unique_ptr<BareTcp> tcp;
};

FabForms::FabForms(const Neighbors& neighbors, const ThreadOptions& threads)
    : parts_(std::make_unique<Parts>(neighbors, threads)) {}
FabForms::~FabForms() = default;

std::optional<FabPath> FabForms::path() const { return parts_->transport.path(); }

std::set<std::string> FabForms::ways(std::size_t bytes, MemoryKind memory, Form form, Rewrite rewrite) const {
  const Neighbors& neighbors = parts_->neighbors;
  std::set<std::string> ways;
  for (int block = 0; block < neighbors.count(); ++block) {
    const int peer = neighbors.destination(block, Order::fab);
    if (peer == MPI_PROC_NULL) continue;
    ways.insert(parts_->transport.way({.peer = peer,
                                       .bytes = bytes,
                                       .memory = memory,
                                       .is_contiguous = neighbors.pattern() != Pattern::faces,
                                       .is_persistent = form == Form::persistent,
                                       .is_constant = rewrite == Rewrite::none}));
  }
  return ways;
}

std::set<std::string> FabForms::ways_taken(const Contestant& contestant) const {
  const fab::Context& context = parts_->worlds.context();
  return ways_during([&context] { return sent_to_peers(context.statistics()); },
                     [&contestant] {
                       meet();
                       contestant.calls(1);
                     });
}

std::vector<Contestant> FabForms::contestants(Exchange& exchange) {
  std::vector<Contestant> all;
  const auto append = [&all](std::vector<Contestant> some) {
    for (Contestant& contestant : some) all.push_back(std::move(contestant));
  };
  if (exchange.boxes().edge() == 0) append(binding_forms(exchange));
  append(native_forms(parts_->communicators[static_cast<std::size_t>(exchange.thread())], exchange));
  const std::size_t bytes = exchange.boxes().array_bytes();
  const auto add_limit = [&](const char* library, const char* call, auto* bare) {
    all.push_back(
        {.library = library,
         .form = Form::blocking,
         .call = call,
         .calls = repeat([&exchange, bytes, bare] { bare->exchange(exchange.send(), exchange.receive(), bytes); }),
         .placement = Placement::whole});
  };
  if (parts_->libfabric) add_limit("libfabric", "fi_trecv + fi_tsend + polling", parts_->libfabric.get());
  if (parts_->tcp) add_limit("TCP", "send + recv on a socket, polling", parts_->tcp.get());
  return all;
}

Contestant FabForms::halo(Exchange& exchange) {
  const Neighbors& neighbors = parts_->neighbors;
  const std::size_t dimensions = neighbors.dims().size();
  const auto edge = static_cast<std::size_t>(exchange.boxes().edge());
  const auto halo = std::make_shared<fab::HaloExchange>(
      parts_->worlds.of_thread(exchange.thread()),
      fab::HaloOptions{.grid = neighbors.dims(),
                       .periodic = std::vector<bool>(dimensions, neighbors.periodic()),
                       .block = {.interior = std::vector<std::size_t>(dimensions, edge),
                                 .width = std::vector<std::size_t>(dimensions, 1)},
                       .memory = {exchange.array()}});
  return {.library = "fab", .form = Form::persistent, .call = "HaloExchange: start + finish", .calls = repeat([halo] {
                                                                                                halo->start();
                                                                                                halo->finish();
                                                                                              })};
}

std::optional<NonblockingCall> FabForms::nonblocking(Exchange& exchange) {
  return in_halves(
      "fab", "MPI_Ineighbor_xchg", [binding = std::make_shared<BindingExchange>(exchange)] { return binding->start(); },
      [](MPI_Request& request) { wait(request); });
}

std::set<std::string> FabForms::ways_of_native(Exchange& exchange) const {
  const fab::Context& context = parts_->worlds.context();
  const auto sent = [&context] { return sent_by("neighbor_xchg", context.statistics_by_way()); };
  return union_over_ranks(ways_during(sent, [this, &exchange] {
    meet();
    fab::neighbor_xchg
        .start(parts_->communicators[static_cast<std::size_t>(exchange.thread())], exchange.send(), exchange.receive(),
               fab::Layout::contiguous(exchange.boxes().bytes_per_neighbor()))
        .wait();
  }));
}

}  // namespace bench
