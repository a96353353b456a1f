// fab_perf footprint: the cost of fab while nothing happens: processor time of a process with an open context, idle and
// with a receive pending; and memory of each rank of a ring. MPI is not started: what the process uses is fab's.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

#include "fab/fab.h"
#include "perf/command.h"
#include "support/counted_new.h"
#include "support/exchange_options.h"
#include "support/process_usage.h"
#include "support/table.h"

namespace perf {
namespace {

struct FootprintOptions {
  bool memory = false;
  double seconds = 10;
  std::size_t bytes = 1024;
  int exchanges = 100;
  bench::RowFiles files{};
};

// Mean and largest of one figure over the ranks.
struct OverRanks {
  double mean = 0;
  double largest = 0;
};

OverRanks over_ranks(const std::vector<double>& values) {
  return {.mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size()),
          .largest = *std::ranges::max_element(values)};
}

// Rank 0 gets the values of all ranks, figure by figure; the others get nothing. Collective.
std::vector<OverRanks> gather(const fab::Communicator& world, const std::vector<double>& mine) {
  std::vector<int> others(static_cast<std::size_t>(world.size() - 1));
  std::iota(others.begin(), others.end(), 1);
  const bool root = world.rank() == 0;
  const fab::Communicator star =
      world.distributed_graph(root ? others : std::vector<int>(), root ? std::vector<int>() : std::vector<int>{0});
  std::vector<double> all(root ? mine.size() * others.size() : 0);
  fab::neighbor_xchg(star, root ? nullptr : mine.data(), all.data(),
                     fab::Layout::contiguous(mine.size() * sizeof(double)));
  if (!root) return {};
  std::vector<OverRanks> result;
  for (std::size_t figure = 0; figure < mine.size(); ++figure) {
    std::vector<double> values = {mine[figure]};
    for (std::size_t i = figure; i < all.size(); i += mine.size()) values.push_back(all[i]);
    result.push_back(over_ranks(values));
  }
  return result;
}

bench::Row start_row(const fab::Context& context, const char* state) {
  const std::string& transport = context.transport();
  return {{"bench", "footprint"},
          {"state", state},
          {"ranks", context.size()},
          {"provider", transport.substr(0, transport.find(' '))}};
}

void print_head(const fab::Context& context, const std::string& what) {
  fmt::print("\n# {} footprint: {} ranks, {}\n# {}\n", program_name(), context.size(), context.transport(), what);
}

// Ranks 2k and 2k + 1 are partners; `even_receives` or the others do.
fab::Communicator one_way(const fab::Communicator& world, bool even_receives) {
  const std::vector<int> partner = {world.rank() ^ 1};
  const bool receives = (world.rank() % 2 == 0) == even_receives;
  return world.distributed_graph(receives ? partner : std::vector<int>(), receives ? std::vector<int>() : partner);
}

// Every rank starts a receive; the partners send only after the measurement.
bench::CpuUse cpu_use_with_receive_pending(const fab::Communicator& world, double seconds) {
  constexpr std::chrono::seconds kMargin(1);  // between a measurement's end and the partner's
  const fab::Communicator to_even = one_way(world, true);
  const fab::Communicator to_odd = one_way(world, false);
  const bool even = world.rank() % 2 == 0;
  const fab::Layout one_byte = fab::Layout::contiguous(1);
  char received = 0;
  const char sent = 1;
  fab::Request request = fab::neighbor_xchg.start(even ? to_even : to_odd, nullptr, &received, one_byte);
  const bench::CpuUse use = bench::cpu_use_while_sleeping(seconds);
  if (request.test()) throw std::runtime_error("the receive was not pending all the time");
  std::this_thread::sleep_for(kMargin);
  fab::neighbor_xchg(even ? to_odd : to_even, &sent, nullptr, one_byte);
  request.wait();
  return use;
}

fab::Communicator make_ring(const fab::Context& context) { return context.world().cartesian({context.size()}, {true}); }

void exchange(const fab::Communicator& communicator, std::size_t bytes, int times) {
  const std::size_t blocks = communicator.neighborhood().destinations.size();
  const std::vector<char> send(bytes * blocks);
  std::vector<char> receive(send.size());
  for (int i = 0; i < times; ++i) fab::neighbor_xchg.start(communicator, send, receive).wait();
}

void report_cpu(const fab::Context& context, const std::vector<OverRanks>& figures, const FootprintOptions& options) {
  print_head(context, fmt::format("CPU use of the whole process (fab, libfabric and PMIx) over {} s, in % of one core",
                                  options.seconds));
  const bench::Table table({"          state", "mean %", "largest %", "wake-ups/s"});
  bench::Rows rows(options.files, true);
  const std::vector<const char*> states = {"idle", "receive pending"};
  for (std::size_t i = 0; i < figures.size() / 2; ++i) {
    const OverRanks& percent = figures[2 * i];
    const OverRanks& wakeups_per_s = figures[2 * i + 1];
    table.print({states[i], fmt::format("{:.4f}", percent.mean), fmt::format("{:.4f}", percent.largest),
                 fmt::format("{:.1f}", wakeups_per_s.largest)});
    bench::Row row = start_row(context, states[i]);
    row["seconds"] = options.seconds;
    row["cpu_percent_mean"] = percent.mean;
    row["cpu_percent_largest"] = percent.largest;
    row["wakeups_per_s_largest"] = wakeups_per_s.largest;
    rows.add(std::move(row));
  }
  rows.write();
}

void measure_cpu(const FootprintOptions& options) {
  const fab::Context context = fab::Context::open();
  const fab::Communicator ring = make_ring(context);
  exchange(ring, 1, 1);  // connects, and starts what fab starts once
  const bench::CpuUse idle = bench::cpu_use_while_sleeping(options.seconds);
  std::vector<double> mine = {idle.percent, idle.wakeups_per_s};
  if (context.size() % 2 == 0) {
    exchange(ring, 1, 1);  // all have measured
    const bench::CpuUse pending = cpu_use_with_receive_pending(context.world(), options.seconds);
    mine.insert(mine.end(), {pending.percent, pending.wakeups_per_s});
  }
  const std::vector<OverRanks> figures = gather(context.world(), mine);
  if (context.rank() == 0) report_cpu(context, figures, options);
}

struct HeldMemory {
  double fab = 0;       // held by C++ code: fab's own objects
  double heap = 0;      // fab, libfabric, PMIx
  double resident = 0;  // heap, stacks and written data

