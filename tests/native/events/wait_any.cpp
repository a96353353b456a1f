// fab::wait_any, whose operations are of different kinds. All but one of them are held back until it has returned.
#include <gmock/gmock.h>

#include <array>
#include <cstdint>

#include "fab/fab.h"
#include "native/support/on_all_ranks.h"

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

}  // namespace
}  // namespace fab
