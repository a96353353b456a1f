// HaloExchange: keeps the halos of a rank's block of a grid current, by a persistent exchange for each of its fields.
#include "fab/halo.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>

#include "bindings/native/base/access.h"
#include "collectives/neighbor/halo_xchg.h"
#include "core/communicator/refused_call.h"
#include "fab/memory.h"
#include "fab/partitioned.h"
#include "fab/wait_any.h"

namespace fab {

namespace {

template <class... Arguments>
[[noreturn]] void refuse(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
  throw Error(Errc::invalid_argument, "halo: " + fmt::format(text, std::forward<Arguments>(arguments)...));
}

void check(const HaloOptions& options, const HaloGeometry& geometry) {
  const auto& [grid, periodic, block, buffers, memory, reorder] = options;
  if (geometry.dimensions() != grid.size())
    refuse("the block has {} dimensions and the grid has {}", geometry.dimensions(), grid.size());
  if (buffers != 1 && buffers != 2) refuse("buffers is {}; valid are 1 and 2", buffers);
  if (memory.empty()) return;
  if (memory.size() != static_cast<std::size_t>(buffers))
    refuse("memory has {} entries and buffers is {}; they must be equal", memory.size(), buffers);
  for (std::size_t i = 0; i < memory.size(); ++i)
    if (memory[i].size() != geometry.bytes())
      refuse("memory[{}] has {} bytes; the block and its halo have {}", i, memory[i].size(), geometry.bytes());
}

/// Of a rank that must not be left over.
template <class State>
std::unique_ptr<State> must_have_place(std::unique_ptr<State> state, const Communicator& communicator,
                                       const HaloOptions& options) {
  if (state != nullptr) return state;
  const int places = std::accumulate(options.grid.begin(), options.grid.end(), 1, std::multiplies<>());
  throw Error(Errc::invalid_topology,
              fmt::format("halo: rank {} gets no place in a grid of {} places; use HaloExchange::make_if if that is "
                          "intended",
                          communicator.rank(), places));
}

/// Of the messages along each dimension; none where the block is bad, which HaloGeometry tells later.
std::vector<std::int64_t> face_bytes(const HaloShape& block) {
  std::vector<std::int64_t> bytes;
  if (block.interior.size() != block.width.size()) return bytes;
  for (std::size_t d = 0; d < block.width.size(); ++d) {
    double face = static_cast<double>(block.width[d] * block.element_bytes);
    for (std::size_t other = 0; other < block.interior.size(); ++other)
      if (other != d) face *= static_cast<double>(block.interior[other]);
    bytes.push_back(static_cast<std::int64_t>(std::min(face, 0x1p40)));  // so that sums over all ranks fit
  }
  return bytes;
}

}  // namespace

struct HaloExchange::State {
  /// One field with its exchange.
  struct Buffer {
    Array<std::byte> own;  ///< empty: the caller's memory
    std::span<std::byte> field;
    PartitionedExchange exchange;
    std::vector<bool> told;  ///< directions whose end was told since the last start
  };

  /// Null: this rank is outside the grid.
  [[nodiscard]] static std::unique_ptr<State> make_if(const Communicator& communicator, const HaloOptions& options,
                                                      std::optional<HaloParts> parts);

  State(Communicator its_grid, HaloGeometry its_geometry, std::optional<HaloParts> its_parts)
      : grid(std::move(its_grid)),
        geometry(std::move(its_geometry)),
        parts(its_parts),
        sources(collectives::halo_sources(std::get<Cartesian>(*grid.topology()), grid.rank(), geometry)) {
    std::size_t edges = 0;
    for (const std::optional<Edge>& source : sources) source_index.push_back(source ? edges++ : edges);
    wanted.reserve(sources.size());
    wanted_sides.reserve(sources.size());
  }

  void add_buffer(Array<std::byte> own, std::span<std::byte> field) {
    PartitionedExchange exchange = core::in_order_of_persistent(*Access::core(grid), [&] {
      if (parts) static_cast<void>(geometry.part(*parts, 0));  // refuses bad ones
      return Access::partitioned(parts ? collectives::make_halo_xchg(Access::core(grid), field.data(), geometry, *parts)
                                       : collectives::make_halo_xchg(Access::core(grid), field.data(), geometry));
    });
    buffers.push_back({std::move(own), field, std::move(exchange), std::vector<bool>(sources.size(), true)});
  }

