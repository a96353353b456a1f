// The forms without exceptions, and waits with a limit for sources, sides and several operations at once.
#include <gmock/gmock.h>

#include <array>
#include <chrono>
#include <optional>
#include <vector>

#include "fab/fab.h"
#include "native/support/on_all_ranks.h"

namespace fab {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using testing::HasSubstr;

/// Far beyond the limits of the test.
constexpr auto kLong = 24h;

class WithoutExceptions : public test::OnAllRanks {
 protected:
  static HaloExchange ring_of_blocks() {
    return {world(), {.grid = {size()}, .periodic = {true}, .block = {{2}, {1}, sizeof(double)}}};
  }
  static void expect_failure(const Status& status, Errc code, const char* words) {
    EXPECT_EQ(status.errc(), code) << status.message;
    EXPECT_THAT(status.message, HasSubstr(words));
  }
  static Direction side(int direction) { return Direction(std::array{direction}); }
};

TEST_F(WithoutExceptions, Messages) {
  const int out = rank();
  int in = -1;
  Result<Request> received = try_irecv(world(), in, {previous(), Tag{1}});
  ASSERT_TRUE(received);
  ASSERT_TRUE(try_send(world(), out, {next(), Tag{1}}).ok());
  EXPECT_TRUE(received->wait_status().ok());
  EXPECT_EQ(in, previous());

  Result<Request> sent = try_isend(world(), &out, Layout::contiguous(sizeof(out)), {next(), Tag{2}});
  ASSERT_TRUE(sent);
  EXPECT_EQ(try_probe(world(), {previous(), Tag{2}}).value(), (MessageInfo{previous(), Tag{2}, sizeof(in)}));
  EXPECT_TRUE(try_iprobe(world(), {previous(), Tag{2}}).value().has_value());
  EXPECT_EQ(try_recv(world(), in, {previous(), Tag{2}}).value().source, previous());
  EXPECT_TRUE(sent->wait_status().ok());

  EXPECT_EQ(try_sendrecv(world(), out, {previous(), Tag{3}}, in, {next(), Tag{3}}).value().source, next());
  EXPECT_EQ(in, next());
  in = rank();
  EXPECT_EQ(try_sendrecv_replace(world(), in, {next(), Tag{4}}, {previous(), Tag{4}}).value().source, previous());
  EXPECT_EQ(in, previous());
}

TEST_F(WithoutExceptions, MessagesThatAreRefused) {
  const int out = rank();
  int in = -1;
  const Layout layout = Layout::contiguous(sizeof(int));
  const Destination beyond{size(), Tag{1}};
  const Source from_beyond{size(), Tag{1}};
  expect_failure(try_send(world(), out, beyond), Errc::invalid_rank, "send: to.rank is 2");
  expect_failure(try_send(world(), &out, layout, beyond), Errc::invalid_rank, "send: to.rank is 2");
  expect_failure(try_isend(world(), out, beyond).status(), Errc::invalid_rank, "isend: to.rank is 2");
  expect_failure(try_recv(world(), in, from_beyond).status(), Errc::invalid_rank, "recv: from.rank is 2");
  expect_failure(try_recv(world(), &in, layout, from_beyond).status(), Errc::invalid_rank, "recv: from.rank is 2");
  expect_failure(try_irecv(world(), in, from_beyond).status(), Errc::invalid_rank, "irecv: from.rank is 2");
  expect_failure(try_irecv(world(), &in, layout, from_beyond).status(), Errc::invalid_rank, "irecv: from.rank is 2");
  expect_failure(try_probe(world(), from_beyond).status(), Errc::invalid_rank, "probe: from.rank is 2");
  expect_failure(try_iprobe(world(), from_beyond).status(), Errc::invalid_rank, "iprobe: from.rank is 2");
  expect_failure(try_sendrecv(world(), out, beyond, in, from_beyond).status(), Errc::invalid_rank,
                 "sendrecv: to.rank is 2");
  expect_failure(try_sendrecv(world(), &out, layout, beyond, &in, layout, from_beyond).status(), Errc::invalid_rank,
                 "sendrecv: to.rank is 2");
  expect_failure(try_sendrecv_replace(world(), in, beyond, from_beyond).status(), Errc::invalid_rank, "to.rank is 2");
  expect_failure(try_sendrecv_replace(world(), &in, layout, beyond, from_beyond).status(), Errc::invalid_rank,
                 "to.rank is 2");
}

TEST_F(WithoutExceptions, PersistentMessages) {
  int out = rank();
  int in = -1;
  const Layout layout = Layout::contiguous(sizeof(int));
  const auto exchanged = [&](Result<PersistentMessage> send, Result<PersistentMessage> receive) {
    if (!send || !receive || !receive->try_start().ok() || !send->try_start().ok()) return false;
    return send->wait_status().ok() && receive->wait_status().ok() && in == previous();
  };
  EXPECT_TRUE(exchanged(try_persistent_send(world(), out, {next(), Tag{1}}),
                        try_persistent_recv(world(), in, {previous(), Tag{1}})));
  in = -1;
  EXPECT_TRUE(exchanged(try_persistent_send(world(), &out, layout, {next(), Tag{2}}),
                        try_persistent_recv(world(), &in, layout, {previous(), Tag{2}})));
  const auto received = [](Result<PersistentMessage> message) {
    return message && message->try_start().ok() && message->wait_status().ok();
  };
  in = -1;
  EXPECT_TRUE(received(try_persistent_sendrecv(world(), out, {previous(), Tag{3}}, in, {next(), Tag{3}})));
  EXPECT_EQ(in, next());
  in = -1;
  EXPECT_TRUE(
      received(try_persistent_sendrecv(world(), &out, layout, {next(), Tag{4}}, &in, layout, {previous(), Tag{4}})));
  EXPECT_EQ(in, previous());
  in = rank();
  EXPECT_TRUE(received(try_persistent_sendrecv_replace(world(), in, {next(), Tag{5}}, {previous(), Tag{5}})));
  EXPECT_EQ(in, previous());
  in = rank();
  EXPECT_TRUE(received(try_persistent_sendrecv_replace(world(), &in, layout, {next(), Tag{6}}, {previous(), Tag{6}})));
  EXPECT_EQ(in, previous());
}

TEST_F(WithoutExceptions, PersistentMessagesThatAreRefused) {
  const int out = rank();
  int in = -1;
  const Layout layout = Layout::contiguous(sizeof(int));
  const Destination beyond{size(), Tag{1}};
  const Source from_beyond{size(), Tag{1}};
  const auto expect_refusal = [&](const Result<PersistentMessage>& message, const char* words) {
    expect_failure(message.status(), Errc::invalid_rank, words);
  };
  expect_refusal(try_persistent_send(world(), out, beyond), "persistent_send: to.rank is 2");
  expect_refusal(try_persistent_send(world(), &out, layout, beyond), "persistent_send: to.rank is 2");
  expect_refusal(try_persistent_recv(world(), in, from_beyond), "persistent_recv: from.rank is 2");
  expect_refusal(try_persistent_recv(world(), &in, layout, from_beyond), "persistent_recv: from.rank is 2");
  expect_refusal(try_persistent_sendrecv(world(), out, beyond, in, from_beyond), "to.rank is 2");
  expect_refusal(try_persistent_sendrecv(world(), &out, layout, beyond, &in, layout, from_beyond), "to.rank is 2");
  expect_refusal(try_persistent_sendrecv_replace(world(), in, beyond, from_beyond), "to.rank is 2");
  expect_refusal(try_persistent_sendrecv_replace(world(), &in, layout, beyond, from_beyond), "to.rank is 2");
}

TEST_F(WithoutExceptions, SeveralRequests) {
  const int out = rank();
  std::array<int, 2> in{-1, -1};
  std::array<Request, 2> receives;
  const auto receive = [&](std::size_t i) { receives[i] = irecv(world(), in[i], {previous(), static_cast<Tag>(i)}); };
  receive(0);
  receive(1);
  EXPECT_FALSE(Request::wait_all_for(receives, 1ms));
  EXPECT_FALSE(Request::try_wait_all_until(receives, Clock::now() - 1h).value());
  EXPECT_EQ(Request::wait_any_for(receives, 1ms), std::nullopt);
  EXPECT_EQ(Request::try_wait_any_for(receives, 0s).value(), std::nullopt);
  EXPECT_FALSE(Request::try_test_all(receives).value());
  EXPECT_EQ(Request::try_test_any(receives).value(), std::nullopt);
  EXPECT_TRUE(Request::try_test_some(receives).value().empty());
  EXPECT_TRUE(receives[0].active() && receives[1].active());
  barrier(world());  // so that no rank has sent until now

  send(world(), out, {next(), Tag{1}});
  EXPECT_EQ(Request::wait_any_for(receives, kLong), 1u);
  EXPECT_FALSE(Request::try_wait_all_for(receives, 1ms).value());
  EXPECT_TRUE(receives[0].active());
  barrier(world());
  send(world(), out, {next(), Tag{0}});
  EXPECT_TRUE(Request::wait_all_for(receives, kLong));
  EXPECT_FALSE(receives[0].active());
  EXPECT_EQ(in, (std::array{previous(), previous()}));
  EXPECT_TRUE(Request::try_wait_all(receives).ok()) << "none is active";
  EXPECT_TRUE(Request::wait_all_for(receives, 0s)) << "none is active";

  for (std::size_t i = 0; i < receives.size(); ++i) receive(i);
  send(world(), out, {next(), Tag{0}});
  EXPECT_EQ(Request::try_wait_some(receives).value(), std::vector<std::size_t>{0});
  barrier(world());
  send(world(), out, {next(), Tag{1}});
  EXPECT_EQ(Request::try_wait_any(receives).value(), 1u);
}

TEST_F(WithoutExceptions, SeveralRequestsThatFail) {
  std::array<Request, 2> requests;
  expect_failure(Request::try_wait_any(requests).status(), Errc::invalid_argument, "wait_any: none of the requests");
  expect_failure(Request::try_wait_any_for(requests, 0s).status(), Errc::invalid_argument,
                 "wait_any_until: none of the requests");
  expect_failure(Request::try_wait_some(requests).status(), Errc::invalid_argument, "wait_some: none of the requests");
  expect_failure(Request::try_test_any(requests).status(), Errc::invalid_argument, "test_any: none of the requests");
  expect_failure(Request::try_test_some(requests).status(), Errc::invalid_argument, "test_some: none of the requests");
  int in = 0;
  const auto cancelled = [&] {
    requests[1] = irecv(world(), in, {previous(), Tag{9}});
    requests[1].cancel();
  };
  cancelled();
  EXPECT_EQ(Request::try_wait_all(requests).errc(), Errc::cancelled);
  cancelled();
  EXPECT_EQ(Request::try_wait_all_for(requests, kLong).status().errc(), Errc::cancelled);
  cancelled();
  EXPECT_EQ(Request::try_wait_any_for(requests, kLong).status().errc(), Errc::cancelled);
  cancelled();
  EXPECT_EQ(Request::try_test_all(requests).status().errc(), Errc::cancelled);
  EXPECT_FALSE(requests[1].active());
}

TEST_F(WithoutExceptions, Sources) {
  const Communicator comm = ring();
  const std::array<int, 2> out{rank(), rank()};
  std::array<int, 2> in{};
  const std::array<std::size_t, 2> both{0, 1};
  std::array<PersistentExchange, 1> exchanges{neighbor_xchg.persistent(comm, out, in)};
  PersistentExchange& exchange = exchanges[0];
  EXPECT_TRUE(exchange.wait_source_for(1, 0s)) << "not active";
  EXPECT_EQ(exchange.wait_any_source_for(both, 0s), 0u) << "not active";
  if (rank() == 0) {
    EXPECT_TRUE(PersistentExchange::try_start_all(exchanges).ok());
    EXPECT_FALSE(exchange.wait_source_for(0, 5ms));
    EXPECT_FALSE(exchange.try_wait_source_for(1, 0s).value());
    EXPECT_EQ(exchange.wait_any_source_for(both, 1ms), std::nullopt);
    EXPECT_EQ(exchange.try_wait_any_source_until(both, Clock::now() - 1h).value(), std::nullopt);
    EXPECT_FALSE(exchange.try_test_source(0).value());
    EXPECT_FALSE(PersistentExchange::wait_all_for(exchanges, 1ms));
    EXPECT_TRUE(exchange.active());
  }
  barrier(world());
  if (rank() != 0) exchange.start();
  EXPECT_TRUE(exchange.wait_source_for(1, kLong));
  EXPECT_EQ(in[1], previous());
  EXPECT_TRUE(exchange.try_wait_any_source_for(both, kLong).value().has_value());
  EXPECT_TRUE(exchange.try_wait_any_source(both).ok());
  EXPECT_TRUE(exchange.try_wait_source(0).ok());
  EXPECT_EQ(in[0], next());
  EXPECT_TRUE(PersistentExchange::try_wait_all_for(exchanges, kLong).value());
  EXPECT_FALSE(exchange.active());
  EXPECT_TRUE(PersistentExchange::try_wait_all(exchanges).ok());

  expect_failure(exchange.try_wait_source(2), Errc::invalid_argument, "wait_source: source is 2");
  expect_failure(exchange.try_wait_source_for(2, 0s).status(), Errc::invalid_argument,
                 "wait_source_until: source is 2; the exchange has 2 sources");
  expect_failure(exchange.try_wait_any_source({}).status(), Errc::invalid_argument, "the list of sources is empty");
  expect_failure(exchange.try_wait_any_source_for({}, 0s).status(), Errc::invalid_argument,
                 "wait_any_source_until: the list of sources is empty");
  expect_failure(exchange.try_test_source(2).status(), Errc::invalid_argument, "test_source: source is 2");
  std::array<PersistentExchange, 1> none;
  expect_failure(PersistentExchange::try_start_all(none), Errc::invalid_argument, "exchanges[0] holds no exchange");
}

TEST_F(WithoutExceptions, SidesOfHalos) {
  HaloExchange halo = ring_of_blocks();
  const std::span<double> cells = halo.field<double>();
  const auto put = [&](double step) { std::ranges::fill(cells.subspan(1, 2), step + rank()); };
  EXPECT_TRUE(halo.finish_for(side(1), 0s)) << "not active";
  put(100);
  if (rank() == 0) {
    halo.start();
    EXPECT_FALSE(halo.finish_for(side(1), 1ms));
    EXPECT_FALSE(halo.try_finish_until(side(-1), Clock::now() - 1h).value());
    EXPECT_FALSE(halo.try_finish_for(1ms).value());
    EXPECT_TRUE(halo.active());
  }
  barrier(world());
  if (rank() != 0) halo.start();
  EXPECT_TRUE(halo.try_finish_for(side(1), kLong).value());
  EXPECT_EQ(cells[3], 100 + next());
  EXPECT_EQ(halo.try_finish_any().value(), side(-1));
  EXPECT_EQ(cells[0], 100 + previous());
  EXPECT_EQ(halo.try_finish_any().value(), std::nullopt);
  EXPECT_FALSE(halo.active());

  put(200);
  halo.start();
  EXPECT_TRUE(halo.try_finish(side(-1)).ok());
  EXPECT_EQ(cells[0], 200 + previous());
  EXPECT_TRUE(halo.try_finish_until(Clock::time_point::max()).value());
  EXPECT_EQ(cells[3], 200 + next());

  expect_failure(halo.try_finish(side(0)), Errc::invalid_argument, "there is no halo on side");
  expect_failure(halo.try_finish_for(side(0), 0s).status(), Errc::invalid_argument, "there is no halo on side");
  expect_failure(halo.try_ready(0), Errc::invalid_argument, "");
  expect_failure(halo.try_arrived(side(1), 0).status(), Errc::invalid_argument, "");
}

TEST_F(WithoutExceptions, PartsOfHalos) {
  HaloExchange halo(world(), {.grid = {size()}, .periodic = {true}, .block = {{4}, {1}, sizeof(double)}},
                    HaloParts{.count = 2, .dimension = 0});
  const std::span<double> cells = halo.field<double>();
  std::ranges::fill(cells.subspan(1, 4), rank());
  halo.start();
  ASSERT_TRUE(halo.try_ready(0).ok());
  ASSERT_TRUE(halo.try_ready(side(-1), 1).ok());
  ASSERT_TRUE(halo.try_ready(side(1), 1).ok());
  expect_failure(halo.try_ready(1), Errc::invalid_argument, "part");
  EXPECT_TRUE(halo.try_finish(side(1), 1).ok());
  EXPECT_EQ(cells[5], next());
  while (!halo.try_arrived(side(-1), 0).value()) {
  }
  EXPECT_EQ(cells[0], previous());
  expect_failure(halo.try_finish(side(1), 2), Errc::invalid_argument, "part");
  expect_failure(halo.try_arrived(side(1), 2).status(), Errc::invalid_argument, "part");
  EXPECT_TRUE(halo.try_finish().ok());
}

TEST_F(WithoutExceptions, PartsOfExchanges) {
  const Communicator comm = ring();
  const std::array<int, 4> out{rank(), rank(), rank(), rank()};
  std::array<int, 4> in{};
  PartitionedExchange exchange = neighbor_xchg.partitioned(comm, 2, out, in);
  exchange.start();
  for (std::size_t neighbor = 0; neighbor < 2; ++neighbor)
    for (std::size_t part = 0; part < 2; ++part) ASSERT_TRUE(exchange.try_ready(neighbor, part).ok());
  expect_failure(exchange.try_ready(0, 0), Errc::invalid_argument, "part");
  EXPECT_TRUE(exchange.try_wait_part(0, 1).ok());
  EXPECT_EQ(in[1], next());
  while (!exchange.try_arrived(1, 0).value()) {
  }
  EXPECT_EQ(in[2], previous());
  expect_failure(exchange.try_wait_part(2, 0), Errc::invalid_argument, "source");
  expect_failure(exchange.try_arrived(0, 2).status(), Errc::invalid_argument, "part");
  exchange.wait();
  expect_failure(PartitionedExchange().try_wait_part(0, 0), Errc::invalid_argument, "the object holds no exchange");
}

TEST_F(WithoutExceptions, TheFirstOfSeveralKinds) {
  int in = -1;
  const int out = rank();
  HaloExchange halo = ring_of_blocks();
  Request request = irecv(world(), in, {previous(), Tag{3}});
  EXPECT_EQ(wait_any_for({request, halo}, 1ms), std::nullopt);
  EXPECT_EQ(try_wait_any_for({request, halo}, 0s).value(), std::nullopt);
  EXPECT_EQ(wait_any_until({request}, Clock::now() - 1h), std::nullopt);
  barrier(world());
  halo.start();
  const std::vector<Waitable> all{request, halo};
  EXPECT_EQ(wait_any_for(all, kLong), 1u);
  EXPECT_TRUE(halo.active()) << "its own finish ends it";
  halo.finish();
  barrier(world());
  send(world(), out, {next(), Tag{3}});
  EXPECT_EQ(try_wait_any({Waitable(), request, halo}).value(), 1u);
  request.wait();
  EXPECT_EQ(in, previous());
  expect_failure(try_wait_any({request, halo}).status(), Errc::invalid_argument, "wait_any: none of the 2 operations");
  expect_failure(try_wait_any_for({request, halo}, 0s).status(), Errc::invalid_argument,
                 "wait_any_until: none of the 2 operations");
}

TEST_F(WithoutExceptions, CompletionsWithALimit) {
  int in = -1;
  int called = 0;
  const int out = rank();
  Completions completions(context());
  EXPECT_TRUE(completions.run_for(0s)) << "there is no request";
  completions.when_done(irecv(world(), in, {previous(), Tag{6}}), [&](const Status& status) {
    EXPECT_TRUE(status.ok());
    ++called;
  });
  EXPECT_FALSE(completions.run_for(2ms));
  EXPECT_FALSE(completions.run_until(Clock::now() - 1h));
  EXPECT_EQ(called, 0);
  barrier(world());
  send(world(), out, {next(), Tag{6}});
  EXPECT_TRUE(completions.run_for(kLong));
  EXPECT_EQ(called, 1);
  EXPECT_EQ(in, previous());
}

}  // namespace
}  // namespace fab
