#include "bindings/mpi/tool_interface/variables.h"

#include <vector>

#include "bindings/mpi/base/process_context.h"

namespace fab::mpi {

namespace {

using core::Figure;

std::vector<PerformanceVariable> all_variables() {
  std::vector<PerformanceVariable> all;
  core::visit_rank_figures({}, [&](const Figure& figure, std::uint64_t, bool) {
    if (figure.variable != nullptr) all.push_back({core::variable_name(figure), &figure});
  });
  return all;
}

}  // namespace

std::uint64_t PerformanceVariable::read() const {
  std::uint64_t found = 0;
  if (!is_open()) return found;
  core::visit_rank_figures(process_context().statistics(), [&](const Figure& one, std::uint64_t value, bool) {
    if (&one == figure) found = value;
  });
  return found;
}

// Never destroyed: tools may ask until the process ends.
std::span<const PerformanceVariable> performance_variables() noexcept {
  static const std::vector<PerformanceVariable>& all = *new std::vector<PerformanceVariable>(all_variables());
  return all;
}

}  // namespace fab::mpi
