// Latency of neighbour exchanges: fab against the MPI library's neighbour collective and, with one neighbour, against a
// bare libfabric exchange, in turns inside one job.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <optional>

#include "support/bare_exchange.h"
#include "support/batches.h"
#include "support/exchange_options.h"
#include "support/fab_transport.h"
#include "support/mpi_program.h"
#include "support/neighbors.h"
#include "support/table.h"

namespace {

using bench::Exchange;
using bench::Order;
using bench::Pattern;
using bench::Spread;

enum class Mode { blocking, nonblocking, both };

struct Options : bench::ExchangeOptions {
  Mode mode = Mode::both;
};

// One call of each contestant: what is timed.
void call_fab(Exchange& exchange, Mode mode) {
  if (mode == Mode::blocking) return exchange.fab();
  bench::wait(exchange.start_fab());
}

void call_mpi(Exchange& exchange, Mode mode) {
  if (mode == Mode::blocking) return exchange.mpi();
  bench::wait(exchange.start_mpi());
}

void call_bare(Exchange& exchange, bench::BareExchange& bare) {
  bare.exchange(exchange.send(), exchange.receive(), exchange.bytes());
}

template <class Call>
bench::Calls repeat(Call call) {
  return [call](int count) {
    for (int i = 0; i < count; ++i) call();
  };
}

// One table: a pattern, a mode, all sizes.
class Benchmark {
 public:
  Benchmark(const Options& options, Mode mode, const bench::FabTransport& transport, int rank, int ranks)
      : options_(options), mode_(mode), transport_(transport), rank_(rank), ranks_(ranks), neighbors_(options.pattern) {
    if (options.pattern == Pattern::pair && mode == Mode::blocking && transport.uses_network())
      bare_.emplace(*transport.network().info, neighbors_.neighbor(0, Order::fab));
  }

  void run(nlohmann::json& rows) {
    std::optional<bench::Table> table;
    if (rank_ == 0) table.emplace(start_table());
    for (const std::size_t bytes : bench::sizes(options_)) {
      Exchange exchange(neighbors_, bytes);
      check(exchange);
      const Result result = time(exchange);
      if (!table) continue;
      table->print(cells(bytes, result));
      rows.push_back(row(bytes, result));
    }
  }

 private:
  struct Result {
    Spread fab_us;
    Spread mpi_us;
    Spread mpi_over_fab;
    Spread bare_us{};
    Spread fab_over_bare{};
  };

  const char* mode_name() const { return mode_ == Mode::blocking ? "blocking" : "nonblocking"; }

  bench::Table start_table() const {
    fmt::print("\n# fab_neighbor, {}, {}: {} ranks on {} node(s); fab: {}; MPI: {}\n", bench::name_of(options_.pattern),
               mode_name(), ranks_, transport_.nodes(), transport_.name(), bench::mpi_library());
    fmt::print("# timed: {} (cached: plans built, peers connected) against {}{}\n",
               mode_ == Mode::blocking ? "MPI_Neighbor_xchg" : "MPI_Ineighbor_xchg + MPI_Wait",
               mode_ == Mode::blocking ? "MPI_Neighbor_alltoall" : "MPI_Ineighbor_alltoall + MPI_Wait",
               bare_ ? " and fi_trecv + fi_tsend + polling" : "");
    fmt::print(
        "# bytes per neighbour; us per call: mean over ranks, median of {} batches in turns; ratios of neighbouring"
        " batches: median (quartiles)\n",
        options_.plan.batches);
    if (bare_) return bench::Table({"bytes", "fab us", "bare us", "MPI us", "       fab/bare", "        MPI/fab", ""});
    return bench::Table({"bytes", "fab us", "MPI us", "        MPI/fab", ""});
  }

  // Untimed. The MPI library's non-blocking form is left out: Open MPI 4.1 puts blocks of a ring of one or two ranks
  // into wrong places.
  void check(Exchange& exchange) {
    exchange.fill();
    call_fab(exchange, mode_);
    exchange.check(Order::fab, "fab's exchange");
    if (mode_ == Mode::blocking) {
      exchange.fill();
      exchange.mpi();
      exchange.check(Order::mpi, "the MPI library's exchange");
    }
    if (bare_) {
      exchange.fill();
      call_bare(exchange, *bare_);
      exchange.check(Order::fab, "the bare exchange");
    }
  }

