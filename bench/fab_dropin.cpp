// What a program gains from the drop-in library: MPI's collectives by their names, as fab_run has fab carry them, and
// the MPI library's own functions, in turns inside one job. Starts of fab's and all completions go by their names, too.
#include <dlfcn.h>
#include <fmt/core.h>
#include <mpi.h>
#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <span>
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

// Persistent collectives have MPI-4's names, or those of Open MPI 4.1's extension.
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HAS_PERSISTENT 1
#define INIT_OF(Name) MPI_##Name##_init
#define INIT_PREFIX "MPI_"
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define HAS_PERSISTENT 1
#define INIT_OF(Name) MPIX_##Name##_init
#define INIT_PREFIX "MPIX_"
#else
#define HAS_PERSISTENT 0
#endif

/// X(name in lower case, Name)
#define TIMED(X)                                \
  X(barrier, Barrier)                           \
  X(bcast, Bcast)                               \
  X(reduce, Reduce)                             \
  X(allreduce, Allreduce)                       \
  X(gather, Gather)                             \
  X(gatherv, Gatherv)                           \
  X(scatter, Scatter)                           \
  X(scatterv, Scatterv)                         \
  X(allgather, Allgather)                       \
  X(allgatherv, Allgatherv)                     \
  X(alltoall, Alltoall)                         \
  X(alltoallv, Alltoallv)                       \
  X(alltoallw, Alltoallw)                       \
  X(reduce_scatter, Reduce_scatter)             \
  X(reduce_scatter_block, Reduce_scatter_block) \
  X(scan, Scan)                                 \
  X(exscan, Exscan)                             \
  X(neighbor_allgather, Neighbor_allgather)     \
  X(neighbor_allgatherv, Neighbor_allgatherv)   \
  X(neighbor_alltoall, Neighbor_alltoall)       \
  X(neighbor_alltoallv, Neighbor_alltoallv)     \
  X(neighbor_alltoallw, Neighbor_alltoallw)

/// The functions of a library: blocking, non-blocking and, where MPI has them, persistent.
struct Api {
#define MEMBERS(name, Name)   \
  decltype(&MPI_##Name) name; \
  decltype(&MPI_I##name) i##name;
  TIMED(MEMBERS)
#undef MEMBERS
#if HAS_PERSISTENT
#define MEMBERS(name, Name) decltype(&INIT_OF(Name)) name##_init;
  TIMED(MEMBERS)
#undef MEMBERS
#endif
};

Api by_name() {
  Api api{};
#define VALUES(name, Name) \
  api.name = MPI_##Name;   \
  api.i##name = MPI_I##name;
  TIMED(VALUES)
#undef VALUES
#if HAS_PERSISTENT
#define VALUES(name, Name) api.name##_init = INIT_OF(Name);
  TIMED(VALUES)
#undef VALUES
#endif
  return api;
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
#if HAS_PERSISTENT
#define FIND(name, Name) find(api.name##_init, INIT_PREFIX #Name "_init");
  TIMED(FIND)
#undef FIND
#endif
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
    for (std::size_t i = 0; i < blocks; ++i) {
      places.push_back(static_cast<int>(i) * count);
      byte_places.push_back(places.back() * static_cast<int>(sizeof(double)));
      address_places.push_back(static_cast<MPI_Aint>(i) * count * static_cast<MPI_Aint>(sizeof(double)));
    }
    types.assign(blocks, MPI_DOUBLE);
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
  std::vector<int> byte_places;
  std::vector<MPI_Aint> address_places;
  std::vector<MPI_Datatype> types;
};

enum class Form : unsigned char { blocking, nonblocking, persistent };

constexpr const char* name_of(Form form) {
  return form == Form::blocking ? "blocking" : form == Form::nonblocking ? "nonblocking" : "persistent";
}

/// Performs the operation, starts it, or makes its request.
using Call = std::function<int(const Api&, const Setting&, int root, Form, MPI_Request*)>;

struct Operation {
  std::string name;
  Call call;
};

double* recv_of(const Setting& s) { return const_cast<double*>(s.recv.data()); }

#if HAS_PERSISTENT
#define MAKE(name, ...) api.name##_init(__VA_ARGS__, MPI_INFO_NULL, request)
#else
#define MAKE(name, ...) MPI_ERR_UNSUPPORTED_OPERATION
#endif
#define CALL_OF(name, ...)                                                                                                   \
  {                                                                                                                          \
#name, [](const Api& api, [[maybe_unused]] const Setting& s, [[maybe_unused]] int root, Form form, MPI_Request* request) { \
      switch (form) {                                                                                                \
        case Form::blocking:                                                                                         \
          return api.name(__VA_ARGS__);                                                                              \
        case Form::nonblocking:                                                                                      \
          return api.i##name(__VA_ARGS__, request);                                                                  \
        case Form::persistent:                                                                                       \
          break;                                                                                                     \
      }                                                                                                              \
      return MAKE(name, __VA_ARGS__);                                                                                \
    } \
  }
#define SENT s.send.data(), s.count, MPI_DOUBLE
#define RECEIVED recv_of(s), s.count, MPI_DOUBLE
#define SENT_V s.send.data(), s.counts.data(), s.places.data(), MPI_DOUBLE
#define RECEIVED_V recv_of(s), s.counts.data(), s.places.data(), MPI_DOUBLE
#define SENT_W(where) s.send.data(), s.counts.data(), s.where.data(), s.types.data()
#define RECEIVED_W(where) recv_of(s), s.counts.data(), s.where.data(), s.types.data()
#define COMBINED s.send.data(), recv_of(s), s.count, MPI_DOUBLE, MPI_SUM

std::vector<Operation> all_operations() {
  return {CALL_OF(barrier, MPI_COMM_WORLD),
          CALL_OF(bcast, RECEIVED, root, MPI_COMM_WORLD),
          CALL_OF(reduce, COMBINED, root, MPI_COMM_WORLD),
          CALL_OF(allreduce, COMBINED, MPI_COMM_WORLD),
          CALL_OF(gather, SENT, RECEIVED, root, MPI_COMM_WORLD),
          CALL_OF(gatherv, SENT, RECEIVED_V, root, MPI_COMM_WORLD),
          CALL_OF(scatter, SENT, RECEIVED, root, MPI_COMM_WORLD),
          CALL_OF(scatterv, SENT_V, RECEIVED, root, MPI_COMM_WORLD),
          CALL_OF(allgather, SENT, RECEIVED, MPI_COMM_WORLD),
          CALL_OF(allgatherv, SENT, RECEIVED_V, MPI_COMM_WORLD),
          CALL_OF(alltoall, SENT, RECEIVED, MPI_COMM_WORLD),
          CALL_OF(alltoallv, SENT_V, RECEIVED_V, MPI_COMM_WORLD),
          CALL_OF(alltoallw, SENT_W(byte_places), RECEIVED_W(byte_places), MPI_COMM_WORLD),
          CALL_OF(reduce_scatter, s.send.data(), recv_of(s), s.counts.data(), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD),
          CALL_OF(reduce_scatter_block, COMBINED, MPI_COMM_WORLD),
          CALL_OF(scan, COMBINED, MPI_COMM_WORLD),
          CALL_OF(exscan, COMBINED, MPI_COMM_WORLD),
          CALL_OF(neighbor_allgather, SENT, RECEIVED, s.ring),
          CALL_OF(neighbor_allgatherv, SENT, RECEIVED_V, s.ring),
          CALL_OF(neighbor_alltoall, SENT, RECEIVED, s.ring),
          CALL_OF(neighbor_alltoallv, SENT_V, RECEIVED_V, s.ring),
          CALL_OF(neighbor_alltoallw, SENT_W(address_places), RECEIVED_W(address_places), s.ring)};
}

/// One operation of one library in one form. Roots go round with the calls, so that calls depend on each other; a
/// persistent request keeps its root.
class Contestant {
 public:
  Contestant(const Api& api, const Setting& setting, const Call& call, Form form)
      : api_(api), setting_(setting), call_(call), form_(form) {
    if (form_ == Form::persistent)
      check_mpi(call_(api_, setting_, 0, form_, &request_), "making the persistent collective");
  }
  Contestant(const Contestant&) = delete;
  Contestant& operator=(const Contestant&) = delete;
  ~Contestant() {
    if (request_ != MPI_REQUEST_NULL) check_mpi(MPI_Request_free(&request_), "MPI_Request_free");
  }

