#include "bindings/tools/tune_measure.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>

#include "bindings/native/base/access.h"
#include "bindings/tools/patterns.h"
#include "bindings/tools/progress_line.h"
#include "bindings/tools/tune_rules.h"
#include "collectives/calls/buffers.h"
#include "collectives/choice/registry.h"
#include "core/topology/node_map.h"
#include "fab/error.h"
#include "fab/fab.h"

namespace fab::tools {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kBatches = 5;  ///< of each algorithm, in turns; their median counts

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// The first ranks of the job, whose nodes are all alike.
struct Group {
  Communicator communicator;
  collectives::Where where = collectives::Where::anywhere;
  int per_node = 1;
};

Group group_of(Communicator communicator) {
  const core::Communicator& core = *Access::core(communicator);
  const int size = communicator.size();
  Group group{std::move(communicator)};
  if (core.is_on_one_node()) {
    group.where = collectives::Where::node;
    group.per_node = size;
  } else if (const core::NodeMap* nodes = core.nodes()) {
    group.where = collectives::Where::nodes;
    group.per_node = nodes->largest();
    if (size % nodes->largest() != 0 || *nodes != core::NodeMap::regular(size, nodes->largest()))
      throw Error(Errc::invalid_argument,
                  fmt::format("measure: {} ranks on {} nodes; as many consecutive ranks on each are valid (mpirun "
                              "--map-by slot, and multiples of a node's ranks for -n)",
                              size, nodes->nodes()));
  }
  return group;
}

/// One call by one algorithm, which can be repeated.
struct Subject {
  std::string algorithm;
  PersistentExchange exchange;
  std::vector<double> batches{};  ///< seconds for each repetition, of this rank

  void run(int repetitions) {
    for (int i = 0; i < repetitions; ++i) {
      exchange.start();
      exchange.wait();
    }
  }
};

class Measurement {
 public:
  Measurement(const MeasureRequest& request, const Group& group, double call_seconds)
      : group_(group), call_seconds_(call_seconds), send_(request.memory), recv_(request.memory) {}

  [[nodiscard]] std::vector<Candidate> candidates(Collective collective, std::size_t bytes) {
    std::vector<Subject> subjects = subjects_of(collective, bytes);
    const int repetitions = repetitions_for(subjects);
    for (int batch = 0; batch < kBatches; ++batch)
      for (Subject& subject : subjects) {
        barrier(group_.communicator);
        const auto begin = Clock::now();
        subject.run(repetitions);
        subject.batches.push_back(seconds_since(begin) / repetitions);
      }
    std::vector<Candidate> result;
    for (Subject& subject : subjects) result.push_back({subject.algorithm, {median_of_all(subject.batches)}});
    return result;
  }

 private:
  std::vector<Subject> subjects_of(Collective collective, std::size_t bytes) {
    const PatternCall call{
        .ranks = group_.communicator.size(), .bytes = bytes, .per_node = std::max(group_.per_node, 1)};
    std::vector<Subject> subjects;
    for (const collectives::Algorithm& algorithm : collectives::algorithms(collective)) {
      if (algorithm.teaches) continue;
      const Pattern pattern = find_patterns(std::string(to_string(collective)), algorithm.name).front();
      if (!pattern.allows(call)) continue;
      const auto bases = collectives::buffers(send_.data(), recv_.data());
      subjects.push_back({algorithm.name, Access::exchange({Access::core(group_.communicator),
                                                            pattern.build(group_.communicator.rank(), call), bases})});
    }
    return subjects;
  }

  /// As many as fit into a batch, by a first repetition of each, which also warms up; the same on all ranks.
  int repetitions_for(std::vector<Subject>& subjects) {
    constexpr double kMost = 10'000;
    for (Subject& subject : subjects) subject.run(1);
    barrier(group_.communicator);
    const auto begin = Clock::now();
    for (Subject& subject : subjects) subject.run(1);
    const double each = std::max(seconds_since(begin), 1e-9);
    int repetitions = static_cast<int>(std::clamp(call_seconds_ / kBatches / each, 1.0, kMost));
    bcast(group_.communicator, repetitions, Root{0});
    return repetitions;
  }