  Result time(Exchange& exchange) {
    std::vector<bench::Calls> contestants = {repeat([&] { call_fab(exchange, mode_); }),
                                             repeat([&] { call_mpi(exchange, mode_); })};
    if (bare_) contestants.push_back(repeat([&] { call_bare(exchange, *bare_); }));
    const auto times_us = bench::time_in_turns(options_.plan, contestants);
    Result result{.fab_us = bench::spread_of(times_us[0]),
                  .mpi_us = bench::spread_of(times_us[1]),
                  .mpi_over_fab = bench::spread_of(bench::ratios(times_us[1], times_us[0]))};
    if (bare_) {
      result.bare_us = bench::spread_of(times_us[2]);
      result.fab_over_bare = bench::spread_of(bench::ratios(times_us[0], times_us[2]));
    }
    return result;
  }

  std::vector<std::string> cells(std::size_t bytes, const Result& result) const {
    std::vector<std::string> cells = {std::to_string(bytes), bench::number(result.fab_us.median)};
    if (bare_) cells.push_back(bench::number(result.bare_us.median));
    cells.push_back(bench::number(result.mpi_us.median));
    if (bare_) cells.push_back(bench::ratio_text(result.fab_over_bare));
    cells.push_back(bench::ratio_text(result.mpi_over_fab));
    cells.emplace_back(result.mpi_over_fab.median < 1 ? "fab slower" : "");
    return cells;
  }

  nlohmann::json row(std::size_t bytes, const Result& result) const {
    nlohmann::json row = {{"bench", "fab_neighbor"},
                          {"pattern", bench::name_of(options_.pattern)},
                          {"mode", mode_name()},
                          {"timed", "cached call"},
                          {"ranks", ranks_},
                          {"nodes", transport_.nodes()},
                          {"provider", transport_.provider()},
                          {"domain", transport_.uses_network() ? transport_.network().domain : ""},
                          {"mpi", bench::mpi_library()},
                          {"neighbors", neighbors_.count()},
                          {"bytes", bytes},
                          {"batches", options_.plan.batches},
                          {"fab_us", result.fab_us.median},
                          {"fab_us_quartiles", bench::quartiles(result.fab_us)},
                          {"mpi_us", result.mpi_us.median},
                          {"mpi_us_quartiles", bench::quartiles(result.mpi_us)},
                          {"ratio", result.mpi_over_fab.median},
                          {"ratio_quartiles", bench::quartiles(result.mpi_over_fab)}};
    if (bare_) {
      row["bare_us"] = result.bare_us.median;
      row["bare_us_quartiles"] = bench::quartiles(result.bare_us);
      row["fab_over_bare"] = result.fab_over_bare.median;
      row["fab_over_bare_quartiles"] = bench::quartiles(result.fab_over_bare);
    }
    return row;
  }

  const Options& options_;
  Mode mode_;
  const bench::FabTransport& transport_;
  int rank_;
  int ranks_;
  bench::Neighbors neighbors_;
  std::optional<bench::BareExchange> bare_;  // with one neighbour, blocking
};

void run(const Options& options, int rank, int ranks) {
  const bench::FabTransport transport;
  nlohmann::json rows = nlohmann::json::array();
  if (rank == 0) bench::write_rows(options.json, rows);  // a file that cannot be written is found before the work
  for (const Mode mode : {Mode::blocking, Mode::nonblocking}) {
    if (options.mode != Mode::both && options.mode != mode) continue;
    Benchmark(options, mode, transport, rank, ranks).run(rows);
  }
  if (rank == 0) bench::write_rows(options.json, rows);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Time of a neighbour exchange by fab, by the MPI library and, with one neighbour, by libfabric alone.\n"
      "Ratios: MPI/fab above 1: fab is faster; fab/bare: what fab adds to the least that libfabric takes.",
      "fab_neighbor");
  bench::add_exchange_options(app, options);
  const std::map<std::string, Mode> modes{
      {"blocking", Mode::blocking}, {"nonblocking", Mode::nonblocking}, {"both", Mode::both}};
  app.add_option("--mode", options.mode, "Blocking calls, non-blocking calls each with its wait, or both (the default)")
      ->transform(CLI::CheckedTransformer(modes).description("{blocking,nonblocking,both}"));
  return bench::run_mpi_program(app, argc, argv, [&](int rank, int ranks) { run(options, rank, ranks); });
}
