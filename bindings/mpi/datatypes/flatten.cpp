#include "bindings/mpi/datatypes/flatten.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>

#include "bindings/mpi/base/failure.h"
#include "bindings/mpi/datatypes/distributed_array.h"

namespace fab::mpi {

namespace {

struct Envelope {
  int integers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = MPI_COMBINER_NAMED;
};

Envelope envelope_of(MPI_Datatype type) {
  Envelope envelope;
  require(PMPI_Type_get_envelope(type, &envelope.integers, &envelope.addresses, &envelope.types, &envelope.combiner),
          "MPI_Type_get_envelope");
  return envelope;
}

// MPI_Datatype is an int in MPICH: this must not be an overload of is_predefined().
bool names_predefined(int combiner) {
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX ||
         combiner == MPI_COMBINER_F90_INTEGER;
}

std::size_t size_of(MPI_Datatype type) {
  MPI_Count size = 0;
  require(PMPI_Type_size_x(type, &size), "MPI_Type_size_x");
  if (size < 0) throw Failure(MPI_ERR_TYPE, "the size of the type does not fit MPI_Count");
  return static_cast<std::size_t>(size);
}

struct Extent {
  MPI_Aint lower_bound = 0;
  MPI_Aint extent = 0;
};

Extent extent_of(MPI_Datatype type) {
  Extent extent;
  require(PMPI_Type_get_extent(type, &extent.lower_bound, &extent.extent), "MPI_Type_get_extent");
  return extent;
}

/// The integers of a constructor, taken one after another.
class Arguments {
 public:
  explicit Arguments(std::span<const int> integers) : rest_(integers) {}

  int next() { return next(1)[0]; }
  std::span<const int> next(int count) {
    const std::span<const int> taken = rest_.first(static_cast<std::size_t>(count));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }

