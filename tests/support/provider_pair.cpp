#include "support/provider_pair.h"

#include <algorithm>
#include <utility>

namespace fab::test {

Bytes pattern(std::size_t bytes, std::size_t seed) {
  Bytes data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>(i * 7 + i / 251 + seed);
  return data;
}

std::vector<iovec> cut(std::span<std::byte> memory, std::size_t pieces) {
  std::vector<iovec> result;
  for (std::size_t i = 0; i < pieces; ++i) {
    const std::size_t begin = memory.size() * i / pieces;
    result.push_back({memory.data() + begin, memory.size() * (i + 1) / pieces - begin});
  }
  return result;
}

JobInfo one_of_two(Rank rank) {
  JobInfo job;
  job.rank = rank;
  job.size = job.local_size = 2;
  job.node_ranks = {0, 1};
  return job;
}

const Log& log_of_ends() {
  static const Log log(LogLevel::warn, 0);
  return log;
}

std::unique_ptr<ofi::OfiProvider> open_end(const Config& config, Rank rank) {
  return std::make_unique<ofi::OfiProvider>(config, one_of_two(rank), log_of_ends());
}

ProviderPair::ProviderPair(std::unique_ptr<Provider> left, std::unique_ptr<Provider> right)
    : left_(std::move(left)), right_(std::move(right)) {
  right_->set_listener(&heard_);
  to_right_ = left_->connect(right_->address());
  from_left_ = right_->connect(left_->address());
}

template <class Attempt>
void ProviderPair::post(const Attempt& attempt, Outcome& departure) {
  PostResult result = PostResult::again;
  poll_until([&] { return (result = attempt()) != PostResult::again; });
  if (result != PostResult::done) return;
  EXPECT_EQ(left_->name(), "local") << "libfabric's ends report the end of each post";
  departure.ended = true;
}

void ProviderPair::send(std::span<const iovec> pieces, std::uint64_t tag, Outcome& departure) {
  post([&] { return left_->post_send(to_right_, pieces, tag, departure); }, departure);
}

void ProviderPair::receive(std::span<const iovec> pieces, std::uint64_t tag, Outcome& arrival, std::uint64_t ignore) {
  PostResult result = PostResult::again;
  poll_until(
      [&] { return (result = right_->post_recv(from_left_, pieces, tag, ignore, arrival)) != PostResult::again; });
  ASSERT_EQ(result, PostResult::pending);
}

void ProviderPair::write(std::span<const iovec> pieces, const Registration& source, const RemoteMemory& target,
                         std::uint32_t data, Outcome& departure) {
  post([&] { return left_->post_write(to_right_, pieces, source, target, data, departure); }, departure);
}

void ProviderPair::transfer(std::size_t bytes, std::size_t pieces_sent, std::size_t pieces_received, First first) {
  SCOPED_TRACE(testing::Message() << bytes << " bytes, " << pieces_sent << " pieces to " << pieces_received
                                  << (first == First::send ? ", sent early" : ""));
  Bytes sent = pattern(bytes, ++tag_);
  Bytes received(bytes + kMargin, kUntouched);
  const std::vector<iovec> from = cut(sent, pieces_sent);
  const std::vector<iovec> to = cut(std::span(received).first(bytes), pieces_received);
  Outcome arrival;
  Outcome departure;
  if (first == First::send) {
    ASSERT_NO_FATAL_FAILURE(send(from, tag_, departure));
  }
  ASSERT_NO_FATAL_FAILURE(receive(to, tag_, arrival));
  if (first == First::receive) {
    ASSERT_NO_FATAL_FAILURE(send(from, tag_, departure));
  }
  ASSERT_NO_FATAL_FAILURE(poll_until_ended(arrival, departure));
  EXPECT_TRUE(departure.status.ok()) << departure.status.message;
  EXPECT_TRUE(arrival.status.ok()) << arrival.status.message;
  EXPECT_EQ(arrival.bytes, bytes);
  EXPECT_EQ(arrival.tag, tag_);
  EXPECT_TRUE(std::equal(sent.begin(), sent.end(), received.begin()));
  EXPECT_TRUE(are_untouched(std::span(received).last(kMargin)));
}

void ProviderPair::write_and_tell(std::size_t bytes, std::size_t pieces, std::uint32_t data) {
  SCOPED_TRACE(testing::Message() << bytes << " bytes in " << pieces << " pieces");
  Bytes sent = pattern(bytes, 5);
  Bytes exposed(bytes + 2 * kMargin, kUntouched);
  const auto target = right_->expose(exposed);
  const std::vector<iovec> from = cut(sent, pieces);
  const auto source = left_->prepare_source(from);
  heard_.numbers.clear();
  Outcome departure;
  ASSERT_NO_FATAL_FAILURE(write(from, *source, target->remote().behind(kMargin), data, departure));
  // The bytes are there as soon as the target hears of them.
  ASSERT_NO_FATAL_FAILURE(poll_until([&] { return !heard_.numbers.empty(); }));
  EXPECT_TRUE(std::equal(sent.begin(), sent.end(), exposed.begin() + kMargin));
  ASSERT_NO_FATAL_FAILURE(poll_until_ended(departure));
  EXPECT_TRUE(departure.status.ok()) << departure.status.message;
  EXPECT_EQ(heard_.numbers, std::vector<std::uint32_t>{data}) << "all 32 bits of it, once";
  EXPECT_TRUE(are_untouched(std::span(exposed).first(kMargin)));
  EXPECT_TRUE(are_untouched(std::span(exposed).last(kMargin)));
}

}  // namespace fab::test
