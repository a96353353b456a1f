// What a program gains from the drop-in library: MPI's collectives by their names, as fab_run has fab carry them, and
// the MPI library's own functions, in turns inside one job. Starts of fab's and all completions go by their names, too.
#include <dlfcn.h>
#include <fmt/core.h>
#include <mpi.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/mpi_call.h"
#include "support/batches.h"
#include "support/cold.h"
#include "support/mpi_program.h"
#include "support/rows.h"
#include "support/table.h"

namespace {

using apps::check_mpi;
using bench::Calls;

/// X(name in lower case, Name)
#define TIMED(X)                                \
  X(barrier, Barrier)                           \
  X(bcast, Bcast)                               \
  X(reduce, Reduce)                             \
  X(allreduce, Allreduce)                       \
  X(gather, Gather)                             \
  X(scatter, Scatter)                           \
  X(allgather, Allgather)                       \
  X(alltoall, Alltoall)                         \
  X(alltoallv, Alltoallv)                       \
  X(reduce_scatter_block, Reduce_scatter_block) \
  X(scan, Scan)                                 \
  X(neighbor_alltoall, Neighbor_alltoall)       \
  X(neighbor_alltoallv, Neighbor_alltoallv)

struct Api {
#define MEMBERS(name, Name)   \
  decltype(&MPI_##Name) name; \
  decltype(&MPI_I##name) i##name;
  TIMED(MEMBERS)
#undef MEMBERS
};

Api by_name() {
#define VALUES(name, Name) .name = MPI_##Name, .i##name = MPI_I##name,
  return {TIMED(VALUES)};
#undef VALUES
}

Api of_the_library() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(&MPI_Get_library_version), &info) == 0)
    throw std::runtime_error("the MPI library is not to be found");
  void* const library = ::dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  const auto find = [library]<class Function>(Function& function, const char* name) {
    function = reinterpret_cast<Function>(::dlsym(library, name));
    if (function == nullptr) throw std::runtime_error(fmt::format("the MPI library has no {}", name));
  };
  Api api{};
#define FIND(name, Name)        \
  find(api.name, "MPI_" #Name); \
  find(api.i##name, "MPI_I" #name);
  TIMED(FIND)
#undef FIND
  return api;
}

/// Buffers for blocks of so many doubles, one for each rank or neighbour, and the communicators.
struct Setting {
  explicit Setting(std::size_t bytes) : count(static_cast<int>(bytes / sizeof(double))) {
    check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &ranks), "MPI_Comm_size");
    const int dims = ranks;
    const int periodic = 1;
    check_mpi(MPI_Cart_create(MPI_COMM_WORLD, 1, &dims, &periodic, 0, &ring), "MPI_Cart_create");
    const auto blocks = static_cast<std::size_t>(std::max(ranks, 2));
    send.resize(blocks * static_cast<std::size_t>(count), 1.0);
    recv.resize(send.size());
    counts.assign(blocks, count);
    for (std::size_t i = 0; i < blocks; ++i) places.push_back(static_cast<int>(i) * count);
  }
  ~Setting() { check_mpi(MPI_Comm_free(&ring), "MPI_Comm_free"); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

  int count;
  int ranks = 1;
  MPI_Comm ring = MPI_COMM_NULL;
  std::vector<double> send;
  std::vector<double> recv;
  std::vector<int> counts;
  std::vector<int> places;
};

/// Call number i, so that roots go round and calls depend on each other. Without a request it blocks.
using Call = std::function<int(const Api&, const Setting&, int root, MPI_Request*)>;

struct Operation {
  std::string name;
  Call call;
};

double* recv_of(const Setting& s) { return const_cast<double*>(s.recv.data()); }

#define CALL_OF(name, comm, ...)                                                                 \
  {                                                                                              \
#name, [](const Api& api, const Setting& s, [[maybe_unused]] int root, MPI_Request* request) { \
     return request == nullptr ? api.name(__VA_ARGS__, comm) : api.i##name(__VA_ARGS__, comm, request); \
   } \
  }

std::vector<Operation> all_operations() {
  return {{"barrier",
           [](const Api& api, const Setting&, int, MPI_Request* request) {
             return request == nullptr ? api.barrier(MPI_COMM_WORLD) : api.ibarrier(MPI_COMM_WORLD, request);
           }},
          CALL_OF(bcast, MPI_COMM_WORLD, recv_of(s), s.count, MPI_DOUBLE, root),
          CALL_OF(reduce, MPI_COMM_WORLD, s.send.data(), recv_of(s), s.count, MPI_DOUBLE, MPI_SUM, root),
          CALL_OF(allreduce, MPI_COMM_WORLD, s.send.data(), recv_of(s), s.count, MPI_DOUBLE, MPI_SUM),
          CALL_OF(gather, MPI_COMM_WORLD, s.send.data(), s.count, MPI_DOUBLE, recv_of(s), s.count, MPI_DOUBLE, root),
          CALL_OF(scatter, MPI_COMM_WORLD, s.send.data(), s.count, MPI_DOUBLE, recv_of(s), s.count, MPI_DOUBLE, root),
          CALL_OF(allgather, MPI_COMM_WORLD, s.send.data(), s.count, MPI_DOUBLE, recv_of(s), s.count, MPI_DOUBLE),
          CALL_OF(alltoall, MPI_COMM_WORLD, s.send.data(), s.count, MPI_DOUBLE, recv_of(s), s.count, MPI_DOUBLE),
          CALL_OF(alltoallv, MPI_COMM_WORLD, s.send.data(), s.counts.data(), s.places.data(), MPI_DOUBLE, recv_of(s),
                  s.counts.data(), s.places.data(), MPI_DOUBLE),
          CALL_OF(reduce_scatter_block, MPI_COMM_WORLD, s.send.data(), recv_of(s), s.count, MPI_DOUBLE, MPI_SUM),
          CALL_OF(scan, MPI_COMM_WORLD, s.send.data(), recv_of(s), s.count, MPI_DOUBLE, MPI_SUM),
          CALL_OF(neighbor_alltoall, s.ring, s.send.data(), s.count, MPI_DOUBLE, recv_of(s), s.count, MPI_DOUBLE),
          CALL_OF(neighbor_alltoallv, s.ring, s.send.data(), s.counts.data(), s.places.data(), MPI_DOUBLE, recv_of(s),
                  s.counts.data(), s.places.data(), MPI_DOUBLE)};
}

