#include "core/job/ledger.h"

#include <fmt/core.h>

#include <algorithm>

namespace fab::core {

namespace {

const char* const kOthers = "others";

bool have_one_name(const OperationStatistics& one, const OperationStatistics& other) {
  return one.communicator == other.communicator && one.operation == other.operation && one.algorithm == other.algorithm;
}

/// Allocates nothing. Precondition: the ranks are known there.
Ledger::VisitReceived adder_to(std::map<Rank, MessageAmounts>& sums) {
  return [&sums](Rank from, const MessageAmounts& amounts) { sums.find(from)->second.add(amounts); };
}

}  // namespace

Ledger::Communicator& Ledger::add_communicator(int ranks) {
  const MutexLock lock(mutex_);
  Communicator* its = &others_;
  if (communicators_.size() < kMostCommunicators) its = &communicators_.emplace_back(Communicator{.ranks = ranks});
  return *its;  // where it is stays the same
}

void Ledger::name(Communicator& communicator, ContextId id) noexcept {
  const MutexLock lock(mutex_);
  if (&communicator != &others_) communicator.id = id;
}

std::string Ledger::name_of(const Communicator& communicator) const {
  if (&communicator == &all_) return "all";
  const std::optional<ContextId>& id = communicator.id;
  if (!id) return kOthers;
  return *id == ContextId{} ? "world" : fmt::format("{}.{}", id->owner, id->number);
}

Ledger::Row& Ledger::find(const Communicator& communicator, std::string_view operation, std::string_view algorithm) {
  const auto is_its = [&](const Row& row) {
    return row.communicator == &communicator && row.operation == operation && row.algorithm == algorithm;
  };
  const auto found = std::ranges::find_if(rows_, is_its);
  if (found != rows_.end()) return *found;
  return rows_.emplace_back(Row{.communicator = &communicator,
                                .operation = std::string(operation),
                                .algorithm = algorithm,
                                .number = rows_.size()});
}

Ledger::Row& Ledger::begin(Counted& counted, const Communicator& communicator, std::string_view operation,
                           std::string_view algorithm, std::span<Peer* const> peers) {
  const MutexLock lock(mutex_);
  for (const Peer* peer : peers) received_.try_emplace(peer->world_rank);  // end() allocates nothing
  Row& row = rows_.size() < kMostRows ? find(communicator, operation, algorithm) : find(others_, kOthers, {});
  row.living.push_back(counted);
  return row;
}

// The sums are read under both locks, and the last user of a plan need not hold the engine's.
void Ledger::end(Counted& counted, Row& row) noexcept {
  const MutexLock lock(mutex_);
  engine_lock.assert_held();
  counted.add_to(row.ended);
  counted.visit_received(adder_to(received_));
  counted.leave();
}

std::vector<TracedOperation> Ledger::names() const {
  const MutexLock lock(mutex_);
  std::vector<TracedOperation> all;
  for (const Row& row : rows_)
    all.push_back({.communicator = name_of(*row.communicator),
                   .ranks = row.communicator->ranks,
                   .operation = row.operation,
                   .algorithm = std::string(row.algorithm)});
  return all;
}

std::map<Rank, MessageAmounts> Ledger::received() const {
  const MutexLock lock(mutex_);
  std::map<Rank, MessageAmounts> all = received_;
  for (const Row& row : rows_)
    for (const Linked* each = &row.living.first(); each != &row.living; each = &each->next())
      static_cast<const Counted*>(each)->visit_received(adder_to(all));
  return all;
}

std::vector<OperationSums> Ledger::read() const {
  const MutexLock lock(mutex_);
  std::vector<OperationSums> all;
  for (const Row& row : rows_) {
    OperationSums sums = row.ended;
    sums.communicator = name_of(*row.communicator);
    sums.ranks = row.communicator->ranks;
    sums.operation = row.operation;
    sums.algorithm = row.algorithm;
    for (const Linked* each = &row.living.first(); each != &row.living; each = &each->next())
      static_cast<const Counted*>(each)->add_to(sums);
    const auto known = std::ranges::find_if(all, [&](const OperationSums& one) { return have_one_name(one, sums); });
    if (known == all.end())
      all.push_back(std::move(sums));
    else
      known->add(sums);
  }
  return all;
}

}  // namespace fab::core
