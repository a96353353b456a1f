#include "bindings/nbc/combine.h"

#include <fmt/core.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <vector>

#include "bindings/mpi/base/failure.h"
#include "bindings/mpi/calls/arguments.h"
#include "bindings/mpi/lifecycle/lifecycle.h"
#include "bindings/nbc/code.h"
#include "fab/nbc.h"

namespace fab::nbc {

namespace {

Block block_at(const void* buffer, Layout layout) {
  return {BufferId::send, static_cast<std::ptrdiff_t>(reinterpret_cast<std::intptr_t>(buffer)), std::move(layout)};
}

std::byte* memory_of(const Block& block) { return reinterpret_cast<std::byte*>(block.offset); }

std::byte* data_of(const Block& block) { return memory_of(block) + block.layout.true_lower_bound(); }

/// Does the steps of a combination.
class Local {
 public:
  Block scratch(std::size_t bytes) {
    Block block = block_at(scratch_.emplace_back(bytes).data(), Layout::contiguous(bytes));
    block.buffer = BufferId::scratch;
    return block;
  }
  static void copy(const Block& from, const Block& to) { do_copy(from, to); }
  static void reduce(const mpi::Reducer& reducer, const Block& from, const Block& into) {
    const std::size_t elements = from.layout.size() / reducer.element_bytes;
    if (reducer.reduction.op == ReduceOp::user)
      reducer.user.function(reducer.user.context, data_of(from), data_of(into), elements);
    else
      reduce_elements(reducer.reduction, data_of(from), data_of(into), elements);
  }

 private:
  std::deque<std::vector<std::byte>> scratch_;
};

}  // namespace

Block block_of(const char* name, const void* buffer, int count, MPI_Datatype type) {
  const auto view = mpi::single_block({.name = name, .buffer = buffer, .type = type, .count = count});
  return block_at(buffer, view.in(BufferId::send).layout);
}

Combination combination_of(void* tgt, const void* src1, const void* src2, int count, MPI_Datatype type, MPI_Op op) {
  mpi::check_count("", count);
  Combination combination{.reducer = mpi::reducer_of(op, type)};
  const Layout layout = combination.reducer.element.repeated(static_cast<std::size_t>(count));
  const auto block = [&](const char* name, const void* buffer) {
    mpi::check_buffer({.name = name, .buffer = buffer, .type = type}, layout, count > 0);
    return block_at(buffer, layout);
  };
  combination.lower = block("first source ", src1);
  combination.higher = block("second source ", src2);
  combination.target = block("target ", tgt);
  return combination;
}

void check_copy(const Block& from, const Block& to) {
  if (from.layout.size() != to.layout.size())
    throw Failure(MPI_ERR_COUNT, fmt::format("{} bytes to copy to a place of {} bytes; they must be as many",
                                             from.layout.size(), to.layout.size()));
}

void do_copy(const Block& from, const Block& to) {
  if (from.layout.size() == 0) return;
  if (from.layout.is_contiguous() && to.layout.is_contiguous()) {
    std::memmove(data_of(to), data_of(from), from.layout.size());
    return;
  }
  std::vector<std::byte> packed(from.layout.size());
  from.layout.pack(memory_of(from), packed.data());
  to.layout.unpack(packed.data(), memory_of(to));
}

void do_combine(const Combination& combination) {
  if (combination.target.layout.size() > 0) combine(Local(), combination);
}

}  // namespace fab::nbc

using namespace fab::nbc;

int NBC_Copy(const void* src, int srccount, MPI_Datatype srctype, void* tgt, int tgtcount, MPI_Datatype tgttype,
             MPI_Comm) {
  return guarded("NBC_Copy", [&] {
    fab::mpi::open_fab();
    const fab::Block from = block_of("src", src, srccount, srctype);
    const fab::Block to = block_of("tgt", tgt, tgtcount, tgttype);
    check_copy(from, to);
    do_copy(from, to);
    return NBC_OK;
  });
}

int NBC_Operation(void* tgt, const void* src1, const void* src2, MPI_Op op, MPI_Datatype type, int count) {
  return guarded("NBC_Operation", [&] {
    fab::mpi::open_fab();
    do_combine(combination_of(tgt, src1, src2, count, type, op));
    return NBC_OK;
  });
}
