// What the subcommands that measure exchanges between neighbours have in common: they take size after size.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "perf/command.h"
#include "perf/size_progress.h"
#include "support/contest.h"
#include "support/exchange_options.h"
#include "support/neighbors.h"
#include "support/rows.h"
#include "support/table.h"

namespace perf {

/// `Options` is a bench::ExchangeOptions, which outlives this.
template <class Options>
class Measurement {
 public:
  virtual ~Measurement() = default;
  Measurement(const Measurement&) = delete;
  Measurement& operator=(const Measurement&) = delete;

  /// Collective.
  void run() {
    for_each_size(
        command_, job_, bench::sizes(options_), [&](std::size_t size) { return time(size); },
        [&](std::size_t size, const std::vector<bench::Result>& results) { show(size, results); });
    rows_.write();
  }

 protected:
  Measurement(const char* command, const Options& options, const Job& job)
      : command_(command),
        options_(options),
        job_(job),
        neighbors_(options.pattern),
        rows_(options.files, job.rank == 0) {}

  /// Of one size. Collective.
  virtual std::vector<bench::Result> time(std::size_t size) = 0;
  /// In the table and in the rows. On rank 0.
  virtual void show(std::size_t size, const std::vector<bench::Result>& results) = 0;

  const char* command_;
  const Options& options_;
  Job job_;
  bench::Neighbors neighbors_;
  std::optional<bench::Table> table_;
  bench::Rows rows_;
};

}  // namespace perf
