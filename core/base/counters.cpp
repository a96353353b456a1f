#include "core/base/counters.h"

#include <fmt/core.h>

namespace fab::core {

namespace {

constexpr CounterRow kRows[] = {
    {Counter::caller_sleeps, "caller_sleeps", "Sleeps of waiting callers on the descriptors of the providers"},
    {Counter::thread_sleeps, "thread_sleeps",
     "Sleeps of the progress thread on these descriptors while an operation was in flight"},
    {Counter::woken_callers, "woken_callers", "Sleeping callers that another thread woke"},
    {Counter::late_wake_ups, "late_wake_ups",
     "Sleeps that ended by their time limit although an event had come (a bug of fab or of a provider; must be 0)"},
    {Counter::strangers, "strangers",
     "Messages and writes that were dropped: no rank of the job can have sent them, or they are invalid"},
};

constexpr bool in_order() {
  std::size_t number = 0;
  for (const CounterRow& row : kRows)
    if (static_cast<std::size_t>(row.counter) != number++) return false;
  return true;
}
static_assert(in_order());

}  // namespace

std::span<const CounterRow> counter_rows() noexcept { return kRows; }

std::string Counters::text() const {
  std::string text;
  for (const CounterRow& row : kRows)
    if (const std::uint64_t value = (*this)[row.counter]; value != 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", row.name, value);
  return text;
}

}  // namespace fab::core
