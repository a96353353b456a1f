#include "heat_threads.h"

#include <array>
#include <barrier>
#include <cstddef>
#include <thread>
#include <vector>

#include "turns.h"

namespace apps::heat {
namespace {

// The steps of one rank.
class Threads {
 public:
  Threads(const Block& block, fab::HaloExchange& halo, bool in_parts, const ThreadsRun& run)
      : block_(block),
        halo_(halo),
        in_parts_(in_parts),
        at_once_(run.at_once),
        steps_(run.steps),
        threads_(static_cast<std::size_t>(run.threads)),
        parts_{.count = threads_},
        meeting_(run.threads) {}

  // Returns the error of the result.
  double perform() {
    fields_ = {halo_.field<double>().data(), halo_.other_field<double>().data()};
    block_.fill(fields_[0]);
    halo_.start();
    for (std::size_t part = 0; in_parts_ && part < threads_; ++part) halo_.ready(part);
    halo_.finish();
    {
      std::vector<std::jthread> team;
      for (std::size_t thread = 1; thread < threads_; ++thread) team.emplace_back([this, thread] { work(thread); });
      work(0);
    }
    return block_.largest_error(halo_.field<double>().data(), steps_);
  }

 private:
  // Each step computes the field that travels next.
  void work(std::size_t thread) {
    const fab::Box slab = halo_.geometry().part(parts_, thread);
    const std::size_t begin = slab.start[0];
    const std::size_t end = begin + slab.size[0];
    const bool leads = thread == 0;
    for (int step = 0; step < steps_; ++step) {
      const double* now = fields_[static_cast<std::size_t>(step % 2)];
      double* next = fields_[static_cast<std::size_t>(1 - step % 2)];
      if (leads) {
        halo_.flip();
        if (in_parts_) halo_.start();
      }
      meeting_.arrive_and_wait();
      block_.relax_faces(now, next, begin, end);
      if (at_once_) block_.relax_inside(now, next, begin, end);
      if (in_parts_) {
        halo_.ready(thread);
      } else {
        meeting_.arrive_and_wait();
        if (leads) halo_.start();
      }
      if (!at_once_) block_.relax_inside(now, next, begin, end);
      meeting_.arrive_and_wait();
      if (leads) halo_.finish();
    }
  }

  const Block& block_;
  fab::HaloExchange& halo_;
  bool in_parts_;
  bool at_once_;
  int steps_;
  std::size_t threads_;
  fab::HaloParts parts_;
  std::barrier<> meeting_;
  std::array<double*, 2> fields_{};
};

}  // namespace

int compare_threads(const Block& block, const fab::Communicator& world, const fab::HaloOptions& options,
                    const ThreadsRun& run) {
  fab::HaloExchange in_parts(world, options, {.count = static_cast<std::size_t>(run.threads)});
  fab::HaloExchange whole(world, options);
  return compare({.program = "heat",
                  .work = [&] { return Threads(block, in_parts, true, run).perform(); },
                  .other_work = [&] { return Threads(block, whole, false, run).perform(); },
                  .names = {"in parts", "whole"},
                  .tolerance = 1e-14 * run.steps,
                  .turns = run.turns});
}

}  // namespace apps::heat
