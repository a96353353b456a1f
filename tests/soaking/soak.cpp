// Mixed operations for a long time: several threads of every rank exchange, combine and send, each on communicators of
// its own, and look at every byte. Memory and descriptors must stay what they were half-way.
//
//   fab_soak [--operations N] [--threads T] [--seed S]
//
// N operations of each rank, all threads together. Rank 0 prints twenty lines on the way and a summary.
#include <fmt/core.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <thread>
#include <vector>

#include "fab/fab.h"
#include "soaking/measure.h"
#include "soaking/mixture.h"

namespace fab::test {
namespace {

constexpr std::uint64_t kLines = 20;

struct Options {
  std::uint64_t operations = 100'000;
  unsigned threads = 4;
  std::uint64_t seed = 1;
};

Options read(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    const std::uint64_t value = std::strtoull(argv[i + 1], nullptr, 10);
    if (name == "--operations")
      options.operations = value;
    else if (name == "--threads")
      options.threads = static_cast<unsigned>(value);
    else if (name == "--seed")
      options.seed = value;
    else
      throw Error(Errc::invalid_argument, fmt::format("fab_soak: unknown option {}", name));
  }
  if (argc % 2 == 0 || options.operations < 1 || options.threads < 1)
    throw Error(Errc::invalid_argument, "fab_soak: [--operations N] [--threads T] [--seed S], each 1 or more");
  return options;
}

class Soak {
 public:
  Soak(const Context& context, const Options& options)
      : context_(context),
        options_(options),
        per_thread_((options.operations + options.threads - 1) / options.threads) {}

  /// Returns whether this rank saw nothing wrong.
  bool run() {
    std::vector<Mixture> mixtures;
    mixtures.reserve(options_.threads);
    for (unsigned i = 0; i < options_.threads; ++i)
      mixtures.emplace_back(context_.world().duplicate(), options_.seed * 1000 + i);
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < options_.threads; ++i) threads.emplace_back([&, i] { run_thread(mixtures[i], i == 0); });
    for (std::thread& thread : threads) thread.join();
    return report();
  }

 private:
  void run_thread(Mixture& mixture, bool first) try {
    for (std::uint64_t i = 0; i < per_thread_; ++i) {
      wrong_bytes_ += mixture.next();
      if (first) passed(i + 1);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "soak: rank {}: {}\n", context_.rank(), error.what());
    std::_Exit(1);  // the others learn of it, and end too
  }

  void passed(std::uint64_t done) {
    if (done == (per_thread_ + 1) / 2) half_way_ = measure();
    if (context_.rank() != 0 || done * kLines / per_thread_ == (done - 1) * kLines / per_thread_) return;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    const Usage usage = measure();
    fmt::print("soak: {:3} %, {} operations, {:.0f}/s, {} KiB, {} descriptors, {} wrong bytes\n",
               done * 100 / per_thread_, done * options_.threads,
               static_cast<double>(done * options_.threads) / seconds, usage.resident_kib, usage.descriptors,
               wrong_bytes_.load());
    std::fflush(stdout);
  }

  bool report() {
    const Usage end = measure();
    const bool flat = is_flat(half_way_, end);
    const bool well = flat && wrong_bytes_ == 0;
    const int rank = context_.rank();
    if (!well || rank == 0)
      fmt::print(
          "soak: rank {} of {}, {} threads, {}: {} operations, {} wrong bytes, {} -> {} KiB, {} -> {} "
          "descriptors: {}\n",
          rank, context_.size(), options_.threads, context_.transport(), per_thread_ * options_.threads,
          wrong_bytes_.load(), half_way_.resident_kib, end.resident_kib, half_way_.descriptors, end.descriptors,
          well   ? "well"
          : flat ? "WRONG BYTES"
                 : "NOT FLAT");
    return well;
  }

  const Context& context_;
  const Options options_;
  const std::uint64_t per_thread_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::atomic<std::uint64_t> wrong_bytes_{0};
  Usage half_way_;
};

}  // namespace
}  // namespace fab::test

int main(int argc, char** argv) try {
  using namespace fab;
  const test::Options options = test::read(argc, argv);
  Context context = Context::open();
  const bool well = test::Soak(context, options).run();
  const std::int64_t mine = well ? 0 : 1;
  std::int64_t failed = 0;
  allreduce(context.world(), &mine, &failed, Layout::contiguous(sizeof(mine)), Operator::of<long>(ReduceOp::sum));
  context.close();
  return failed == 0 ? 0 : 1;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 2;
}
