// Every collective under the drop-in library against MPI's own result: random counts, types, roots, in place or not, on
// several communicators, completed by every function that completes requests.
#include <algorithm>
#include <functional>
#include <vector>

#include "forms.h"

namespace fab::test {

namespace {

constexpr int kRounds = 12;

/// One communicator, and what is drawn on it.
struct Case {
  MPI_Comm comm;
  int rank = 0;
  int ranks = 1;
  Draw alike;
  Draw own;
  int way = 0;

  Case(MPI_Comm of, unsigned seed) : comm(of), alike(seed), own(seed) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    own = Draw(seed * 1000 + static_cast<unsigned>(rank) + 1);
    way = alike.number(0, kWaysToFinish - 1);
  }
  int root() { return alike.number(0, ranks - 1); }
  bool coin() { return alike.number(0, 1) == 1; }
};

/// The world, a duplicate of it, the same in the opposite order, and halves.
class Collectives : public testing::TestWithParam<int> {
 protected:
  Collectives() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    switch (GetParam()) {
      case 0:
        comm_ = MPI_COMM_WORLD;
        break;
      case 1:
        MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
        break;
      case 2:
        MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm_);
        break;
      default:
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm_);
    }
  }
  ~Collectives() override {
    if (comm_ != MPI_COMM_WORLD) MPI_Comm_free(&comm_);
  }

  void repeat(const std::function<void(Case&)>& body) const {
    for (unsigned round = 0; round < kRounds; ++round) {
      SCOPED_TRACE(round);
      Case each(comm_, round + 1);
      body(each);
    }
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
};

std::size_t bytes_for(std::size_t elements, const RandomType& type) { return (elements + 1) * type.extent(); }
std::size_t count_of(int count) { return static_cast<std::size_t>(count); }

TEST_P(Collectives, Bcast) {
  repeat([](Case& c) {
    const RandomType type(c.own, random_base(c.alike));
    const int count = c.alike.count();
    const int root = c.root();
    const Bytes before = random_bytes(bytes_for(count_of(count), type), c.own);
    COMPARE_FORMS(before, c.way, Bcast, bcast, (buffer, count, type.get(), root), c.comm);
  });
}

TEST_P(Collectives, GatherAndScatter) {
  repeat([](Case& c) {
    const MPI_Datatype base = random_base(c.alike);
    const RandomType own(c.own, base);
    const RandomType all(c.own, base);
    const int count = c.alike.count() % 3000;
    const int root = c.root();
    const bool in_place = c.coin() && c.rank == root;
    const Bytes block = random_bytes(bytes_for(count_of(count), own), c.own);
    const Bytes blocks = random_bytes(bytes_for(count_of(count * c.ranks), all), c.own);
    const void* const sent = in_place ? MPI_IN_PLACE : block.data();
    COMPARE_FORMS(blocks, c.way, Gather, gather, (sent, count, own.get(), buffer, count, all.get(), root), c.comm);
    if (in_place)
      COMPARE_FORMS(blocks, c.way, Scatter, scatter, (buffer, count, all.get(), MPI_IN_PLACE, count, own.get(), root),
                    c.comm);
    else
      COMPARE_FORMS(block, c.way, Scatter, scatter, (blocks.data(), count, all.get(), buffer, count, own.get(), root),
                    c.comm);
  });
}

