// Halo exchange for stencil codes: a rank's block with the halo around it, and the exchange that fills the halo.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "fab/api.h"
#include "fab/communicator.h"
#include "fab/error.h"
#include "fab/halo_geometry.h"
#include "fab/partitioned.h"
#include "fab/request.h"
#include "fab/result.h"
#include "fab/timed_waits.h"

namespace fab {

/// The grid and the blocks of a HaloExchange. `grid` and `periodic` have one entry per dimension.
struct HaloOptions {
  std::vector<int> grid;       ///< ranks per dimension, slowest first; ranks are in row-major order
  std::vector<bool> periodic;  ///< whether the first and the last block along a dimension are neighbours
  /// The shape of this rank's block. It may differ between ranks, but neighbours must agree about the face they share.
  HaloShape block;
  int buffers = 1;  ///< 1, or 2: two fields of this shape, each with its own exchange
  /// Memory of the caller's instead of the object's: one padded block per buffer. The blocks must not overlap, and must
  /// outlive the object.
  std::vector<std::span<std::byte>> memory{};
  /// Reorder::yes places ranks so that few bytes of faces cross from node to node, judged by rank 0's block. Each rank
  /// finds its place with communicator().rank().
  Reorder reorder = Reorder::no;
};

/// One padded block or two. One of them is current: start, finish and field refer to it. Cells are in C order.
///
///     halo.start();                               // boundary cells are read, halo cells are written
///     ...                                         // read own cells; write elsewhere
///     while (const auto side = halo.finish_any())
///       ...                                       // the halo on that side is there
///     halo.flip();                                // with two buffers
///
/// From start until all halos are finished, the rank's own cells may be read and not written (boundary cells are being
/// sent). Halo cells may be read once their side is finished. A side waits for its neighbour only, unless
/// FAB_ALGO_NEIGHBOR=by_node lets other ranks of the nodes carry what comes from there. At the end of the grid a side
/// has no neighbour: it is finished at once, and its halo cells are never touched, so boundary values written there
/// stay.
///
/// With HaloParts the threads of a rank share the block. Each part has a slab of it, and a start sends nothing: a
/// thread marks its part once it has computed the cells next to the sides, which then leave while other threads still
/// compute theirs (fab/partitioned.h says what leaves together). With two fields:
///
///     halo.start();          // the field that this step computes
///     // each thread t:
///     ...                    // computes the cells of halo.part(t) next to the sides
///     halo.ready(t);
///     ...                    // computes the other cells of halo.part(t)
///     // one thread, after the others:
///     halo.finish();
///     halo.flip();
///
/// There, cells of a part may be written until it is marked.
///
/// From the first start on, nothing is allocated. Move-only; a moved-from object may only be assigned to. The
/// destructor waits for active exchanges. One thread at a time uses the object, but for ready, arrived and finish with
/// a part.
class FAB_API HaloExchange {
 public:
  /// Collective over `communicator`, like Communicator::cartesian: its first ranks form the grid. Memory that the
  /// object allocates is zero. Throws the errors of Communicator::cartesian, also on ranks outside the grid;
  /// Error(invalid_argument) for a block that HaloGeometry refuses, another number of dimensions than the grid has,
  /// buffers other than 1 or 2, or memory of another size; and Error(no_resources).
  HaloExchange(const Communicator& communicator, const HaloOptions& options);
  /// With parts, which must be equal on all ranks. Waits for the neighbours, with which it compares sizes. Throws also
  /// Error(invalid_argument) for parts that HaloGeometry::part refuses, and Error(mismatch) on both ranks of an edge
  /// that give it different sizes or parts.
  HaloExchange(const Communicator& communicator, const HaloOptions& options, const HaloParts& parts);
  /// @{
  /// As the constructor, but a rank outside the grid gets none.
  [[nodiscard]] static std::optional<HaloExchange> make_if(const Communicator& communicator,
                                                           const HaloOptions& options);
  [[nodiscard]] static std::optional<HaloExchange> make_if(const Communicator& communicator, const HaloOptions& options,
                                                           const HaloParts& parts);
  /// @}

  HaloExchange(HaloExchange&&) noexcept;             ///< active exchanges go on in the new object
  HaloExchange& operator=(HaloExchange&&) noexcept;  ///< waits first for this object's active exchanges
  ~HaloExchange();

  /// The Cartesian communicator of the grid. The caller may use it for exchanges, too.
  [[nodiscard]] const Communicator& communicator() const noexcept;
  /// Where the cells of a padded block lie.
  [[nodiscard]] const HaloGeometry& geometry() const noexcept;
  /// The neighbour on that side; none at the end of the grid. Throws Error(invalid_argument) for a direction without a
  /// halo.
  [[nodiscard]] std::optional<Rank> neighbor(const Direction& side) const;

  /// The current padded block.
  [[nodiscard]] std::span<std::byte> field() const noexcept;
  /// The other padded block. Throws Error(invalid_argument) if there is only one.
  [[nodiscard]] std::span<std::byte> other_field() const;
  /// @{
  /// The padded blocks as values of type T; an element is one or several of them. Throws Error(invalid_argument) if an
  /// element is no whole number of T, or if the caller's memory is not aligned for T.
  template <class T>
  requires std::is_trivially_copyable_v<T>
  [[nodiscard]] std::span<T> field() const { return values<T>(field()); }
  template <class T>
  requires std::is_trivially_copyable_v<T>
  [[nodiscard]] std::span<T> other_field() const { return values<T>(other_field()); }
  /// @}
  /// Makes the other field current. An active exchange of the previous field goes on; finish it after another flip.
  /// Throws Error(invalid_argument) if there is only one field.
  void flip();

