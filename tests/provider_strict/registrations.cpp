// A persistent exchange registers its memory when it is made, and not when it is started.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "fab/fab.h"
#include "native/support/on_all_ranks.h"

namespace fab {
namespace {

using Registrations = test::OnAllRanks;

/// How often the provider registered memory in this process.
unsigned long registrations() {
  const char* folder = std::getenv("FI_PROVIDER_PATH");
  if (folder == nullptr) return 0;
  void* library = ::dlopen((std::string(folder) + "/libstrict-fi.so").c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return 0;
  const auto count = reinterpret_cast<unsigned long (*)()>(::dlsym(library, "fi_strict_registrations"));
  const unsigned long result = count == nullptr ? 0 : count();
  ::dlclose(library);
  return result;
}

/// Posts by which it first meets the other ranks may be refused for a while.
void start_some_times(PersistentExchange& exchange) {
  for (int i = 0; i < 20; ++i) {
    exchange.start();
    exchange.wait();
  }
}

TEST_F(Registrations, AreMadeWithAPersistentExchangeAndNotWithItsStarts) {
  const Communicator comm = ring();
  for (const std::size_t elements : {1u, 100u, 30'000u}) {
    SCOPED_TRACE(testing::Message() << elements << " elements");
    std::vector<double> mine(2 * elements, rank());
    std::vector<double> theirs(2 * elements);
    const unsigned long before = registrations();
    PersistentExchange exchange =
        neighbor_xchg.persistent(comm, mine.data(), theirs.data(), Layout::contiguous(elements * sizeof(double)));
    start_some_times(exchange);
    const unsigned long made = registrations();
    EXPECT_GT(made, before) << "the profile asks for it";
    for (int iteration = 0; iteration < 20; ++iteration) {
      std::ranges::fill(theirs, -1);
      exchange.start();
      exchange.wait();
      EXPECT_EQ(theirs.front(), next());
      EXPECT_EQ(theirs.back(), previous());
    }
    EXPECT_EQ(registrations(), made);
  }
}

// Each block of fab's heap is registered once for all exchanges.
TEST_F(Registrations, AreKeptForMemoryOfTheHeap) {
  const Communicator comm = ring();
  constexpr std::size_t kElements = 40'000;
  const auto make = [](std::size_t count) {
    return std::unique_ptr<double[], void (*)(void*)>(static_cast<double*>(alloc(count * sizeof(double))), fab::free);
  };
  const auto exchange = [&](double* mine, double* theirs, std::size_t elements) {
    std::fill_n(mine, 2 * elements, rank());
    std::fill_n(theirs, 2 * elements, -1);
    neighbor_xchg(comm, mine, theirs, Layout::contiguous(elements * sizeof(double)));
    EXPECT_EQ(theirs[0], next());
    EXPECT_EQ(theirs[2 * elements - 1], previous());
  };
  const auto mine = make(2 * kElements);
  const auto theirs = make(2 * kElements);
  exchange(mine.get(), theirs.get(), kElements);
  const unsigned long before = registrations();
  for (int i = 0; i < 10; ++i) exchange(mine.get(), theirs.get(), kElements);
  EXPECT_EQ(registrations(), before);
  // Blocks with regions of their own come and go, perhaps at the same addresses.
  for (int i = 0; i < 4; ++i) {
    const auto passing = make((std::size_t{70} << 20) / sizeof(double));
    exchange(passing.get(), theirs.get(), kElements);
    exchange(mine.get(), passing.get(), kElements);
  }
}

// Two exchanges use the same memory, and one of them ends first.
TEST_F(Registrations, OutliveAnotherExchangeOfTheSameMemory) {
  const Communicator comm = ring();
  std::vector<double> mine(2000, rank());
  std::vector<double> theirs(2000);
  const auto make = [&] {
    return neighbor_xchg.persistent(comm, mine.data(), theirs.data(), Layout::contiguous(1000 * sizeof(double)));
  };
  PersistentExchange persistent = make();
  for (int i = 0; i < 5; ++i) {
    std::ranges::fill(theirs, -1);
    {
      PersistentExchange passing = make();
      passing.start();
      passing.wait();
      EXPECT_EQ(theirs.front(), next());
    }
    start_some_times(persistent);
    const unsigned long before = registrations();
    std::ranges::fill(theirs, -1);
    persistent.start();
    persistent.wait();
    EXPECT_EQ(theirs.back(), previous());
    EXPECT_EQ(registrations(), before);
  }
}

}  // namespace
}  // namespace fab