TEST_P(Collectives, GathervAndScatterv) {
  repeat([](Case& c) {
    const MPI_Datatype base = random_base(c.alike);
    const RandomType own(c.own, base);
    const RandomType all(c.own, base);
    const std::vector<int> counts = c.alike.counts(c.ranks);
    const std::vector<int> places = displacements_of(counts);
    const int count = counts.at(count_of(c.rank));
    const int root = c.root();
    const Bytes block = random_bytes(bytes_for(count_of(count), own), c.own);
    const Bytes blocks = random_bytes(bytes_for(reach_of(counts), all), c.own);
    const bool in_place = c.coin() && c.rank == root;
    const void* const sent = in_place ? MPI_IN_PLACE : block.data();
    COMPARE_FORMS(blocks, c.way, Gatherv, gatherv,
                  (sent, count, own.get(), buffer, counts.data(), places.data(), all.get(), root), c.comm);
    if (in_place)
      COMPARE_FORMS(blocks, c.way, Scatterv, scatterv,
                    (buffer, counts.data(), places.data(), all.get(), MPI_IN_PLACE, count, own.get(), root), c.comm);
    else
      COMPARE_FORMS(block, c.way, Scatterv, scatterv,
                    (blocks.data(), counts.data(), places.data(), all.get(), buffer, count, own.get(), root), c.comm);
  });
}

TEST_P(Collectives, Allgather) {
  repeat([](Case& c) {
    const MPI_Datatype base = random_base(c.alike);
    const RandomType own(c.own, base);
    const RandomType all(c.own, base);
    const int count = c.alike.count() % 3000;
    const Bytes block = random_bytes(bytes_for(count_of(count), own), c.own);
    const Bytes blocks = random_bytes(bytes_for(count_of(count * c.ranks), all), c.own);
    const void* const sent = c.coin() ? MPI_IN_PLACE : block.data();
    COMPARE_FORMS(blocks, c.way, Allgather, allgather, (sent, count, own.get(), buffer, count, all.get()), c.comm);
    const std::vector<int> counts = c.alike.counts(c.ranks);
    const std::vector<int> places = displacements_of(counts);
    const Bytes varied = random_bytes(bytes_for(reach_of(counts), all), c.own);
    const int mine = counts.at(count_of(c.rank));
    const Bytes one = random_bytes(bytes_for(count_of(mine), own), c.own);
    COMPARE_FORMS(varied, c.way, Allgatherv, allgatherv,
                  (sent == MPI_IN_PLACE ? MPI_IN_PLACE : one.data(), mine, own.get(), buffer, counts.data(),
                   places.data(), all.get()),
                  c.comm);
  });
}

TEST_P(Collectives, Alltoall) {
  repeat([](Case& c) {
    const MPI_Datatype base = random_base(c.alike);
    const RandomType from(c.own, base);
    const RandomType into(c.own, base);
    const int count = c.alike.count() % 2000;
    const Bytes sent = random_bytes(bytes_for(count_of(count * c.ranks), from), c.own);
    const Bytes before = random_bytes(bytes_for(count_of(count * c.ranks), into), c.own);
    const void* const send = c.coin() ? MPI_IN_PLACE : sent.data();
    COMPARE_FORMS(before, c.way, Alltoall, alltoall, (send, count, from.get(), buffer, count, into.get()), c.comm);
  });
}

/// counts[i][j] elements go from i to j; all ranks know all.
std::vector<std::vector<int>> random_matrix(Case& c) {
  std::vector<std::vector<int>> counts;
  for (int i = 0; i < c.ranks; ++i) counts.push_back(c.alike.counts(c.ranks));
  return counts;
}

TEST_P(Collectives, AlltoallvAndAlltoallw) {
  repeat([](Case& c) {
    const MPI_Datatype base = random_base(c.alike);
    const RandomType from(c.own, base);
    const RandomType into(c.own, base);
    const auto matrix = random_matrix(c);
    const std::vector<int>& sends = matrix.at(count_of(c.rank));
    std::vector<int> receives;
    for (const std::vector<int>& row : matrix) receives.push_back(row.at(count_of(c.rank)));
    std::vector<int> send_places = displacements_of(sends);
    std::vector<int> recv_places = displacements_of(receives);
    const Bytes sent = random_bytes(bytes_for(reach_of(sends), from), c.own);
    const Bytes before = random_bytes(bytes_for(reach_of(receives), into), c.own);
    COMPARE_FORMS(before, c.way, Alltoallv, alltoallv,
                  (sent.data(), sends.data(), send_places.data(), from.get(), buffer, receives.data(),
                   recv_places.data(), into.get()),
                  c.comm);
    if (c.ranks == 1) return;  // Open MPI 4.1 multiplies displacements in bytes by the extent there
    for (int& place : send_places) place *= static_cast<int>(from.extent());
    for (int& place : recv_places) place *= static_cast<int>(into.extent());
    const std::vector<MPI_Datatype> send_types(sends.size(), from.get());
    const std::vector<MPI_Datatype> recv_types(sends.size(), into.get());
    COMPARE_FORMS(before, c.way, Alltoallw, alltoallw,
                  (sent.data(), sends.data(), send_places.data(), send_types.data(), buffer, receives.data(),
                   recv_places.data(), recv_types.data()),
                  c.comm);
  });
}

