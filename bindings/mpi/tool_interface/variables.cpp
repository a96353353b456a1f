#include "bindings/mpi/tool_interface/variables.h"

#include "bindings/mpi/base/process_context.h"

namespace fab::mpi {

namespace {

Statistics statistics() { return is_open() ? process_context().statistics() : Statistics{}; }

constexpr bool kSum = false;
constexpr bool kLargest = true;

constexpr PerformanceVariable kVariables[] = {
    {"fab_calls", "Exchanges and collectives that were started, sends and receives", kSum,
     [] { return statistics().totals().calls; }},
    {"fab_sent_messages", "Messages that these sent", kSum, [] { return statistics().totals().sent.messages; }},
    {"fab_sent_bytes", "Bytes of those messages", kSum, [] { return statistics().totals().sent.bytes; }},
    {"fab_packed_bytes", "Bytes of those messages that were copied together first", kSum,
     [] { return statistics().totals().packed.bytes; }},
    {"fab_received_messages", "Messages that these received", kSum,
     [] { return statistics().totals().received.messages; }},
    {"fab_received_bytes", "Bytes of those messages", kSum, [] { return statistics().totals().received.bytes; }},
    {"fab_waits", "Waits that their first polls did not end", kSum, [] { return statistics().totals().waited.waits; }},
    {"fab_waited_ns", "Nanoseconds in those waits", kSum, [] { return statistics().totals().waited.total_ns; }},
    {"fab_longest_wait_ns", "Nanoseconds of the longest of them", kLargest,
     [] { return statistics().totals().waited.most_ns; }},
    {"fab_plans", "Plans that were made, at first calls of a shape", kSum, [] { return statistics().totals().plans; }},
    {"fab_plans_ns", "Nanoseconds in which they were made", kSum, [] { return statistics().totals().plans_ns; }},
    {"fab_polls", "Polls of the providers", kSum, [] { return statistics().counter("polls"); }},
    {"fab_refused_posts", "Posts that a provider had no room for, and that were repeated", kSum,
     [] { return statistics().counter("refused_posts"); }},
    {"fab_caller_sleeps", "Sleeps of waiting callers", kSum, [] { return statistics().counter("caller_sleeps"); }},
    {"fab_late_wake_ups", "Sleeps that ended by their time limit although an event had come", kSum,
     [] { return statistics().counter("late_wake_ups"); }},
};

}  // namespace

std::span<const PerformanceVariable> performance_variables() noexcept { return kVariables; }

}  // namespace fab::mpi
