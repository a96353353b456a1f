#include "fab/persistent.h"

#include <utility>

#include "collectives/cart_shift_xchg.h"
#include "collectives/neighbor_xchg.h"
#include "core/engine.h"
#include "core/persistent.h"
#include "core/wait.h"

namespace fab {

namespace {

using collectives::BlockList;

}  // namespace

PersistentExchange::PersistentExchange() noexcept = default;
PersistentExchange::PersistentExchange(core::Persistent exchange)
    : exchange_(std::make_unique<core::Persistent>(std::move(exchange))) {}
PersistentExchange::PersistentExchange(PersistentExchange&& other) noexcept = default;

PersistentExchange& PersistentExchange::operator=(PersistentExchange&& other) noexcept {
  if (this == &other) return *this;
  static_cast<void>(wait_status());
  exchange_ = std::move(other.exchange_);
  return *this;
}

PersistentExchange::~PersistentExchange() { static_cast<void>(wait_status()); }

void PersistentExchange::start() {
  if (exchange_ == nullptr) throw Error(Errc::invalid_argument, "PersistentExchange::start: it has no exchange");
  {
    const core::Lock lock(exchange_->engine().mutex);
    exchange_->start();
  }
  exchange_->engine().leave();
}

bool PersistentExchange::active() const noexcept { return exchange_ != nullptr && exchange_->active(); }

Status PersistentExchange::end() {
  exchange_->end();
  return exchange_->run().status();
}

Status PersistentExchange::wait_status() {
  if (!active()) return {};
  core::finish(exchange_->run());
  return end();
}

void PersistentExchange::wait() {
  if (const Status status = wait_status(); !status.ok()) throw Error(status.errc(), status.message);
}

bool PersistentExchange::test() {
  if (!active()) return true;
  if (!core::test(exchange_->run())) return false;
  if (const Status status = end(); !status.ok()) throw Error(status.errc(), status.message);
  return true;
}

void PersistentExchange::start_all(std::span<PersistentExchange> exchanges) {
  for (PersistentExchange& exchange : exchanges) exchange.start();
}

void PersistentExchange::wait_all(std::span<PersistentExchange> exchanges) {
  Status first;
  for (PersistentExchange& exchange : exchanges) {
    Status status = exchange.wait_status();
    if (first.ok()) first = std::move(status);
  }
  if (!first.ok()) throw Error(first.errc(), first.message);
}

PersistentExchange neighbor_xchg_init(const Communicator& communicator, const void* send, void* recv,
                                      const Layout& block) {
  const Neighborhood& edges = communicator.neighborhood();
  return PersistentExchange(
      collectives::make_neighbor_xchg(communicator.core(), send, recv,
                                      {.send = BlockList::regular(block, 1, edges.destinations.size()),
                                       .recv = BlockList::regular(block, 1, edges.sources.size())}));
}

PersistentExchange neighbor_xchg_init(const Communicator& communicator, void* buffer, const Layout& block) {
  const std::size_t blocks = communicator.neighborhood().sources.size();
  return PersistentExchange(
      collectives::make_neighbor_xchg(communicator.core(), nullptr, buffer,
                                      {.send = {}, .recv = BlockList::regular(block, 1, blocks), .in_place = true}));
}

PersistentExchange neighbor_xchgv_init(const Communicator& communicator, const void* send,
                                       std::span<const BlockShape> send_blocks, void* recv,
                                       std::span<const BlockShape> recv_blocks) {
  return PersistentExchange(collectives::make_neighbor_xchg(
      communicator.core(), send, recv,
      {.send = BlockList::general(send_blocks), .recv = BlockList::general(recv_blocks)}));
}

PersistentExchange cart_shift_xchg_init(const Communicator& communicator, const void* send, void* recv,
                                        const Layout& block, int dimension, int displacement) {
  return PersistentExchange(collectives::make_cart_shift_xchg(
      communicator.core(), send, recv,
      {.send = {0, 1, &block}, .recv = {0, 1, &block}, .dimension = dimension, .displacement = displacement}));
}

PersistentExchange cart_shift_xchg_init(const Communicator& communicator, void* buffer, const Layout& block,
                                        int dimension, int displacement) {
  return PersistentExchange(collectives::make_cart_shift_xchg(
      communicator.core(), nullptr, buffer,
      {.send = {}, .recv = {0, 1, &block}, .dimension = dimension, .displacement = displacement, .in_place = true}));
}

}  // namespace fab