struct Options {
  std::vector<std::string> operations;
  std::vector<std::size_t> bytes = {8, 512, 4096, 32768, 262144};
  bench::BatchPlan plan{.batches = 15, .batch_ms = 2};
  std::size_t sweep_kib = 0;
  std::string json;
};

void make(const Api& api, const Setting& setting, const Call& call, bool blocking, int number) {
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(call(api, setting, number % setting.ranks, blocking ? nullptr : &request), "the collective");
  if (!blocking) check_mpi(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
}

using Microseconds = std::vector<double>;  // by batch

/// Of each of the two libraries.
std::vector<Microseconds> time(const Options& options, const std::vector<const Api*>& apis, const Setting& setting,
                               const Call& call, bool blocking) {
  if (options.sweep_kib > 0) {
    std::vector<bench::OneCall> contestants;
    for (const Api* api : apis)
      contestants.emplace_back([=, &setting](int i) { make(*api, setting, call, blocking, i); });
    return bench::time_cold_in_turns({.batches = options.plan.batches, .sweep_bytes = options.sweep_kib * 1024},
                                     contestants);
  }
  std::vector<Calls> contestants;
  for (const Api* api : apis)
    contestants.emplace_back([=, &setting](int count) {
      for (int i = 0; i < count; ++i) make(*api, setting, call, blocking, i);
    });
  std::vector<Microseconds> us;
  for (const bench::Times& times : bench::time_in_turns(options.plan, contestants)) us.push_back(times.us);
  return us;
}

void run(const Options& options, int rank, int ranks) {
  const Api named = by_name();
  const Api own = of_the_library();
  bench::Row rows = bench::Row::array();
  if (rank == 0) {
    fmt::print(
        "# fab_dropin: {} ranks; MPI: {}\n# us per call, mean over ranks, median of {} batches in turns\n"
        "# own/named: the MPI library's own function against the one that the program calls by its name\n",
        ranks, bench::mpi_library(), options.plan.batches);
  }
  const std::vector<std::string> titles = {"            operation", "bytes", "        form", "named us", "own us",
                                           "           own/named"};
  std::optional<bench::Table> table;
  if (rank == 0) table.emplace(titles);
  for (const Operation& operation : all_operations()) {
    if (!options.operations.empty() &&
        std::ranges::find(options.operations, operation.name) == options.operations.end())
      continue;
    for (const std::size_t bytes : options.bytes) {
      if (operation.name == "barrier" && bytes != options.bytes.front()) continue;
      const Setting setting(bytes);
      for (const bool blocking : {true, false}) {
        const auto us = time(options, {&named, &own}, setting, operation.call, blocking);
        if (rank != 0) continue;
        const auto ratio = bench::spread_of(bench::ratios(us[1], us[0]));
        const char* const form = blocking ? "blocking" : "nonblocking";
        table->print({operation.name, std::to_string(bytes), form, bench::number(bench::spread_of(us[0]).median),
                      bench::number(bench::spread_of(us[1]).median), bench::ratio_text(ratio)});
        bench::Row row{{"benchmark", "fab_dropin"},
                       {"operation", operation.name},
                       {"bytes", bytes},
                       {"form", form},
                       {"sweep_kib", options.sweep_kib},
                       {"ranks", ranks}};
        bench::add_times(row, "named_us", us[0]);
        bench::add_times(row, "own_us", us[1]);
        rows.push_back(row);
      }
    }
  }
  if (rank == 0) bench::write_rows(options.json, rows);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Times MPI's collectives by their names against the MPI library's own. Without fab_run both are the same.",
      "fab_dropin");
  app.add_option("--operation", options.operations, "Only these, separated by commas")->delimiter(',');
  app.add_option("--bytes", options.bytes, "Bytes of the vector, or of the block of one rank")->delimiter(',');
  app.add_option("--batches", options.plan.batches, "Batches of each function")->check(CLI::PositiveNumber);
  app.add_option("--batch-ms", options.plan.batch_ms, "Milliseconds of a batch")->check(CLI::PositiveNumber);
  app.add_option(
      "--sweep", options.sweep_kib,
      "KiB of memory that each rank works on ahead of each call, as programs do; the calls are then timed one "
      "by one, on one machine; 0: calls follow each other");
  app.add_option("--json", options.json, "Write the results to this file");
  return bench::run_mpi_program(app, argc, argv, [&](int rank, int ranks) { run(options, rank, ranks); });
}
