// Requests and persistent exchanges of the C API.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "bindings/native/c/handles.h"
#include "fab/wait_any.h"

namespace fab::c {

static_assert(sizeof(Request) <= sizeof(fab_request::state) && alignof(Request) <= alignof(std::uint64_t));

Request* request_in(fab_request& memory) noexcept {
  return memory.active == nullptr ? nullptr : std::launder(reinterpret_cast<Request*>(memory.state));
}

const Request* request_in(const fab_request& memory) noexcept {
  return memory.active == nullptr ? nullptr : std::launder(reinterpret_cast<const Request*>(memory.state));
}

void check_idle(const fab_request* memory) {
  if (given(memory, "request").active != nullptr)
    throw Error(Errc::invalid_argument, "the request is active, or was not initialised with {0}; wait for it first");
}

void put(fab_request* memory, Request&& request) {
  if (request.active()) memory->active = new (memory->state) Request(std::move(request));
}

std::chrono::duration<double> seconds_of(double seconds) {
  if (std::isnan(seconds)) throw Error(Errc::invalid_argument, "seconds is NaN; valid is any number");
  return std::chrono::duration<double>(seconds);
}

namespace {

/// How a wait or test of a request went.
struct Ended {
  bool complete = true;
  Status status;
};

/// The request is gone once it is complete.
template <class Wait>
fab_error end(fab_request* memory, int* complete, fab_message* message, Wait&& wait) {
  return guarded([&] {
    Request* const request = request_in(given(memory, "request"));
    if (request == nullptr) {
      if (complete != nullptr) *complete = 1;
      return tell(message, {});
    }
    const Result<bool> over = wait(*request);
    if (over && !*over) {
      *complete = 0;
      return;
    }
    const MessageInfo info = request->message();
    request->~Request();
    memory->active = nullptr;
    if (!over) throw Error(over.status().errc(), over.status().message);
    if (complete != nullptr) *complete = 1;
    tell(message, info);
  });
}

Result<bool> wait_for_end(Request& request) {
  Status status = request.wait_status();
  if (status.ok()) return true;
  return status;
}

}  // namespace

// Functions of C linkage are the same in every namespace, but FAB_API of their declarations does not come along.
#pragma GCC visibility push(default)
extern "C" {

fab_error fab_wait(fab_request* request, fab_message* message) { return end(request, nullptr, message, wait_for_end); }

fab_error fab_wait_for(fab_request* request, double seconds, int* complete) {
  return end(request, complete, nullptr, [&](Request& its) {
    static_cast<void>(given(complete, "complete"));
    return its.try_wait_for(seconds_of(seconds));
  });
}

fab_error fab_test(fab_request* request, int* complete, fab_message* message) {
  return end(request, complete, message, [&](Request& its) {
    static_cast<void>(given(complete, "complete"));
    return its.try_test();
  });
}

fab_error fab_wait_all(size_t count, fab_request requests[]) {
  fab_error first = FAB_SUCCESS;
  std::string message;
  const fab_error counted = guarded([&] {
    if (count > 0) static_cast<void>(given(requests, "requests"));
    for (std::size_t i = 0; i < count; ++i) {
      const fab_error error = fab_wait(&requests[i], nullptr);
      if (first != FAB_SUCCESS || error == FAB_SUCCESS) continue;
      first = error;
      message = fab_last_error();
    }
  });
  if (counted != FAB_SUCCESS || first == FAB_SUCCESS) return counted;
  return keep_failure(static_cast<Errc>(first), message.c_str());
}

fab_error fab_wait_all_for(size_t count, fab_request requests[], double seconds, int* complete) {
  bool in_time = true;
  const fab_error error = guarded([&] {
    static_cast<void>(given(complete, "complete"));
    const auto time = detail::time_after(seconds_of(seconds));
    in_time = std::ranges::all_of(array_of(requests, count, "requests"), [time](const fab_request& each) {
      const Request* const request = request_in(each);
      return request == nullptr || wait_any_until({*request}, time).has_value();
    });
    if (!in_time) *complete = 0;
  });
  if (error != FAB_SUCCESS || !in_time) return error;
  const fab_error ended = fab_wait_all(count, requests);
  if (ended == FAB_SUCCESS) *complete = 1;
  return ended;
}

fab_error fab_cancel(fab_request* request) {
  return guarded([&] {
    if (Request* const its = request_in(given(request, "request"))) its->cancel();
  });
}

fab_error fab_exchange_start(fab_exchange* exchange) {
  return guarded([&] { given(exchange, "exchange").exchange.start(); });
}

fab_error fab_exchange_wait(fab_exchange* exchange) {
  return guarded([&] { given(exchange, "exchange").exchange.wait(); });
}

fab_error fab_exchange_wait_for(fab_exchange* exchange, double seconds, int* complete) {
  return guarded([&] {
    int& over = given(complete, "complete");
    over = given(exchange, "exchange").exchange.wait_for(seconds_of(seconds)) ? 1 : 0;
  });
}

fab_error fab_exchange_test(fab_exchange* exchange, int* complete) {
  return guarded([&] {
    int& over = given(complete, "complete");
    over = given(exchange, "exchange").exchange.test() ? 1 : 0;
  });
}

fab_error fab_exchange_wait_source(fab_exchange* exchange, size_t source) {
  return guarded([&] { given(exchange, "exchange").exchange.wait_source(source); });
}

fab_error fab_exchange_wait_source_for(fab_exchange* exchange, size_t source, double seconds, int* arrived) {
  return guarded([&] {
    int& there = given(arrived, "arrived");
    there = given(exchange, "exchange").exchange.wait_source_for(source, seconds_of(seconds)) ? 1 : 0;
  });
}

void fab_exchange_free(fab_exchange* exchange) { delete exchange; }

}  // extern "C"
#pragma GCC visibility pop

}  // namespace fab::c
