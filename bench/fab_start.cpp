// What fab itself takes for an exchange between two neighbours, less what moves the bytes: over a provider that does
// nothing. Google Benchmark's options apply (--benchmark_format=json, --benchmark_repetitions=N).
#include <benchmark/benchmark.h>

#include <array>
#include <chrono>
#include <deque>
#include <memory>
#include <vector>

#include "bench/support/google_benchmark.h"
#include "bench/support/null_provider.h"
#include "bindings/native/access.h"
#include "core/communicator/communicator.h"
#include "core/context.h"
#include "fab/communicator.h"
#include "fab/neighbor.h"

namespace {

using namespace fab;

constexpr std::size_t kBytes = 64;   ///< per neighbour
constexpr std::size_t kStarts = 16;  ///< in flight at once: few enough for the tags

/// Rank 0 of three, with the two others as its neighbours.
class Ring {
 public:
  Ring() {
    Config config = read_config([](const std::string&) { return std::optional<std::string>(); });
    config.progress = ProgressMode::caller;
    for (auto& store : open_memory_stores(3))
      contexts_.push_back(
          core::Context::open(config, std::move(store), [](const Config&, const JobInfo&, const Log&) -> Transports {
            return {.node = nullptr, .network = std::make_unique<bench::NullProvider>()};
          }));
    auto core = core::Communicator::world(contexts_.front());
    core->set_topology(Cartesian({3}, {true}));
    communicator_ = std::make_unique<Communicator>(Access::communicator(core));
    exchange().wait();
  }

  Request exchange() { return neighbor_xchg.start(*communicator_, send_.data(), recv_.data(), block_); }
  PersistentExchange persistent() {
    return neighbor_xchg.persistent(*communicator_, send_.data(), recv_.data(), block_);
  }
  void exchange_at_once() { neighbor_xchg(*communicator_, send_.data(), recv_.data(), block_); }

 private:
  std::vector<std::shared_ptr<core::Context>> contexts_;
  std::unique_ptr<Communicator> communicator_;
  std::array<std::byte, 2 * kBytes> send_{};
  std::array<std::byte, 2 * kBytes> recv_{};
  Layout block_ = Layout::contiguous(kBytes);
};

double seconds_of(auto&& action) {
  const auto begin = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void start(benchmark::State& state) {
  Ring ring;
  std::array<Request, kStarts> requests;
  for ([[maybe_unused]] auto _ : state) {
    state.SetIterationTime(seconds_of([&] {
                             for (Request& request : requests) request = ring.exchange();
                           }) /
                           kStarts);
    Request::wait_all(requests);
  }
}
BENCHMARK(start)->Name("cached start, two neighbours")->UseManualTime();

void start_persistent(benchmark::State& state, bool at_once) {
  Ring ring;
  std::vector<PersistentExchange> exchanges;
  for (std::size_t i = 0; i < kStarts; ++i) exchanges.push_back(ring.persistent());
  for ([[maybe_unused]] auto _ : state) {
    state.SetIterationTime(seconds_of([&] {
                             if (at_once) return PersistentExchange::start_all(exchanges);
                             for (PersistentExchange& exchange : exchanges) exchange.start();
                           }) /
                           kStarts);
    PersistentExchange::wait_all(exchanges);
  }
}
BENCHMARK_CAPTURE(start_persistent, alone, false)->Name("persistent start, two neighbours")->UseManualTime();
BENCHMARK_CAPTURE(start_persistent, at_once, true)->Name("one of sixteen persistent starts")->UseManualTime();

void exchange(benchmark::State& state) {
  Ring ring;
  for ([[maybe_unused]] auto _ : state) ring.exchange_at_once();
}
BENCHMARK(exchange)->Name("blocking exchange, two neighbours");

}  // namespace

int main(int argc, char** argv) { return fab::bench::run_google_benchmarks(argc, argv); }
