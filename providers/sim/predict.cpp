#include "providers/sim/predict.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "fab/error.h"
#include "providers/sim/simulation.h"

namespace fab::sim {

namespace {

/// One at most: ends what a rank with a long schedule would make longer.
constexpr double kFarMore = 4;
constexpr int kSample = 24;

Work work_of(const Schedule& schedule) {
  const auto is_send = [](const OperationRecord& each) { return each.kind == OperationKind::send; };
  const auto operations = schedule.operations();
  return {.operations = static_cast<double>(operations.size()),
          .messages = static_cast<double>(std::ranges::count_if(operations, is_send))};
}

/// Spread over all ranks, and not in step with powers of two, which trees and hypercubes are.
Rank sampled(int i, int ranks) {
  constexpr double kGoldenRatio = 0.6180339887498949;
  const double place = kGoldenRatio * (i + 1);
  return static_cast<Rank>((place - std::floor(place)) * ranks);
}

}  // namespace

std::vector<Prediction> predict(const Model& model, int ranks, const ScheduleOf& schedule_of,
                                const PredictOptions& options) {
  if (ranks < 1)
    throw Error(Errc::invalid_argument, fmt::format("sim::predict: {} ranks; at least 1 is needed", ranks));
  if (model.shares() && model.processors_pay())
    throw Error(Errc::invalid_argument,
                "sim::predict: ranks share a card or memory, and processors pay G; only cards that pay can be shared");
  Programs programs(ranks);
  for (Rank rank = 0; rank < ranks; ++rank) {
    programs.add(schedule_of(rank));
    if (options.watch && rank % 1024 == 0)
      options.watch({"schedules", static_cast<std::uint64_t>(rank), static_cast<std::uint64_t>(ranks)});
  }
  SimulationInput input{model, options, std::move(programs), ranks};
  return model.processors_pay() ? simulate_processors(std::move(input)) : simulate_cards(std::move(input));
}

Work estimate_work(int ranks, Rank root, const ScheduleOf& schedule_of, double enough) {
  const double others = ranks - 1;
  Work sum;
  int count = 0;
  for (int i = 0; i < std::min(kSample, 2 * ranks); ++i) {
    const Rank rank = sampled(i, ranks);
    if (rank == root) continue;
    const Work work = work_of(schedule_of(rank));
    sum.operations += work.operations;
    sum.messages += work.messages;
    ++count;
    if (sum.operations / count * others > kFarMore * enough) break;
  }
  Work all = sum;
  if (count > 0) all = {.operations = sum.operations / count * others, .messages = sum.messages / count * others};
  if (all.operations > kFarMore * enough) return all;
  const Work work = work_of(schedule_of(root));
  return {.operations = all.operations + work.operations, .messages = all.messages + work.messages};
}

Time longest(std::span<const Prediction> predictions) {
  const auto last = std::ranges::max_element(predictions, {}, &Prediction::end);
  return last == predictions.end() ? Time{} : last->end;
}

}  // namespace fab::sim
