// Halo exchanges of the C API.
#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "bindings/native/c/handles.h"

namespace fab::c {

namespace {

HaloOptions options_of(const fab_halo_options& given_options) {
  const auto& [dimensions, grid, periodic, interior, width, element_bytes, corners, buffers, reorder] = given_options;
  if (dimensions < 1)
    throw Error(Errc::invalid_argument, "halo: dimensions is " + std::to_string(dimensions) + "; valid is 1 or more");
  const auto count = static_cast<std::size_t>(dimensions);
  const auto copied = [count](const auto* first, const char* argument) {
    const auto all = array_of(first, count, argument);
    return std::vector(all.begin(), all.end());
  };
  const std::vector<int> around = copied(periodic, "options.periodic");
  return {.grid = copied(grid, "options.grid"),
          .periodic = std::vector<bool>(around.begin(), around.end()),
          .block = {.interior = copied(interior, "options.interior"),
                    .width = copied(width, "options.width"),
                    .element_bytes = element_bytes,
                    .corners = corners != 0},
          .buffers = buffers,
          .reorder = reorder != 0 ? Reorder::yes : Reorder::no};
}

Direction side_of(const HaloExchange& exchange, const int* side) {
  return Direction(array_of(side, exchange.geometry().dimensions(), "side"));
}

HaloExchange& exchange_of(fab_halo* halo) { return given(halo, "halo").exchange; }

}  // namespace

// Functions of C linkage are the same in every namespace, but FAB_API of their declarations does not come along.
#pragma GCC visibility push(default)
extern "C" {

fab_error fab_halo_make(const fab_comm* comm, const fab_halo_options* options, fab_halo** made) {
  return guarded([&] {
    fab_halo*& halo = given(made, "made");
    std::optional<HaloExchange> exchange =
        HaloExchange::make_if(given(comm, "comm").communicator, options_of(given(options, "options")));
    halo = exchange ? new fab_halo(*std::move(exchange)) : nullptr;
  });
}

void fab_halo_free(fab_halo* halo) { delete halo; }

const fab_comm* fab_halo_comm(const fab_halo* halo) { return halo == nullptr ? nullptr : &halo->comm; }

void* fab_halo_field(const fab_halo* halo) { return halo == nullptr ? nullptr : halo->exchange.field().data(); }

void* fab_halo_other_field(const fab_halo* halo) {
  void* field = nullptr;
  static_cast<void>(guarded([&] { field = given(halo, "halo").exchange.other_field().data(); }));
  return field;
}

void fab_halo_extents(const fab_halo* halo, size_t extents[]) {
  if (halo != nullptr && extents != nullptr) std::ranges::copy(halo->exchange.geometry().extents(), extents);
}

void fab_halo_strides(const fab_halo* halo, size_t strides[]) {
  if (halo != nullptr && strides != nullptr) std::ranges::copy(halo->exchange.geometry().strides(), strides);
}

fab_error fab_halo_neighbor(const fab_halo* halo, const int side[], int* rank) {
  return guarded([&] {
    const HaloExchange& exchange = given(halo, "halo").exchange;
    given(rank, "rank") = exchange.neighbor(side_of(exchange, side)).value_or(kNoRank);
  });
}

fab_error fab_halo_start(fab_halo* halo) {
  return guarded([&] { exchange_of(halo).start(); });
}

fab_error fab_halo_finish(fab_halo* halo) {
  return guarded([&] { exchange_of(halo).finish(); });
}

fab_error fab_halo_finish_for(fab_halo* halo, double seconds, int* complete) {
  return guarded([&] {
    int& over = given(complete, "complete");
    over = exchange_of(halo).finish_for(seconds_of(seconds)) ? 1 : 0;
  });
}

fab_error fab_halo_finish_side(fab_halo* halo, const int side[]) {
  return guarded([&] {
    HaloExchange& exchange = exchange_of(halo);
    exchange.finish(side_of(exchange, side));
  });
}

fab_error fab_halo_finish_side_for(fab_halo* halo, const int side[], double seconds, int* complete) {
  return guarded([&] {
    int& over = given(complete, "complete");
    HaloExchange& exchange = exchange_of(halo);
    over = exchange.finish_for(side_of(exchange, side), seconds_of(seconds)) ? 1 : 0;
  });
}

fab_error fab_halo_finish_any(fab_halo* halo, int side[], int* found) {
  return guarded([&] {
    int& there = given(found, "found");
    const std::optional<Direction> finished = exchange_of(halo).finish_any();
    there = finished ? 1 : 0;
    if (!finished || side == nullptr) return;
    for (std::size_t d = 0; d < finished->dimensions(); ++d) side[d] = (*finished)[d];
  });
}

fab_error fab_halo_flip(fab_halo* halo) {
  return guarded([&] { exchange_of(halo).flip(); });
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace fab::c
