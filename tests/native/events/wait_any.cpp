// fab::wait_any, whose operations are of different kinds. All but one of them are held back until it has returned.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bindings/native/c/handles.h"
#include "fab/fab.h"
#include "native/support/on_all_ranks.h"
#include "unit/support/allocation_count.h"

namespace fab {
namespace {

using WaitAny = test::OnAllRanks;

TEST_F(WaitAny, ReturnsTheOneThatIsComplete) {
  int requested = -1;
  int received = -1;
  std::int64_t sum = rank();
  const int out = rank();
  HaloExchange halo(world(), {.grid = {size()}, .periodic = {true}, .block = {{2}, {1}, sizeof(double)}});
  PersistentExchange exchange = allreduce.persistent(world(), sum, ReduceOp::sum);
  PersistentMessage message = persistent_recv(world(), received, {previous(), Tag{4}});
  Request request = irecv(world(), requested, {previous(), Tag{3}});
  message.start();

  exchange.start();
  EXPECT_EQ(wait_any({request, exchange, message, halo}), 1u);
  EXPECT_TRUE(exchange.active());
  exchange.wait();
  EXPECT_EQ(sum, size() * (size() - 1) / 2);

  barrier(world());
  halo.start();
  EXPECT_EQ(wait_any({request, exchange, message, halo}), 3u);
  halo.finish();

  barrier(world());
  send(world(), out, {next(), Tag{4}});
  EXPECT_EQ(wait_any({request, exchange, message, halo}), 2u);
  message.wait();
  EXPECT_EQ(received, previous());

  barrier(world());
  send(world(), out, {next(), Tag{3}});
  EXPECT_EQ(wait_any({Waitable(), request, exchange, message, halo}), 1u);
  request.wait();
  EXPECT_EQ(requested, previous());
  EXPECT_THROW(static_cast<void>(wait_any({request, exchange, message, halo})), Error);
}

TEST_F(WaitAny, AllocatesNothing) {
  const int out = rank();
  int received = -1;
  std::int64_t sum = 0;
  fab_exchange held{allreduce.persistent(world(), sum, ReduceOp::sum)};
  PersistentExchange& exchange = held.exchange;
  Request other = irecv(world(), received, {previous(), Tag{5}});
  const auto fewest = [&](auto&& wait) {
    std::size_t result = ~std::size_t{0};
    for (int i = 0; i < 20; ++i) {
      exchange.start();
      const std::size_t before = test::allocation_count();
      EXPECT_EQ(wait(), 1u);
      result = std::min(result, test::allocation_count() - before);
      exchange.wait();
    }
    return result;
  };
  EXPECT_EQ(fewest([&] { return wait_any({other, exchange}); }), 0u);
  EXPECT_EQ(fewest([&] {
              fab_request none{};
              const std::array all{fab_waitable_request(&none), fab_waitable_exchange(&held)};
              std::size_t index = 0;
              EXPECT_EQ(fab_wait_any(all.size(), all.data(), &index), FAB_SUCCESS);
              return index;
            }),
            0u);
  send(world(), out, {next(), Tag{5}});
  other.wait();
  EXPECT_EQ(received, previous());
}

// More than it has room for.
TEST_F(WaitAny, TakesAnyNumberOfOperations) {
  std::int64_t sum = rank();
  PersistentExchange exchange = allreduce.persistent(world(), sum, ReduceOp::sum);
  exchange.start();
  std::vector<Waitable> all(1000);
  all[777] = exchange;
  EXPECT_EQ(wait_any(all), 777u);
  exchange.wait();
}

}  // namespace
}  // namespace fab