  /// Starts the exchange. Returns at once. Throws Error(invalid_argument) if the last one was not finished on all
  /// sides.
  void start();
  /// start without exceptions.
  [[nodiscard]] Status try_start();
  /// Whether an exchange was started and not yet finished on all sides.
  [[nodiscard]] bool active() const noexcept;
  /// Returns when all halos have arrived and the rank's own cells may be written; at once if nothing is active. Throws
  /// the errors of Request::wait.
  void finish();
  /// finish without exceptions.
  [[nodiscard]] Status try_finish();
  /// @{
  /// Waits at most `time`, or until the clock shows `time`. Returns whether all halos have arrived; if not, the
  /// exchange stays active. Throws like finish, except for timed_out: the caller's limit replaces FAB_WAIT_TIMEOUT.
  template <class Number, class Period>
  [[nodiscard]] bool finish_for(std::chrono::duration<Number, Period> time) {
    return finish_until(detail::time_after(time));
  }
  [[nodiscard]] bool finish_until(std::chrono::steady_clock::time_point time);
  /// @}
  /// Returns when the halo on that side has arrived, even if others have not; at once if nothing is active. A call of
  /// finish is still needed, also after a failure. Throws Error(invalid_argument) for a direction without a halo,
  /// otherwise like finish.
  void finish(const Direction& side);
  /// Returns a side whose halo has arrived and that was not returned since the start; waits for one if necessary. Sides
  /// without a neighbour come first. Once all sides have been returned, it does what finish does, and returns none.
  [[nodiscard]] std::optional<Direction> finish_any();
  /// @{
  /// finish of one side, until the clock shows `time` at most, or for a duration. Returns whether the halo on that side
  /// has arrived; if not, the exchange stays active. Throws like finish of one side, except for timed_out.
  [[nodiscard]] bool finish_until(const Direction& side, std::chrono::steady_clock::time_point time);
  template <class Number, class Period>
  [[nodiscard]] bool finish_for(const Direction& side, std::chrono::duration<Number, Period> time) {
    return finish_until(side, detail::time_after(time));
  }
  /// @}

  /// @{
  /// A call above without exceptions. It returns the failure that the call throws.
  [[nodiscard]] Result<bool> try_finish_until(std::chrono::steady_clock::time_point time) {
    return attempt([&] { return finish_until(time); });
  }
  template <class Number, class Period>
  [[nodiscard]] Result<bool> try_finish_for(std::chrono::duration<Number, Period> time) {
    return try_finish_until(detail::time_after(time));
  }
  [[nodiscard]] Status try_finish(const Direction& side) {
    return attempt([&] { finish(side); });
  }
  [[nodiscard]] Result<bool> try_finish_until(const Direction& side, std::chrono::steady_clock::time_point time) {
    return attempt([&] { return finish_until(side, time); });
  }
  template <class Number, class Period>
  [[nodiscard]] Result<bool> try_finish_for(const Direction& side, std::chrono::duration<Number, Period> time) {
    return try_finish_until(side, detail::time_after(time));
  }
  [[nodiscard]] Result<std::optional<Direction>> try_finish_any() {
    return attempt([&] { return finish_any(); });
  }
  /// @}

  // Parts. Several threads at once may call ready, arrived, and finish with a part. These throw Error(invalid_argument)
  // for a side without a halo, a part that there is not, and an object that was made without parts.

  /// The number of parts; 1 for an object without.
  [[nodiscard]] std::size_t parts() const noexcept;
  /// The slab of own cells that a part has; may be empty.
  [[nodiscard]] Box part(std::size_t part) const;
  /// The cells of this part that go to a side are written. Cells go to a side if they lie in its boundary; a part
  /// without such cells may be marked, too. Throws Error(invalid_argument) if the part was marked for that side since
  /// the start, and before the first start.
  void ready(const Direction& side, std::size_t part);
  /// ready for all sides.
  void ready(std::size_t part);
  /// Makes some progress. Returns whether the halo cells next to the cells that this part has at that side have
  /// arrived; true for a part without such cells. (A stencil with corners also reads the halo next to the part before
  /// and the part behind.) Throws also like finish if the exchange has failed.
  [[nodiscard]] bool arrived(const Direction& side, std::size_t part);
  /// Returns when these cells have arrived. finish() is still needed. Throws like arrived.
  void finish(const Direction& side, std::size_t part);

  /// @{
  /// A call for parts without exceptions. It returns the failure that the call throws.
  [[nodiscard]] Status try_ready(const Direction& side, std::size_t part) {
    return attempt([&] { ready(side, part); });
  }
  [[nodiscard]] Status try_ready(std::size_t part) {
    return attempt([&] { ready(part); });
  }
  [[nodiscard]] Result<bool> try_arrived(const Direction& side, std::size_t part) {
    return attempt([&] { return arrived(side, part); });
  }
  [[nodiscard]] Status try_finish(const Direction& side, std::size_t part) {
    return attempt([&] { finish(side, part); });
  }
  /// @}

 private:
  friend class Waitable;
  struct State;
  explicit HaloExchange(std::unique_ptr<State> state) noexcept;

  template <class T>
  [[nodiscard]] std::span<T> values(std::span<std::byte> bytes) const {
    check_values(sizeof(T), alignof(T), bytes);
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  void check_values(std::size_t value_bytes, std::size_t alignment, std::span<const std::byte> memory) const;

  std::unique_ptr<State> state_;
};

}  // namespace fab