  static HeldMemory now() {
    return {.fab = static_cast<double>(bench::held_bytes()),
            .heap = static_cast<double>(bench::heap_bytes()),
            .resident = static_cast<double>(bench::anonymous_resident_bytes())};
  }
};

std::vector<double> growth(const HeldMemory& before, const HeldMemory& after) {
  return {after.fab - before.fab, after.heap - before.heap, after.resident - before.resident};
}

void report_memory(const fab::Context& context, const std::vector<OverRanks>& figures,
                   const FootprintOptions& options) {
  print_head(context,
             fmt::format("memory of a rank in a ring, in bytes more than before fab was opened; {} exchanges of {} "
                         "bytes per neighbour",
                         options.exchanges, options.bytes));
  const bench::Table table({"            state", "fab mean", "fab largest", "heap mean", "heap largest",
                            "resident mean", "resident largest"});
  bench::Rows rows(options.files, true);
  const std::vector<const char*> states = {"context open", "ring, exchanged"};
  for (std::size_t i = 0; i < states.size(); ++i) {
    const std::span<const OverRanks> figure = std::span(figures).subspan(3 * i, 3);
    std::vector<std::string> cells = {states[i]};
    for (const OverRanks& value : figure) {
      cells.push_back(fmt::format("{:.0f}", value.mean));
      cells.push_back(fmt::format("{:.0f}", value.largest));
    }
    table.print(cells);
    bench::Row row = start_row(context, states[i]);
    row["bytes"] = options.bytes;
    row["fab_bytes_mean"] = figure[0].mean;
    row["fab_bytes_largest"] = figure[0].largest;
    row["heap_bytes_mean"] = figure[1].mean;
    row["heap_bytes_largest"] = figure[1].largest;
    row["resident_bytes_mean"] = figure[2].mean;
    row["resident_bytes_largest"] = figure[2].largest;
    rows.add(std::move(row));
  }
  fmt::print("# fab: held through operator new, that is by fab itself; heap: libfabric's and PMIx's part too\n");
  rows.write();
}

void measure_memory(const FootprintOptions& options) {
  const HeldMemory before = HeldMemory::now();
  const fab::Context context = fab::Context::open();
  const HeldMemory open = HeldMemory::now();
  const fab::Communicator ring = make_ring(context);
  exchange(ring, options.bytes, options.exchanges);
  const HeldMemory exchanged = HeldMemory::now();
  std::vector<double> mine = growth(before, open);
  const std::vector<double> after_exchange = growth(before, exchanged);
  mine.insert(mine.end(), after_exchange.begin(), after_exchange.end());
  const std::vector<OverRanks> figures = gather(context.world(), mine);
  if (context.rank() == 0) report_memory(context, figures, options);
}

}  // namespace

Action add_footprint(CLI::App& app) {
  const auto options = std::make_shared<FootprintOptions>();
  app.add_flag("--memory", options->memory, "Measure memory in a ring of all ranks, instead of processor time");
  app.add_option("--seconds", options->seconds, "Length of each measurement of processor time")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--bytes", options->bytes, "With --memory: bytes per neighbour")->capture_default_str();
  app.add_option("--exchanges", options->exchanges, "With --memory: number of exchanges before the measurement")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  bench::add_file_options(app, options->files);
  return {.run = [options](const Job&) { options->memory ? measure_memory(*options) : measure_cpu(*options); },
          .without_mpi = true};
}

}  // namespace perf