// As many elements go from i to j as from j to i.
TEST_P(Collectives, AlltoallvAndAlltoallwInPlace) {
  repeat([](Case& c) {
    const RandomType type(c.own, random_base(c.alike));
    const auto matrix = random_matrix(c);
    std::vector<int> counts;
    for (int other = 0; other < c.ranks; ++other)
      counts.push_back(matrix.at(count_of(std::min(c.rank, other))).at(count_of(std::max(c.rank, other))));
    std::vector<int> places = displacements_of(counts);
    const Bytes before = random_bytes(bytes_for(reach_of(counts), type), c.own);
    COMPARE_FORMS(before, c.way, Alltoallv, alltoallv,
                  (MPI_IN_PLACE, nullptr, nullptr, MPI_DATATYPE_NULL, buffer, counts.data(), places.data(), type.get()),
                  c.comm);
    if (c.ranks == 1) return;  // as above
    for (int& place : places) place *= static_cast<int>(type.extent());
    const std::vector<MPI_Datatype> types(counts.size(), type.get());
    COMPARE_FORMS(before, c.way, Alltoallw, alltoallw,
                  (MPI_IN_PLACE, nullptr, nullptr, nullptr, buffer, counts.data(), places.data(), types.data()),
                  c.comm);
  });
}

/// From MPI_BOTTOM, displacements are addresses.
TEST_P(Collectives, AlltoallwFromBottom) {
  Case c(comm_, 1);
  std::vector<int> sent(count_of(c.ranks));
  for (int& number : sent) number = c.own.number(0, 1000);
  std::vector<MPI_Datatype> types(count_of(c.ranks));
  for (std::size_t i = 0; i < types.size(); ++i) {
    MPI_Aint address = 0;
    const int length = 1;
    MPI_Get_address(&sent[i], &address);
    ASSERT_EQ(MPI_Type_create_hindexed(1, &length, &address, MPI_INT, &types[i]), MPI_SUCCESS);
    ASSERT_EQ(MPI_Type_commit(&types[i]), MPI_SUCCESS);
  }
  const std::vector<int> ones(types.size(), 1);
  const std::vector<int> zeros(types.size(), 0);
  std::vector<int> places;
  for (int i = 0; i < c.ranks; ++i) places.push_back(i * static_cast<int>(sizeof(int)));
  const std::vector<MPI_Datatype> ints(types.size(), MPI_INT);
  const Bytes before(types.size() * sizeof(int));
  COMPARE_FORMS(before, c.way, Alltoallw, alltoallw,
                (MPI_BOTTOM, ones.data(), zeros.data(), types.data(), buffer, ones.data(), places.data(), ints.data()),
                c.comm);
  for (MPI_Datatype& type : types) MPI_Type_free(&type);
}

