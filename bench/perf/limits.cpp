// fab_perf limits: what the machine can do within a node, without a library: two processes send each other two
// messages.
#include <fmt/core.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "perf/command.h"
#include "providers/local/ring.h"
#include "support/exchange_options.h"
#include "support/sizes.h"
#include "support/table.h"

namespace perf {
namespace {

using fab::local::Cell;
using fab::local::RingReader;
using fab::local::RingWriter;

constexpr std::size_t kMessages = 2;
constexpr std::size_t kChunkBytes = std::size_t{16} * 1024;

struct LimitsOptions {
  std::string sizes = "8:4M";
  bench::BatchPlan plan{.batches = 15};
  bool rewrite = false;
  bench::RowFiles files{};
};

std::size_t most_bytes(const LimitsOptions& options) { return std::ranges::max(bench::parse_sizes(options.sizes)); }

struct Counter {
  alignas(fab::local::kCacheLine) std::atomic<std::uint64_t> value;
};

/// What both processes map.
struct Shared {
  std::array<Counter, 2> arrived;  ///< barriers
  std::array<Counter, 2> ready;    ///< exchanges begun
  std::array<Counter, 2> done;
  std::array<fab::local::Ring, 2> rings;  ///< by writer
};

[[noreturn]] void fail(const char* call) { throw std::system_error(errno, std::generic_category(), call); }

std::byte* map(std::size_t bytes, int flags) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) fail("mmap");
  return static_cast<std::byte*>(memory);
}

void pin(std::size_t processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  if (::sched_setaffinity(0, sizeof(set), &set) != 0) fail("sched_setaffinity");
}

/// Made before the fork: at the same addresses in both processes.
struct ExchangeMemory {
  explicit ExchangeMemory(std::size_t bytes)
      : shared(reinterpret_cast<Shared*>(map(sizeof(Shared), MAP_SHARED))),
        sent(map(kMessages * bytes, MAP_PRIVATE)),
        received(map(kMessages * bytes, MAP_PRIVATE)),
        mapped{map(kMessages * bytes, MAP_SHARED), map(kMessages * bytes, MAP_SHARED)} {}

  Shared* shared;
  std::byte* sent;
  std::byte* received;
  std::array<std::byte*, 2> mapped;  ///< send buffers that both processes see
};

/// One of the two processes.
class Side {
 public:
  Side(const ExchangeMemory& memory, std::size_t me, pid_t peer)
      : memory_(memory), me_(me), peer_(peer), out_(memory.shared->rings[me]), in_(memory.shared->rings[1 - me]) {}

  void barrier() { meet(memory_.shared->arrived, ++barriers_); }

  /// The payload travels inside the cells.
  void through_cells(std::size_t bytes) {
    for (std::size_t i = 0; i < kMessages; ++i) {
      Cell& cell = out_.cell();
      cell.message.bytes = bytes;
      std::memcpy(cell.message.memory.data(), memory_.sent + i * bytes, bytes);
      out_.publish();
    }
    for (std::size_t i = 0; i < kMessages; ++i) {
      const Cell* cell = nullptr;
      while ((cell = in_.peek()) == nullptr) {
      }
      std::memcpy(memory_.received + i * bytes, cell->message.memory.data(), bytes);
      in_.pop();
    }
  }

  /// Copied in and copied out again, chunk by chunk.
  void through_ring(std::size_t bytes) {
    std::size_t out = 0;
    std::size_t in = 0;
    while (out < kMessages * bytes || in < kMessages * bytes) {
      if (out < kMessages * bytes) out += write_chunk(out, bytes);
      if (in < kMessages * bytes) in += read_chunk(in);
    }
  }

  /// One copy, out of a buffer that both processes map.
  void from_mapped(std::size_t bytes) {
    meet(memory_.shared->ready, ++exchanges_);
    std::memcpy(memory_.received, memory_.mapped[1 - me_], kMessages * bytes);
    meet(memory_.shared->done, exchanges_);
  }

  /// One copy by the kernel.
  void by_kernel(std::size_t bytes) {
    meet(memory_.shared->ready, ++exchanges_);
    const iovec here{memory_.received, kMessages * bytes};
    const iovec there{memory_.sent, kMessages * bytes};
    if (::process_vm_readv(peer_, &here, 1, &there, 1, 0) != static_cast<ssize_t>(kMessages * bytes))
      fail("process_vm_readv");
    meet(memory_.shared->done, exchanges_);
  }

  void rewrite(bool mapped, std::size_t bytes) {
    std::memset(mapped ? memory_.mapped[me_] : memory_.sent, ++value_, kMessages * bytes);
  }

 private:
  void meet(std::array<Counter, 2>& counters, std::uint64_t count) {
    counters[me_].value.store(count, std::memory_order_release);
    while (counters[1 - me_].value.load(std::memory_order_acquire) < count) {
    }
  }
  std::size_t write_chunk(std::size_t offset, std::size_t bytes) {
    const std::size_t chunk = std::min(kChunkBytes, bytes - offset % bytes);
    if (!out_.has_cell()) return 0;
    Cell& cell = out_.cell();
    std::byte* const memory = out_.bulk(chunk, cell.stretch);
    if (memory == nullptr) return 0;
    std::memcpy(memory, memory_.sent + offset, chunk);
    out_.take(cell.stretch);
    out_.publish();
    return chunk;
  }
  std::size_t read_chunk(std::size_t offset) {
    const Cell* const cell = in_.peek();
    if (cell == nullptr) return 0;
    const std::size_t chunk = cell->stretch.bytes;
    std::memcpy(memory_.received + offset, in_.bulk(cell->stretch), chunk);
    in_.release(cell->stretch);
    in_.pop();
    return chunk;
  }

