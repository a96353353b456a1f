#include "bindings/tools/tune_lengths.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "bindings/native/base/access.h"
#include "bindings/native/context/open_context.h"
#include "bindings/tools/progress_line.h"
#include "bindings/tools/worth_copying.h"
#include "core/bootstrap/store.h"
#include "core/communicator/communicator.h"
#include "core/context.h"
#include "fab/fab.h"
#include "providers/local/thresholds.h"

namespace fab::tools {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::array<std::uint64_t, 17> kLengths{512,   1024,  2048,  3072,  4096,   6144,   8192,   12288,  16384,
                                                 24576, 32768, 49152, 65536, 131072, 262144, 524288, 1048512};
/// Of messages that do not change, of which none beyond kMostCopiedWhole are copied.
constexpr std::size_t kLengthsOfConstant = 13;
static_assert(kLengths[kLengthsOfConstant - 1] <= kMostCopiedWhole && kLengths[kLengthsOfConstant] > kMostCopiedWhole);
constexpr int kBatchesOfAWay = 5;  ///< of each way, in turns; their median counts
constexpr double kCloseTimeoutS = 10;

/// Rank 0 and the next rank of its node; empty: there is none.
std::vector<Rank> pair_of(const core::Communicator& world) {
  const JobInfo& job = world.context().job();
  std::vector<Rank> ranks;
  for (const Rank rank : job.node_ranks)
    if (ranks.size() < 2) ranks.push_back(rank);
  if (ranks.size() < 2 || ranks.front() != 0) ranks.clear();
  return ranks;
}

/// A context of its own with these lengths, and a ring of the two ranks in it.
class Way {
 public:
  Way(const LongestCopied& longest, std::span<const Rank> pair)
      : context_(open_context(config(longest), open_store())) {
    const Communicator world = Access::communicator(core::Communicator::world(context_));
    if (const std::optional<Communicator> two = world.subset(pair)) ring_ = two->cartesian({2}, {true});
  }
  ~Way() {
    ring_.reset();
    context_->close(std::uncaught_exceptions() == 0 ? kCloseTimeoutS : 0);
    context_->leave_launcher();
  }
  Way(const Way&) = delete;
  Way& operator=(const Way&) = delete;

  /// None on ranks that only look on.
  [[nodiscard]] const std::optional<Communicator>& ring() const noexcept { return ring_; }

 private:
  static Config config(const LongestCopied& longest) {
    Config config = read_config(process_environment);
    config.local_long = LocalLong::automatic;
    config.rules.clear();
    config.trace_file.clear();
    config.stats = false;
    config.engines = 1;
    config.local_lengths = LocalLengths{.program = longest, .fab = longest};
    return config;
  }

  std::shared_ptr<core::Context> context_;
  std::optional<Communicator> ring_;
};

/// Both ways of messages that change, or that do not. They are as programs will meet them: to find out that a message
/// changes costs time where that decides about its way, and so where a changing one is copied, and a constant one not.
struct Ways {
  static constexpr std::uint64_t kLeast = kLeastLongestCopied;
  static constexpr std::uint64_t kMost = kMostCopiedWhole;

  static Ways of_changing(std::span<const Rank> pair) {
    return {.copied{{.unknown = kMost, .changing = kMostLongestCopied, .constant = kLeast}, pair},
            .announced{{.unknown = kLeast, .changing = kLeast, .constant = kLeast}, pair}};
  }
  static Ways of_constant(std::span<const Rank> pair) {
    return {.copied{{.unknown = kMost, .changing = kMost, .constant = kMost}, pair},
            .announced{{.unknown = kLeast, .changing = kMost, .constant = kLeast}, pair}};
  }

  Way copied;
  Way announced;
};

/// Two buffers with a block for each direction of the ring.
struct Buffers {
  std::span<std::byte> send;
  std::span<std::byte> recv;
};

class LengthMeasurement {
 public:
  /// `rewrites`: the program writes what it sends before each start, which counts.
  LengthMeasurement(const Ways& ways, bool rewrites, double seconds_each)
      : rings_{&*ways.copied.ring(), &*ways.announced.ring()}, rewrites_(rewrites), seconds_each_(seconds_each) {}

  [[nodiscard]] WayTimes times(std::uint64_t bytes, const Buffers& buffers) const {
    std::array<PersistentExchange, 2> exchanges{make(*rings_[0], bytes, buffers), make(*rings_[1], bytes, buffers)};
    const std::span<std::byte> written = rewrites_ ? buffers.send.first(2 * bytes) : std::span<std::byte>();
    const int repetitions = repetitions_for(exchanges, written);
    std::array<std::vector<double>, 2> batches;
    for (int batch = 0; batch < kBatchesOfAWay; ++batch)
      for (std::size_t way = 0; way < 2; ++way) batches[way].push_back(seconds(exchanges[way], written, repetitions));
    return {.bytes = bytes, .copied = median(batches[0]), .announced = median(batches[1])};
  }