  [[nodiscard]] Buffer& now() noexcept { return buffers[current]; }
  [[nodiscard]] std::size_t other(const char* call) const {
    if (buffers.size() < 2) refuse("{}: this object has one buffer; make it with buffers = 2", call);
    return 1 - current;
  }

  /// The position of a side's neighbour among those that exist; none at the end of the grid.
  [[nodiscard]] std::optional<std::size_t> edge(const Direction& side) const {
    const std::size_t i = geometry.index_of(side);
    return sources[i] ? std::optional(source_index[i]) : std::nullopt;
  }

  Communicator grid;
  HaloGeometry geometry;
  std::optional<HaloParts> parts;
  std::vector<std::optional<Edge>> sources;  ///< one per direction
  std::vector<std::size_t> source_index;     ///< of a direction's edge among those that exist
  std::vector<Buffer> buffers;
  std::size_t current = 0;
  std::vector<std::size_t> wanted;  ///< by finish_any, as sources
  std::vector<std::size_t> wanted_sides;
};

HaloExchange::HaloExchange(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
HaloExchange::HaloExchange(HaloExchange&&) noexcept = default;
HaloExchange& HaloExchange::operator=(HaloExchange&&) noexcept = default;
HaloExchange::~HaloExchange() = default;

HaloExchange::HaloExchange(const Communicator& communicator, const HaloOptions& options)
    : HaloExchange(must_have_place(State::make_if(communicator, options, std::nullopt), communicator, options)) {}

HaloExchange::HaloExchange(const Communicator& communicator, const HaloOptions& options, const HaloParts& parts)
    : HaloExchange(must_have_place(State::make_if(communicator, options, parts), communicator, options)) {}

std::optional<HaloExchange> HaloExchange::make_if(const Communicator& communicator, const HaloOptions& options) {
  std::unique_ptr<State> state = State::make_if(communicator, options, std::nullopt);
  return state == nullptr ? std::nullopt : std::optional(HaloExchange(std::move(state)));
}

std::optional<HaloExchange> HaloExchange::make_if(const Communicator& communicator, const HaloOptions& options,
                                                  const HaloParts& parts) {
  std::unique_ptr<State> state = State::make_if(communicator, options, parts);
  return state == nullptr ? std::nullopt : std::optional(HaloExchange(std::move(state)));
}

// The grid first: a rank outside it has no block, and one that gives a bad block does not keep the others waiting.
std::unique_ptr<HaloExchange::State> HaloExchange::State::make_if(const Communicator& communicator,
                                                                  const HaloOptions& options,
                                                                  std::optional<HaloParts> parts) {
  std::optional<Communicator> grid =
      communicator.cartesian_if(options.grid, options.periodic, options.reorder, face_bytes(options.block));
  if (!grid) return nullptr;
  HaloGeometry geometry(options.block);
  check(options, geometry);
  auto state = std::make_unique<State>(*std::move(grid), std::move(geometry), parts);
  for (std::size_t i = 0; i < static_cast<std::size_t>(options.buffers); ++i) {
    const std::size_t bytes = state->geometry.bytes();
    Array<std::byte> own;
    if (options.memory.empty()) own = make_array<std::byte>(bytes);
    const std::span<std::byte> field = options.memory.empty() ? std::span<std::byte>(own) : options.memory[i];
    state->add_buffer(std::move(own), field);
  }
  return state;
}

const Communicator& HaloExchange::communicator() const noexcept { return state_->grid; }

const HaloGeometry& HaloExchange::geometry() const noexcept { return state_->geometry; }

std::optional<Rank> HaloExchange::neighbor(const Direction& side) const {
  const std::optional<Edge>& source = state_->sources[state_->geometry.index_of(side)];
  return source ? std::optional(source->peer) : std::nullopt;
}

std::span<std::byte> HaloExchange::field() const noexcept { return state_->now().field; }

std::span<std::byte> HaloExchange::other_field() const { return state_->buffers[state_->other("other_field")].field; }

void HaloExchange::check_values(std::size_t value_bytes, std::size_t alignment,
                                std::span<const std::byte> memory) const {
  const std::size_t element_bytes = state_->geometry.shape().element_bytes;
  if (element_bytes % value_bytes != 0)
    refuse("field: an element has {} bytes, no whole number of values of {} bytes", element_bytes, value_bytes);
  if (reinterpret_cast<std::uintptr_t>(memory.data()) % alignment != 0)
    refuse("field: the memory is not aligned to {} bytes, as the type of the values requires", alignment);
}

void HaloExchange::flip() { state_->current = state_->other("flip"); }

void HaloExchange::start() {
  State::Buffer& buffer = state_->now();
  if (buffer.exchange.active()) refuse("start: the last start is not finished; call finish first");
  buffer.exchange.start();
  std::fill(buffer.told.begin(), buffer.told.end(), false);
}

Waitable::Waitable(const HaloExchange& halo) noexcept : Waitable(halo.state_->now().exchange) {}

bool HaloExchange::active() const noexcept { return state_->now().exchange.active(); }

void HaloExchange::finish() {
  State::Buffer& buffer = state_->now();
  std::fill(buffer.told.begin(), buffer.told.end(), true);
  buffer.exchange.wait();
}

Status HaloExchange::try_start() {
  return attempt([this] { start(); });
}

Status HaloExchange::try_finish() {
  return attempt([this] { finish(); });
}

bool HaloExchange::finish_until(std::chrono::steady_clock::time_point time) {
  State::Buffer& buffer = state_->now();
  const Result<bool> complete = buffer.exchange.try_wait_until(time);
  if (!complete || *complete) std::fill(buffer.told.begin(), buffer.told.end(), true);
  return complete.value();
}

void HaloExchange::finish(const Direction& side) {
  const std::size_t i = state_->geometry.index_of(side);
  State::Buffer& buffer = state_->now();
  if (state_->sources[i]) buffer.exchange.wait_source(state_->source_index[i]);
  buffer.told[i] = true;
}

bool HaloExchange::finish_until(const Direction& side, std::chrono::steady_clock::time_point time) {
  const std::size_t i = state_->geometry.index_of(side);
  State::Buffer& buffer = state_->now();
  if (state_->sources[i] && !buffer.exchange.wait_source_until(state_->source_index[i], time)) return false;
  buffer.told[i] = true;
  return true;
}

std::optional<Direction> HaloExchange::finish_any() {
  State& state = *state_;
  State::Buffer& buffer = state.now();
  const auto tell = [&](std::size_t i) {
    buffer.told[i] = true;
    return state.geometry.directions()[i];
  };
  state.wanted.clear();
  state.wanted_sides.clear();
  for (std::size_t i = 0; i < buffer.told.size(); ++i) {
    if (buffer.told[i]) continue;
    if (!state.sources[i]) return tell(i);
    state.wanted.push_back(state.source_index[i]);
    state.wanted_sides.push_back(i);
  }
  if (!state.wanted.empty()) return tell(state.wanted_sides[buffer.exchange.wait_any_source(state.wanted)]);
  finish();
  return std::nullopt;
}

std::size_t HaloExchange::parts() const noexcept { return state_->parts ? state_->parts->count : 1; }

Box HaloExchange::part(std::size_t part) const {
  return state_->geometry.part(state_->parts.value_or(HaloParts{}), part);
}

void HaloExchange::ready(const Direction& side, std::size_t part) {
  if (const auto edge = state_->edge(side)) state_->now().exchange.ready(*edge, part);
}

// Copies to the rank itself come last, while messages travel.
void HaloExchange::ready(std::size_t part) {
  const auto& [sources, index] = std::tie(state_->sources, state_->source_index);
  for (const bool to_itself : {false, true})
    for (std::size_t i = 0; i < sources.size(); ++i)
      if (sources[i] && (sources[i]->peer == state_->grid.rank()) == to_itself)
        state_->now().exchange.ready(index[i], part);
}

bool HaloExchange::arrived(const Direction& side, std::size_t part) {
  const auto edge = state_->edge(side);
  return !edge || state_->now().exchange.arrived(*edge, part);
}

void HaloExchange::finish(const Direction& side, std::size_t part) {
  if (const auto edge = state_->edge(side)) state_->now().exchange.wait_part(*edge, part);
}

}  // namespace fab