  const ExchangeMemory& memory_;
  std::size_t me_;
  pid_t peer_;
  RingWriter out_;
  RingReader in_;
  std::uint64_t barriers_ = 0;
  std::uint64_t exchanges_ = 0;
  int value_ = 0;
};

struct Way {
  const char* name;
  const char* help;
  void (Side::*exchange)(std::size_t bytes);
  std::size_t max_bytes;
  bool mapped = false;
};

constexpr std::array<Way, 4> kWays = {
    {{"cells", "through rings of cache lines", &Side::through_cells, Cell::kInlineBytes},
     {"mapped", "one copy out of memory that both map", &Side::from_mapped, SIZE_MAX, true},
     {"kernel", "process_vm_readv", &Side::by_kernel, SIZE_MAX},
     {"ring", "copied into a shared ring and out again", &Side::through_ring, SIZE_MAX}}};

double batch_us(Side& side, const Way& way, std::size_t bytes, int calls, bool rewrite) {
  side.barrier();
  const auto begin = std::chrono::steady_clock::now();
  for (int call = 0; call < calls; ++call) {
    if (rewrite) side.rewrite(way.mapped, bytes);
    (side.*way.exchange)(bytes);
  }
  const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
  return time.count() / calls;
}

/// Both processes run this; what it returns matters in one.
std::vector<std::vector<double>> measure(Side& side, const LimitsOptions& options, std::size_t bytes) {
  // About 10 GB/s, and never so few that the clock matters: the same number in both processes.
  const double expected_us = 0.3 + static_cast<double>(kMessages * bytes) / 10'000;
  const int calls = options.plan.calls > 0 ? options.plan.calls
                                           : std::max(3, static_cast<int>(1000 * options.plan.batch_ms / expected_us));
  std::vector<std::vector<double>> samples(kWays.size());
  for (int batch = -1; batch < options.plan.batches; ++batch)  // the first is not counted
    for (std::size_t i = 0; i < kWays.size(); ++i) {
      if (bytes > kWays[i].max_bytes) continue;
      const int warmup = batch < 0 ? options.plan.warmup : 0;
      const double us = batch_us(side, kWays[i], bytes, calls + warmup, options.rewrite);
      if (batch >= 0) samples[i].push_back(us);
    }
  return samples;
}

void measure_all(Side& side, const LimitsOptions& options, bool shows) {
  bench::Rows rows(options.files, shows);
  std::vector<std::string> titles = {"bytes"};
  for (const Way& way : kWays) titles.push_back(fmt::format("{} us", way.name));
  if (shows)
    fmt::print(
        "\n# {} limits: two processes, on processors 0 and 1, send each other {} messages at once{}\n# us per "
        "exchange: median of {} batches\n",
        program_name(), kMessages, options.rewrite ? ", send buffers rewritten each time (included)" : "",
        options.plan.batches);
  std::optional<bench::Table> table;
  if (shows) table.emplace(titles);
  for (const std::size_t bytes : bench::parse_sizes(options.sizes)) {
    const auto samples = measure(side, options, bytes);
    if (!shows) continue;
    std::vector<std::string> cells = {std::to_string(bytes)};
    for (std::size_t i = 0; i < kWays.size(); ++i) {
      cells.push_back(samples[i].empty() ? "-" : bench::number(bench::spread_of(samples[i]).median));
      if (samples[i].empty()) continue;
      bench::Row row = {{"bench", "limits"},
                        {"library", "limit"},
                        {"form", kWays[i].name},
                        {"timed", kWays[i].help},
                        {"rewritten", options.rewrite},
                        {"ranks", 2},
                        {"batches", options.plan.batches},
                        {"bytes", bytes}};
      bench::add_times(row, "us", samples[i]);
      rows.add(std::move(row));
    }
    table->print(cells);
  }
  rows.write();
}

/// A process that fails takes the other along, which would wait for it for ever.
void take_part(const ExchangeMemory& memory, const LimitsOptions& options, std::size_t me, pid_t peer) {
  try {
    // Where Yama restricts who may read a process's memory; elsewhere it fails, which changes nothing.
    ::prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    pin(me);
    Side side(memory, me, peer);
    side.rewrite(false, most_bytes(options));
    side.rewrite(true, most_bytes(options));
    measure_all(side, options, me == 0);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{} limits: {}\n", program_name(), error.what());
    ::kill(peer, SIGKILL);
    ::_exit(1);
  }
}

void run(const LimitsOptions& options) {
  const ExchangeMemory memory(most_bytes(options));
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) fail("fork");
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    take_part(memory, options, 1, parent);
    ::_exit(0);
  }
  take_part(memory, options, 0, child);
  int status = 0;
  if (::waitpid(child, &status, 0) != child) fail("waitpid");
  if (status != 0) throw std::runtime_error(fmt::format("the other process failed: status {}", status));
}

}  // namespace

Action add_limits(CLI::App& app) {
  const auto options = std::make_shared<LimitsOptions>();
  bench::add_sizes(app, options->sizes, "Bytes of each message: a range FIRST:LAST[:FACTOR] or a list");
  bench::add_batch_options(app, options->plan);
  app.add_flag("--rewrite", options->rewrite, "Each process rewrites its send buffer before each exchange");
  bench::add_file_options(app, options->files);
  return {.run = [options](const Job&) { run(*options); }, .without_mpi = true};
}

}  // namespace perf