 private:
  std::span<const int> rest_;
};

std::vector<std::size_t> sizes_of(std::span<const int> integers) { return {integers.begin(), integers.end()}; }

std::vector<std::ptrdiff_t> scaled(std::span<const int> displacements, std::ptrdiff_t extent) {
  std::vector<std::ptrdiff_t> bytes;
  for (const int displacement : displacements) bytes.push_back(displacement * extent);
  return bytes;
}

std::vector<std::size_t> equal(int count, int length) {
  return std::vector<std::size_t>(static_cast<std::size_t>(count), static_cast<std::size_t>(length));
}

Layout vector_of(Arguments arguments, const Layout& element, std::ptrdiff_t stride_bytes) {
  const auto count = static_cast<std::size_t>(arguments.next());
  const auto length = static_cast<std::size_t>(arguments.next());
  return Layout::vector(count, length, stride_bytes, element);
}

Layout structure_of(const Contents& contents) {
  std::vector<Layout::Field> fields;
  for (std::size_t i = 0; i < contents.types.size(); ++i)
    fields.push_back({.count = static_cast<std::size_t>(contents.integers[i + 1]),
                      .displacement = contents.addresses[i],
                      .element = flatten(contents.types[i])});
  return Layout::structure(fields);
}

Layout subarray_of(Arguments arguments, const Layout& element) {
  const int dimensions = arguments.next();
  std::vector<std::size_t> sizes = sizes_of(arguments.next(dimensions));
  std::vector<std::size_t> subsizes = sizes_of(arguments.next(dimensions));
  std::vector<std::size_t> starts = sizes_of(arguments.next(dimensions));
  if (arguments.next() == MPI_ORDER_FORTRAN)
    for (auto* list : {&sizes, &subsizes, &starts}) std::ranges::reverse(*list);
  return Layout::subarray(sizes, subsizes, starts, element);
}

/// The bytes of the type; bounds are set by the caller.
Layout bytes_of(MPI_Datatype type) {
  const Contents contents(type);
  if (contents.combiner == MPI_COMBINER_STRUCT) return structure_of(contents);
  const Layout element = flatten(contents.types.at(0));
  Arguments arguments(contents.integers);
  const std::span<const MPI_Aint> addresses(contents.addresses);
  switch (contents.combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      return element;
    case MPI_COMBINER_CONTIGUOUS:
      return element.repeated(static_cast<std::size_t>(arguments.next()));
    case MPI_COMBINER_VECTOR:
      return vector_of(arguments, element, contents.integers.at(2) * element.extent());
    case MPI_COMBINER_HVECTOR:
      return vector_of(arguments, element, addresses[0]);
    case MPI_COMBINER_INDEXED: {
      const int count = arguments.next();
      const auto lengths = sizes_of(arguments.next(count));
      return Layout::indexed(lengths, scaled(arguments.next(count), element.extent()), element);
    }
    case MPI_COMBINER_HINDEXED:
      return Layout::indexed(sizes_of(arguments.next(arguments.next())), addresses, element);
    case MPI_COMBINER_INDEXED_BLOCK: {
      const int count = arguments.next();
      const int length = arguments.next();
      return Layout::indexed(equal(count, length), scaled(arguments.next(count), element.extent()), element);
    }
    case MPI_COMBINER_HINDEXED_BLOCK:
      return Layout::indexed(equal(contents.integers.at(0), contents.integers.at(1)), addresses, element);
    case MPI_COMBINER_SUBARRAY:
      return subarray_of(arguments, element);
    case MPI_COMBINER_DARRAY:
      return distributed_array(contents.integers, element);
    default:
      throw Failure(MPI_ERR_TYPE, fmt::format("a type made by a constructor that fab does not know (combiner {})",
                                              contents.combiner));
  }
}

}  // namespace

Contents::Contents(MPI_Datatype type) {
  const Envelope envelope = envelope_of(type);
  combiner = envelope.combiner;
  // One more than needed: MPI wants addresses, and an empty vector has none.
  integers.resize(static_cast<std::size_t>(envelope.integers) + 1);
  addresses.resize(static_cast<std::size_t>(envelope.addresses) + 1);
  types.resize(static_cast<std::size_t>(envelope.types) + 1, MPI_DATATYPE_NULL);
  require(PMPI_Type_get_contents(type, envelope.integers, envelope.addresses, envelope.types, integers.data(),
                                 addresses.data(), types.data()),
          "MPI_Type_get_contents");
  integers.pop_back();
  addresses.pop_back();
  types.pop_back();
}

Contents::~Contents() {
  for (MPI_Datatype& type : types) {
    int unused = 0;
    int its_combiner = MPI_COMBINER_NAMED;
    if (PMPI_Type_get_envelope(type, &unused, &unused, &unused, &its_combiner) != MPI_SUCCESS) continue;
    if (!names_predefined(its_combiner) && PMPI_Type_free(&type) != MPI_SUCCESS)
      log_error("MPI_Type_get_contents", "cannot free a type");
  }
}

int combiner_of(MPI_Datatype type) { return envelope_of(type).combiner; }

bool is_predefined(MPI_Datatype type) { return names_predefined(combiner_of(type)); }

// A pair type is a C struct of some type and an int.
Layout named_layout(MPI_Datatype type) {
  const std::size_t size = size_of(type);
  const Extent extent = extent_of(type);
  if (static_cast<std::ptrdiff_t>(size) == extent.extent) return Layout::contiguous(size);
  const std::size_t first = size - sizeof(int);
  const std::size_t second = (first + alignof(int) - 1) / alignof(int) * alignof(int);
  const Layout::Field fields[] = {
      {.count = 1, .displacement = 0, .element = Layout::contiguous(first)},
      {.count = 1, .displacement = static_cast<std::ptrdiff_t>(second), .element = Layout::contiguous(sizeof(int))}};
  return Layout::structure(fields).resized(extent.lower_bound, extent.extent);
}

// MPI's own bounds are taken over: they know of alignment and of bounds that were set by hand.
Layout flatten(MPI_Datatype type) {
  if (is_predefined(type)) return named_layout(type);
  const Extent extent = extent_of(type);
  Layout layout = bytes_of(type).resized(extent.lower_bound, extent.extent);
  if (layout.size() != size_of(type))
    throw Failure(MPI_ERR_INTERN, fmt::format("MPI says that the type has {} bytes, its constructors make {}",
                                              size_of(type), layout.size()));
  return layout;
}

}  // namespace fab::mpi