// Of ints, sums of which are exact in any order.
TEST_P(Collectives, Reductions) {
  repeat([](Case& c) {
    const std::vector<MPI_Op> operations{MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN,  MPI_LAND,
                                         MPI_LOR, MPI_LXOR, MPI_BOR, MPI_BAND, MPI_BXOR};
    const MPI_Op op = operations.at(count_of(c.alike.number(0, 9)));
    const int count = c.alike.count();
    const int root = c.root();
    const Bytes mine = random_bytes(count_of(count) * sizeof(int), c.own);
    const Bytes before = random_bytes(count_of(count) * sizeof(int), c.own);
    const bool in_place = c.coin();
    const void* const sent = in_place ? MPI_IN_PLACE : mine.data();
    COMPARE_FORMS(before, c.way, Reduce, reduce,
                  (in_place && c.rank == root ? MPI_IN_PLACE : mine.data(), buffer, count, MPI_INT, op, root), c.comm);
    COMPARE_FORMS(before, c.way, Allreduce, allreduce, (sent, buffer, count, MPI_INT, op), c.comm);
    COMPARE_FORMS(before, c.way, Scan, scan, (sent, buffer, count, MPI_INT, op), c.comm);
    COMPARE_FORMS(before, c.way, Exscan, exscan, (sent, buffer, count, MPI_INT, op), c.comm);
  });
}

/// Blocks for so many ranks, all elements together: growing ones, the first perhaps empty, the last with the rest.
std::vector<int> dealt(int elements, int ranks) {
  std::vector<int> counts;
  int left = elements;
  for (int rank = 0; rank + 1 < ranks; ++rank) counts.push_back(std::min(left, rank * elements / (ranks * ranks)));
  for (const int count : counts) left -= count;
  counts.push_back(left);
  return counts;
}

/// Of `data`, `count` elements of any type and operation whose result does not depend on the order. Open MPI 4.1 works
/// in the rest of a buffer that it reduces and scatters in place.
void compare_reductions(Case& c, const Bytes& data, int count, MPI_Datatype type, MPI_Op op) {
  const Bytes before = random_bytes(data.size(), c.own);
  COMPARE_FORMS(before, c.way, Allreduce, allreduce, (data.data(), buffer, count, type, op), c.comm);
  COMPARE_FORMS(data, c.way, Allreduce, allreduce, (MPI_IN_PLACE, buffer, count, type, op), c.comm);
  COMPARE_FORMS(before, c.way, Reduce, reduce, (data.data(), buffer, count, type, op, 0), c.comm);
  COMPARE_FORMS(before, c.way, Scan, scan, (data.data(), buffer, count, type, op), c.comm);
  COMPARE_FORMS(before, c.way, Exscan, exscan, (data.data(), buffer, count, type, op), c.comm);
  const std::vector<int> counts = dealt(count, c.ranks);
  COMPARE_FORMS(before, c.way, Reduce_scatter, reduce_scatter, (data.data(), buffer, counts.data(), type, op), c.comm);
  const std::size_t element = count == 0 ? 0 : data.size() / count_of(count);
  COMPARE_START(count_of(counts.at(count_of(c.rank))) * element, data, c.way, Reduce_scatter, reduce_scatter,
                (MPI_IN_PLACE, buffer, counts.data(), type, op), c.comm);
  const int block = count / c.ranks;
  COMPARE_FORMS(before, c.way, Reduce_scatter_block, reduce_scatter_block, (data.data(), buffer, block, type, op),
                c.comm);
  COMPARE_START(count_of(block) * element, data, c.way, Reduce_scatter_block, reduce_scatter_block,
                (MPI_IN_PLACE, buffer, block, type, op), c.comm);
}

TEST_P(Collectives, ReductionsOfNumbers) {
  repeat([](Case& c) {
    const std::vector<MPI_Op> operations{MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN};
    const MPI_Op op = operations.at(count_of(c.alike.number(0, 3)));
    const int count = c.alike.count() % 3000;
    const std::size_t numbers = count_of(count);
    compare_reductions(c, small_numbers<double>(numbers, c.own), count, MPI_DOUBLE, op);
    compare_reductions(c, small_numbers<float>(numbers, c.own), count, MPI_FLOAT, op);
    compare_reductions(c, small_numbers<short>(numbers, c.own), count, MPI_SHORT, op);
    compare_reductions(c, small_numbers<unsigned char>(numbers, c.own), count, MPI_UNSIGNED_CHAR, op);
    compare_reductions(c, small_numbers<long long>(numbers, c.own), count, MPI_LONG_LONG, op);
  });
}

