// The handles of the C API, and the conversion of exceptions to error codes.
#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "fab/context.h"
#include "fab/fab_c.h"
#include "fab/halo.h"
#include "fab/persistent.h"
#include "fab/persistent_message.h"
#include "fab/request.h"

struct fab_comm {
  fab::Communicator communicator;
};

struct fab_context {
  explicit fab_context(fab::Context opened) : context(std::move(opened)) {
    for (int engine = 0; engine < context.engines(); ++engine) worlds.push_back({context.world(engine)});
  }

  fab::Context context;
  std::vector<fab_comm> worlds;  ///< of each engine
};

struct fab_exchange {
  fab::PersistentExchange exchange;
};

struct fab_persistent_message {
  fab::PersistentMessage message;
};

struct fab_halo {
  explicit fab_halo(fab::HaloExchange made) : exchange(std::move(made)), comm{exchange.communicator()} {}

  fab::HaloExchange exchange;
  fab_comm comm;
};

namespace fab::c {

/// What fab_last_error says.
fab_error keep_failure(Errc code, const char* message) noexcept;

/// Does what a C function is for.
template <class Action>
fab_error guarded(Action&& action) noexcept {
  try {
    action();
    return FAB_SUCCESS;
  } catch (const Error& error) {
    return keep_failure(error.errc(), error.what());
  } catch (const std::bad_alloc&) {
    return keep_failure(Errc::no_resources, "there is no memory left");
  } catch (const std::exception& error) {
    return keep_failure(Errc::invalid_argument, error.what());
  }
}

inline fab_error outcome(const Status& status) noexcept {
  return status.ok() ? FAB_SUCCESS : keep_failure(status.errc(), status.message.c_str());
}

/// A caller's pointer that must not be null.
template <class T>
T& given(T* pointer, const char* argument) {
  if (pointer == nullptr) throw Error(Errc::invalid_argument, std::string(argument) + " is a null pointer");
  return *pointer;
}

/// An array of the caller's; null only without elements.
template <class T>
std::span<const T> array_of(const T* first, std::size_t elements, const char* argument) {
  if (elements > 0) static_cast<void>(given(first, argument));
  return {first, elements};
}

/// A limit of time. Throws Error(invalid_argument) if it is NaN.
std::chrono::duration<double> seconds_of(double seconds);

/// The request in the memory of a C program.
Request* request_in(fab_request& memory) noexcept;
const Request* request_in(const fab_request& memory) noexcept;
/// Puts one there. Throws Error(invalid_argument) when the last one is active.
void put(fab_request* memory, Request&& request);
void check_idle(const fab_request* memory);

inline void tell(fab_message* message, const MessageInfo& info) noexcept {
  if (message != nullptr) *message = {info.source, static_cast<int>(info.tag), info.bytes};
}

}  // namespace fab::c
