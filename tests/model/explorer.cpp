#include "model/explorer.h"

#include <algorithm>
#include <cstdlib>

namespace fab::model {

namespace {

constexpr std::size_t kStackBytes = 64 * 1024;
constexpr std::uintptr_t kLineBytes = 64;

void join(Clock& clock, const Clock& other) {
  for (std::size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], other[i]);
}

bool all_before(const Clock& accesses, const Clock& clock, std::size_t except) {
  for (std::size_t i = 0; i < clock.size(); ++i)
    if (i != except && accesses[i] > clock[i]) return false;
  return true;
}

}  // namespace

Explorer::Explorer() { the_ = this; }

Explorer::~Explorer() { the_ = nullptr; }

void Explorer::weaken(const void* memory, std::size_t bytes, Side side) {
  const auto* const begin = static_cast<const std::byte*>(memory);
  weaknesses_.push_back({begin, begin + bytes, side});
}

Explorer::Outcome Explorer::explore(const Body& reset, const std::vector<Body>& bodies) {
  Outcome outcome;
  choices_.clear();
  failure_.clear();
  threads_.resize(bodies.size());
  for (Thread& thread : threads_) thread.stack.resize(kStackBytes);
  do {
    run_once(reset, bodies);
    if (std::ranges::all_of(threads_, &Thread::ended)) ++outcome.executions;
  } while (failure_.empty() && next_execution());
  outcome.failure = failure_;
  return outcome;
}

void Explorer::run_once(const Body& reset, const std::vector<Body>& bodies) {
  bodies_ = &bodies;
  depth_ = 0;
  locations_.clear();
  lines_.clear();
  reset();
  for (std::size_t i = 0; i < threads_.size(); ++i) start(i);
  current_ = choose_thread();
  ::swapcontext(&outside_, &self().context);
}

void Explorer::start(std::size_t number) {
  Thread& thread = threads_[number];
  thread.clock = {};
  thread.clock[number] = 1;
  thread.next = {};
  thread.ended = thread.asleep = thread.paused = false;
  thread.looked_at.clear();
  ::getcontext(&thread.context);
  thread.context.uc_stack.ss_sp = thread.stack.data();
  thread.context.uc_stack.ss_size = thread.stack.size();
  thread.context.uc_link = nullptr;
  ::makecontext(&thread.context, &Explorer::enter_thread, 0);
}

void Explorer::enter_thread() {
  Explorer& explorer = the();
  (*explorer.bodies_)[explorer.current_]();
  explorer.self().ended = true;
  explorer.let_someone_run();
}

// The last choice that has another outcome is made differently, those before it are repeated.
bool Explorer::next_execution() {
  while (!choices_.empty() && choices_.back().taken + 1 == choices_.back().count) choices_.pop_back();
  if (choices_.empty()) return false;
  ++choices_.back().taken;
  return true;
}

std::size_t Explorer::choose(std::size_t count) {
  if (count == 1) return 0;
  if (depth_ == choices_.size()) choices_.push_back({0, count});
  return choices_[depth_++].taken;
}

std::vector<Explorer::Location*> Explorer::newer_than_seen(const Thread& thread) {
  std::vector<Location*> newer;
  for (const auto& [address, got] : thread.looked_at)
    if (Location& location = locations_.at(address); location.stores.size() > got + 1) newer.push_back(&location);
  return newer;
}

bool Explorer::can_run(const Thread& thread) {
  return !thread.ended && !(thread.paused && newer_than_seen(thread).empty());
}

void Explorer::before(const Step& step) {
  self().next = step;
  let_someone_run();
}

void Explorer::let_someone_run() {
  Thread& before = self();
  current_ = choose_thread();
  if (&before != &self()) ::swapcontext(&before.context, &self().context);
}

// Leaves the execution when it is over, or repeats one.
std::size_t Explorer::choose_thread() {
  std::array<std::size_t, kMostThreads> able{};
  std::size_t count = 0;
  bool some_sleep = false;
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    if (!can_run(threads_[i])) continue;
    if (threads_[i].asleep)
      some_sleep = true;
    else
      able[count++] = i;
  }
  if (count == 0) {
    if (some_sleep || std::ranges::all_of(threads_, &Thread::ended)) ::setcontext(&outside_);
    fail("no thread can go on");
  }
  const std::size_t taken = choose(count);
  for (std::size_t i = 0; i < taken; ++i) threads_[able[i]].asleep = true;
  const Step& step = threads_[able[taken]].next;
  for (Thread& thread : threads_) thread.asleep = thread.asleep && !thread.next.concerns(step);
  return able[taken];
}