// Pairs of a number and a place, many of them equal numbers.
TEST_P(Collectives, ReductionsWithPlaces) {
  repeat([](Case& c) {
    const MPI_Op op = c.coin() ? MPI_MAXLOC : MPI_MINLOC;
    const int count = c.alike.count() % 3000;
    compare_reductions(c, small_numbers<int>(2 * count_of(count), c.own), count, MPI_2INT, op);
  });
}

TEST_P(Collectives, ReduceScatter) {
  repeat([](Case& c) {
    const std::vector<int> counts = c.alike.counts(c.ranks);
    const int count = c.alike.count() % 3000;
    const std::size_t all = std::max(reach_of(counts), count_of(count * c.ranks));
    const Bytes mine = random_bytes(all * sizeof(int), c.own);
    const Bytes before = random_bytes(all * sizeof(int), c.own);
    const void* const sent = mine.data();
    COMPARE_FORMS(before, c.way, Reduce_scatter, reduce_scatter, (sent, buffer, counts.data(), MPI_INT, MPI_SUM),
                  c.comm);
    COMPARE_FORMS(before, c.way, Reduce_scatter_block, reduce_scatter_block, (sent, buffer, count, MPI_INT, MPI_SUM),
                  c.comm);
    COMPARE_FORMS(mine, c.way, Reduce_scatter, reduce_scatter, (MPI_IN_PLACE, buffer, counts.data(), MPI_INT, MPI_SUM),
                  c.comm);
    COMPARE_FORMS(mine, c.way, Reduce_scatter_block, reduce_scatter_block,
                  (MPI_IN_PLACE, buffer, count, MPI_INT, MPI_SUM), c.comm);
  });
}

/// Some calls of each function whose arguments are those of others but for one.
void compare_alike(Case& c, int count, MPI_Datatype type, MPI_Op op, int root, bool in_place) {
  int size = 0;
  MPI_Type_size(type, &size);
  const std::size_t bytes = count_of(count) * count_of(size);
  const std::size_t room = bytes * count_of(c.ranks) + 1;  // MPI takes two null pointers for one buffer
  const Bytes mine = random_bytes(room, c.own);
  const Bytes before = random_bytes(room, c.own);
  const void* const sent = in_place ? MPI_IN_PLACE : mine.data();
  const void* const at_root = in_place && c.rank == root ? MPI_IN_PLACE : mine.data();
  COMPARE_FORMS(before, c.way, Bcast, bcast, (buffer, count, type, root), c.comm);
  COMPARE_FORMS(before, c.way, Gather, gather, (at_root, count, type, buffer, count, type, root), c.comm);
  COMPARE_FORMS(before, c.way, Scatter, scatter, (mine.data(), count, type, buffer, count, type, root), c.comm);
  COMPARE_FORMS(before, c.way, Allgather, allgather, (sent, count, type, buffer, count, type), c.comm);
  COMPARE_FORMS(before, c.way, Alltoall, alltoall, (sent, count, type, buffer, count, type), c.comm);
  COMPARE_FORMS(before, c.way, Reduce, reduce, (at_root, buffer, count, type, op, root), c.comm);
  COMPARE_FORMS(before, c.way, Allreduce, allreduce, (sent, buffer, count, type, op), c.comm);
  COMPARE_FORMS(before, c.way, Scan, scan, (sent, buffer, count, type, op), c.comm);
  COMPARE_START(bytes, before, c.way, Reduce_scatter_block, reduce_scatter_block, (sent, buffer, count, type, op),
                c.comm);
}