  void perform(int number) {
    if (form_ == Form::persistent)
      check_mpi(MPI_Start(&request_), "MPI_Start");
    else
      check_mpi(call_(api_, setting_, number % setting_.ranks, form_, &request_), "the collective");
    if (form_ != Form::blocking) check_mpi(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait");
  }

 private:
  const Api& api_;
  const Setting& setting_;
  const Call& call_;
  Form form_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

struct Options {
  std::vector<std::string> operations;
  std::vector<std::string> forms;
  std::vector<std::size_t> bytes = {8, 512, 4096, 32768, 262144};
  bench::BatchPlan plan{.batches = 15, .batch_ms = 2};
  std::size_t sweep_kib = 0;
  std::string json;
};

using Microseconds = std::vector<double>;  // by batch

/// Of each contestant.
std::vector<Microseconds> time(const Options& options, std::span<Contestant* const> contestants) {
  if (options.sweep_kib > 0) {
    std::vector<bench::OneCall> calls;
    for (Contestant* each : contestants) calls.emplace_back([each](int i) { each->perform(i); });
    return bench::time_cold_in_turns({.batches = options.plan.batches, .sweep_bytes = options.sweep_kib * 1024}, calls);
  }
  std::vector<Calls> calls;
  for (Contestant* each : contestants)
    calls.emplace_back([each](int count) {
      for (int i = 0; i < count; ++i) each->perform(i);
    });
  std::vector<Microseconds> us;
  for (const bench::Times& times : bench::time_in_turns(options.plan, calls)) us.push_back(times.us);
  return us;
}

std::vector<Form> forms_of(const Options& options) {
  std::vector<Form> forms = {Form::blocking, Form::nonblocking};
  if (HAS_PERSISTENT != 0) forms.push_back(Form::persistent);
  if (!options.forms.empty())
    std::erase_if(forms,
                  [&](Form form) { return std::ranges::find(options.forms, name_of(form)) == options.forms.end(); });
  return forms;
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
      for (const Form form : forms_of(options)) {
        Contestant by_its_name(named, setting, operation.call, form);
        Contestant of_its_own(own, setting, operation.call, form);
        Contestant* const both[] = {&by_its_name, &of_its_own};
        const auto us = time(options, both);
        if (rank != 0) continue;
        const auto ratio = bench::spread_of(bench::ratios(us[1], us[0]));
        table->print({operation.name, std::to_string(bytes), name_of(form),
                      bench::number(bench::spread_of(us[0]).median), bench::number(bench::spread_of(us[1]).median),
                      bench::ratio_text(ratio)});
        bench::Row row{{"benchmark", "fab_dropin"}, {"operation", operation.name},    {"bytes", bytes},
                       {"form", name_of(form)},     {"sweep_kib", options.sweep_kib}, {"ranks", ranks}};
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
  app.add_option("--form", options.forms, "Only these, separated by commas")
      ->delimiter(',')
      ->check(CLI::IsMember({"blocking", "nonblocking", "persistent"}));
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