  /// A batch takes as long as its slowest rank.
  double median_of_all(std::vector<double>& batches) {
    allreduce(group_.communicator, batches, ReduceOp::max);
    const auto middle = batches.begin() + kBatches / 2;
    std::ranges::nth_element(batches, middle);
    return *middle;
  }

  const Group& group_;
  double call_seconds_;
  std::vector<std::byte> send_;
  std::vector<std::byte> recv_;
};

/// Grids of groups that are of one kind, in the order in which their rules are to stand: more ranks on each node first.
class Grids {
 public:
  TuneGrid& of(Collective collective, const Group& group) {
    const int least = group.where == collectives::Where::nodes ? group.per_node : 1;
    const auto is_it = [&](const TuneGrid& each) {
      return each.collective == collective && each.where == group.where && each.least_per_node == least;
    };
    const auto found = std::ranges::find_if(grids_, is_it);
    if (found != grids_.end()) return *found;
    grids_.push_back({.collective = collective, .least_per_node = least, .where = group.where});
    return grids_.back();
  }

  [[nodiscard]] std::vector<collectives::Rule> rules(double within) {
    std::ranges::stable_sort(grids_, std::greater<>(), &TuneGrid::least_per_node);
    std::vector<collectives::Rule> all;
    for (const TuneGrid& grid : grids_) {
      const auto more = rules_of(grid, choose_algorithms(grid, within));
      all.insert(all.end(), more.begin(), more.end());
    }
    return all;
  }

 private:
  std::vector<TuneGrid> grids_;
};

/// Those that all groups have the memory for.
std::vector<std::size_t> sizes_of(const MeasureRequest& request) {
  const std::size_t most = request.memory / static_cast<std::size_t>(*std::ranges::max_element(request.ranks));
  std::vector<std::size_t> sizes;
  std::ranges::copy_if(request.bytes, std::back_inserter(sizes), [most](std::size_t each) { return each <= most; });
  if (sizes.empty())
    throw Error(Errc::invalid_argument,
                fmt::format("--memory: each rank has room for blocks of {} bytes, and --bytes begins with {}", most,
                            request.bytes.front()));
  return sizes;
}

void measure(const Group& group, const MeasureRequest& request, double call_seconds, Grids& grids,
             ProgressLine& progress) {
  Measurement measurement(request, group, call_seconds);
  const std::vector<Collective>& wanted = request.collectives;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    TuneGrid& grid = grids.of(wanted[i], group);
    grid.bytes = wanted[i] == Collective::barrier ? std::vector<std::size_t>{0} : sizes_of(request);
    grid.ranks.push_back(group.communicator.size());
    grid.candidates.emplace_back();
    if (group.communicator.rank() == 0)
      progress.show(fmt::format("collectives, at {}, of {} ranks", to_string(wanted[i]), grid.ranks.back()).c_str(), i,
                    wanted.size());
    for (const std::size_t bytes : grid.bytes)
      grid.candidates.back().push_back(measurement.candidates(wanted[i], bytes));
  }
}

}  // namespace

std::vector<collectives::Rule> measure_rules(const Communicator& world, const MeasureRequest& request) {
  const std::size_t calls = request.ranks.size() * request.collectives.size() * sizes_of(request).size();
  ProgressLine progress;
  progress.begin("measuring");
  Grids grids;
  for (const int ranks : request.ranks) {
    std::vector<Rank> first(static_cast<std::size_t>(ranks));
    std::iota(first.begin(), first.end(), 0);
    if (std::optional<Communicator> subset = world.subset(first))
      measure(group_of(std::move(*subset)), request, request.seconds / static_cast<double>(calls), grids, progress);
    barrier(world);
  }
  progress.clear();
  return grids.rules(request.within);
}

}  // namespace fab::tools