/// Arrays that a program uses again with other numbers in them.
struct ReusedArrays {
  explicit ReusedArrays(int ranks) : counts(count_of(ranks)), places(count_of(ranks)) {}
  /// `count` or one more, in the order of the ranks or the other way round.
  void fill(int count, int rank, bool reversed) {
    reach = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const std::size_t next = reversed ? counts.size() - 1 - i : i;
      counts[next] = count + (rank + static_cast<int>(next)) % 2;
      places[next] = reach;
      reach += counts[next];
    }
  }
  std::vector<int> counts;
  std::vector<int> places;
  int reach = 0;
};

/// The functions with counts of all ranks. As many elements go from one rank to another as back.
void compare_varied_alike(Case& c, ReusedArrays& arrays, int count, bool reversed, MPI_Datatype type, bool in_place) {
  arrays.fill(count, 0, reversed);
  const int* const counts = arrays.counts.data();
  const int* const places = arrays.places.data();
  const int own = arrays.counts.at(count_of(c.rank));
  const std::size_t room = count_of(count + 1) * count_of(c.ranks) * sizeof(int);
  const Bytes mine = random_bytes(room, c.own);
  const Bytes before = random_bytes(room, c.own);
  const void* const sent = in_place ? MPI_IN_PLACE : mine.data();
  const void* const at_root = in_place && c.rank == 0 ? MPI_IN_PLACE : mine.data();
  COMPARE_FORMS(before, c.way, Gatherv, gatherv, (at_root, own, type, buffer, counts, places, type, 0), c.comm);
  COMPARE_FORMS(before, c.way, Scatterv, scatterv, (mine.data(), counts, places, type, buffer, own, type, 0), c.comm);
  COMPARE_FORMS(before, c.way, Allgatherv, allgatherv, (sent, own, type, buffer, counts, places, type), c.comm);
  COMPARE_START(count_of(own) * sizeof(int), before, c.way, Reduce_scatter, reduce_scatter,
                (sent, buffer, counts, type, MPI_BXOR), c.comm);
  arrays.fill(count, c.rank, reversed);
  COMPARE_FORMS(before, c.way, Alltoallv, alltoallv, (sent, counts, places, type, buffer, counts, places, type),
                c.comm);
}

// fab knows them by their arguments (bindings/mpi/calls/repeating.h, bindings/dropin/known.h).
TEST_P(Collectives, CallsThatRepeat) {
  for (unsigned round = 1; round <= 2; ++round) {
    Case c(comm_, round);
    ReusedArrays arrays(c.ranks);
    for (const int count : {1, 2, 0}) compare_varied_alike(c, arrays, count, false, MPI_INT, false);
    compare_varied_alike(c, arrays, 1, true, MPI_INT, false);
    compare_varied_alike(c, arrays, 1, false, MPI_INT, true);
    compare_varied_alike(c, arrays, 1, false, MPI_UNSIGNED, false);
    for (const MPI_Datatype type : {MPI_INT, MPI_LONG_LONG, MPI_UNSIGNED})
      for (const MPI_Op op : {MPI_SUM, MPI_BXOR})
        for (const int count : {1, 2}) compare_alike(c, count, type, op, 0, false);
    compare_alike(c, 1, MPI_INT, MPI_SUM, c.ranks - 1, false);
    compare_alike(c, 1, MPI_INT, MPI_SUM, 0, true);
    compare_alike(c, 0, MPI_INT, MPI_SUM, 0, false);
  }
}

/// 2 x 2 matrices, whose product depends on the order.
void multiply(void* in, void* inout, int* count, MPI_Datatype*) {
  const auto* const left = static_cast<const unsigned*>(in);
  auto* const right = static_cast<unsigned*>(inout);
  for (int i = 0; i < *count; ++i) {
    const unsigned* const a = left + 4 * i;
    unsigned* const b = right + 4 * i;
    const unsigned product[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2],
                                 a[2] * b[1] + a[3] * b[3]};
    std::copy(product, product + 4, b);
  }
}