// The threads stay where they are; the next execution gives them new stacks.
void Explorer::fail(const std::string& what) {
  failure_ = what;
  ::setcontext(&outside_);
  std::abort();
}

void Explorer::require(bool good, const char* what) {
  if (!good) fail(what);
}

Explorer::Location& Explorer::at(const void* location, std::uint64_t initial) {
  Location& found = locations_[location];
  if (found.stores.empty()) found.stores.push_back({.value = initial});
  return found;
}

bool Explorer::weak(const void* location, Side side) const {
  const auto* const place = static_cast<const std::byte*>(location);
  return std::ranges::any_of(weaknesses_, [&](const Weakness& weakness) {
    return weakness.side == side && place >= weakness.begin && place < weakness.end;
  });
}

std::uint64_t Explorer::load(const void* location, std::uint64_t initial, Operation operation) {
  before({.location = location});
  Location& its = at(location, initial);
  Thread& thread = self();
  ++thread.clock[current_];
  std::size_t oldest = its.seen[current_];
  if (operation.sequential) oldest = std::max(oldest, its.sequential);
  for (std::size_t i = its.stores.size() - 1; i > oldest; --i)
    if (its.stores[i].time <= thread.clock[its.stores[i].thread]) oldest = i;
  const std::size_t taken = its.stores.size() - 1 - choose(its.stores.size() - oldest);
  its.seen[current_] = taken;
  const Store& store = its.stores[taken];
  if (operation.acquire && !weak(location, Side::loads)) join(thread.clock, store.released);
  thread.looked_at[location] = taken;
  return store.value;
}

// What the thread does afterwards has a later time, so that the store does not tell of it.
void Explorer::append(Location& location, std::uint64_t value, const Clock& inherited, const Operation& operation) {
  Store store{.value = value, .thread = current_, .time = self().clock[current_], .released = inherited};
  if (operation.release) join(store.released, self().clock);
  location.stores.push_back(store);
  location.seen[current_] = location.stores.size() - 1;
  if (operation.sequential) location.sequential = location.stores.size() - 1;
  ++self().clock[current_];
}

void Explorer::store(const void* location, std::uint64_t initial, std::uint64_t value, Operation operation) {
  before({.location = location, .stores = true});
  ++self().clock[current_];
  if (weak(location, Side::stores)) operation.release = false;
  append(at(location, initial), value, {}, operation);
}

std::uint64_t Explorer::exchange(const void* location, std::uint64_t initial,
                                 const std::function<std::uint64_t(std::uint64_t)>& change, Operation operation) {
  before({.location = location, .stores = true});
  Location& its = at(location, initial);
  const Store latest = its.stores.back();
  ++self().clock[current_];
  if (operation.acquire && !weak(location, Side::loads)) join(self().clock, latest.released);
  if (weak(location, Side::stores)) operation.release = false;
  append(its, change(latest.value), latest.released, operation);
  return latest.value;
}

void Explorer::barrier_on_all() {
  before({.on_all = true});
  for (auto& [address, location] : locations_) location.seen.fill(location.stores.size() - 1);
}

void Explorer::pause() {
  Thread& thread = self();
  thread.paused = true;
  if (!can_run(thread)) let_someone_run();
  thread.paused = false;
  const std::vector<Location*> newer = newer_than_seen(thread);
  Location& chosen = *newer[choose(newer.size())];
  std::size_t& seen = chosen.seen[current_];
  seen = std::max(seen, chosen.stores.size() - 1);
  thread.looked_at.clear();
}

void Explorer::access(const void* memory, std::size_t bytes, bool write) {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  const Clock& clock = self().clock;
  for (std::uintptr_t line = begin / kLineBytes; line <= (begin + bytes - 1) / kLineBytes; ++line) {
    Line& its = lines_[line];
    if (!all_before(its.written, clock, current_) || (write && !all_before(its.read, clock, current_)))
      fail(write ? "memory is written while another thread may use it" : "memory is read while it may be written");
    (write ? its.written : its.read)[current_] = clock[current_];
  }
}

}  // namespace fab::model
