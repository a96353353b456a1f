// Reads a buffer while an exchange is in flight.
#pragma once

namespace fab::test {

// Without synchronisation, on purpose: the value may be written meanwhile.
template <class T>
__attribute__((no_sanitize("thread"))) T peek(const volatile T& place) {
  return place;
}

}  // namespace fab::test