/// The program may free its operation and datatype as soon as the call has returned (MPI-4.1, 6.12).
TEST_P(Collectives, OperationsOfTheUser) {
  repeat([](Case& c) {
    MPI_Datatype matrix = MPI_DATATYPE_NULL;
    MPI_Op product = MPI_OP_NULL;
    MPI_Type_contiguous(4, MPI_UNSIGNED, &matrix);
    MPI_Type_commit(&matrix);
    MPI_Op_create(multiply, 0, &product);
    const int count = c.alike.number(0, 50);
    const int root = c.root();
    const Bytes mine = random_bytes(count_of(count) * 4 * sizeof(unsigned), c.own);
    const Bytes before = random_bytes(mine.size(), c.own);
    COMPARE_FORMS(before, c.way, Allreduce, allreduce, (mine.data(), buffer, count, matrix, product), c.comm);
    COMPARE_FORMS(before, c.way, Scan, scan, (mine.data(), buffer, count, matrix, product), c.comm);
    COMPARE_FORMS(before, c.way, Exscan, exscan, (mine.data(), buffer, count, matrix, product), c.comm);
    COMPARE_FORMS(before, c.way, Reduce, reduce, (mine.data(), buffer, count, matrix, product, root), c.comm);
    const std::vector<int> counts = dealt(count, c.ranks);
    COMPARE_FORMS(before, c.way, Reduce_scatter, reduce_scatter, (mine.data(), buffer, counts.data(), matrix, product),
                  c.comm);
    Bytes expected = before;
    Bytes got = before;
    MPI_ITSELF(MPI_Allreduce)(mine.data(), expected.data(), count, matrix, product, c.comm);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(mine.data(), got.data(), count, matrix, product, c.comm, &request);
    MPI_Op_free(&product);
    MPI_Type_free(&matrix);
    finish(request, c.way);
    EXPECT_TRUE(got == expected) << "operation freed early";
  });
}

/// The others start, and see that they are not complete before rank 0 has called, which waits for that.
void meet(Case& c, MPI_Request& request, const std::function<void()>& begin) {
  int told = 1;
  if (c.rank == 0) {
    for (int other = 1; other < c.ranks; ++other)
      EXPECT_EQ(MPI_Recv(&told, 1, MPI_INT, other, 5, c.comm, MPI_STATUS_IGNORE), MPI_SUCCESS);
    begin();
  } else {
    begin();
    int complete = 0;
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(MPI_Test(&request, &complete, MPI_STATUS_IGNORE), MPI_SUCCESS);
      EXPECT_EQ(complete, 0) << "before rank 0 has come";
    }
    EXPECT_EQ(MPI_Send(&told, 1, MPI_INT, 0, 5, c.comm), MPI_SUCCESS);
  }
  finish(request, c.way);
}

TEST_P(Collectives, Barrier) {
  Case c(comm_, 1);
  MPI_Request request = MPI_REQUEST_NULL;
  EXPECT_EQ(MPI_Barrier(c.comm), MPI_SUCCESS);
  EXPECT_EQ(PMPI_Barrier(c.comm), MPI_SUCCESS);
  if (!kCarriesRequests) return;
  meet(c, request, [&] { EXPECT_EQ(MPI_Ibarrier(c.comm, &request), MPI_SUCCESS); });
  EXPECT_EQ(INIT_OF(Barrier)(c.comm, MPI_INFO_NULL, &request), MPI_SUCCESS);
  for (int round = 0; round < 2; ++round) meet(c, request, [&] { EXPECT_EQ(MPI_Start(&request), MPI_SUCCESS); });
  EXPECT_EQ(MPI_Request_free(&request), MPI_SUCCESS);
}

INSTANTIATE_TEST_SUITE_P(Communicators, Collectives, testing::Range(0, 4));

}  // namespace

}  // namespace fab::test