 private:
  static PersistentExchange make(const Communicator& ring, std::uint64_t bytes, const Buffers& buffers) {
    return fab::neighbor_xchg.persistent(ring, buffers.send.first(2 * bytes), buffers.recv.first(2 * bytes));
  }

  static double seconds(PersistentExchange& exchange, std::span<std::byte> written, int repetitions) {
    const auto begin = Clock::now();
    for (int i = 0; i < repetitions; ++i) {
      std::ranges::fill(written, static_cast<std::byte>(i));
      exchange.start();
      exchange.wait();
    }
    return std::chrono::duration<double>(Clock::now() - begin).count() / repetitions;
  }

  /// As many as fit into a batch; the same on both ranks. Warms up, too, until constant messages are known as such.
  int repetitions_for(std::array<PersistentExchange, 2>& exchanges, std::span<std::byte> written) const {
    constexpr int kWarmUp = 100;
    double each = 1e-9;
    for (PersistentExchange& exchange : exchanges) each = std::max(each, seconds(exchange, written, kWarmUp));
    int repetitions = static_cast<int>(std::clamp(seconds_each_ / (2 * kBatchesOfAWay) / each, 10.0, 1e5));
    bcast(*rings_[0], repetitions, Root{0});
    return repetitions;
  }

  static double median(std::vector<double>& values) {
    const auto middle = values.begin() + kBatchesOfAWay / 2;
    std::ranges::nth_element(values, middle);
    return *middle;
  }

  std::array<const Communicator*, 2> rings_;
  bool rewrites_;
  double seconds_each_;
};

std::uint64_t longest_of(const LengthMeasurement& measurement, std::span<const std::uint64_t> lengths,
                         const Buffers& buffers, double within) {
  std::vector<WayTimes> all;
  for (const std::uint64_t bytes : lengths) all.push_back(measurement.times(bytes, buffers));
  const std::uint64_t longest = longest_worth_copying(all, within);
  return std::clamp(longest + local::kHeadBytes, kLeastLongestCopied, kMostLongestCopied);
}

/// What nothing is known of lies between what changes and what does not.
std::uint64_t unknown_between(const LongestCopied& longest, std::uint64_t built_in) {
  const auto [least, most] = std::minmax(longest.changing, longest.constant);
  return std::clamp(built_in, least, most);
}

LocalLengths measure_both(const Ways& of_changing, const Ways& of_constant, double seconds, double within) {
  constexpr std::size_t kBytes = 2 * kLengths.back();
  const double seconds_each = seconds / (4 * kLengths.size());
  const LengthMeasurement changing(of_changing, true, seconds_each);
  const LengthMeasurement constant(of_constant, false, seconds_each);
  std::vector<std::byte> send(kBytes);
  std::vector<std::byte> recv(kBytes);
  Array<std::byte> fab_send = make_array<std::byte>(kBytes);
  Array<std::byte> fab_recv = make_array<std::byte>(kBytes);
  const Buffers program{send, recv};
  const Buffers fab{{fab_send.data(), kBytes}, {fab_recv.data(), kBytes}};
  LocalLengths lengths{};
  ProgressLine progress;
  progress.begin("measuring messages within the node");
  std::uint64_t found = 0;
  constexpr std::span<const std::uint64_t> kAll(kLengths);
  const auto find = [&](std::uint64_t& longest, const LengthMeasurement& measurement, const Buffers& buffers) {
    progress.show("lengths", found, 4);
    const bool changes = &measurement == &changing;
    longest = longest_of(measurement, changes ? kAll : kAll.first(kLengthsOfConstant), buffers, within);
    ++found;
  };
  find(lengths.program.changing, changing, program);
  find(lengths.program.constant, constant, program);
  find(lengths.fab.changing, changing, fab);
  find(lengths.fab.constant, constant, fab);
  lengths.program.unknown = unknown_between(lengths.program, local::kBuiltInLengths.program.unknown);
  lengths.fab.unknown = unknown_between(lengths.fab, local::kBuiltInLengths.fab.unknown);
  return lengths;
}

}  // namespace

std::optional<LocalLengths> measure_lengths(const Communicator& world, double seconds, double within) {
  int pair[2] = {-1, -1};
  const core::Communicator& core = *Access::core(world);
  if (core.context().config().local && core.rank() == 0)
    if (const std::vector<Rank> ranks = pair_of(core); !ranks.empty()) std::ranges::copy(ranks, pair);
  bcast(world, pair, Root{0});
  if (pair[1] < 0) return std::nullopt;
  std::optional<LocalLengths> lengths;
  {
    const Ways changing = Ways::of_changing(pair);
    const Ways constant = Ways::of_constant(pair);
    const std::optional<Communicator>& ring = changing.copied.ring();
    if (ring && Access::core(*ring)->is_on_one_node()) lengths = measure_both(changing, constant, seconds, within);
    barrier(world);  // to close a context takes all ranks, and those that look on wait for it so long only
  }
  return lengths;
}

}  // namespace fab::tools
