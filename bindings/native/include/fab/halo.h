// Halo exchange for stencil codes: a rank's block with the halo around it, and the exchange that fills the halo.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "fab/communicator.h"
#include "fab/error.h"
#include "fab/halo_geometry.h"
#include "fab/request.h"

namespace fab {

struct HaloOptions {
  std::vector<int> grid;       ///< ranks per dimension, slowest first; rank order is row-major
  std::vector<bool> periodic;  ///< whether the first and the last block along a dimension are neighbours
  /// May differ between ranks as far as neighbours agree about the cells of the face that they share.
  HaloShape block;
  int buffers = 1;  ///< 2: two fields of this shape, each with an exchange of its own
  /// The caller's memory in place of the object's own: one padded block per buffer, not overlapping; outlives the
  /// object.
  std::vector<std::span<std::byte>> memory{};
  /// Places are given to ranks so that few bytes of faces go from node to node, by rank 0's block. A rank then finds
  /// its place with communicator().rank().
  Reorder reorder = Reorder::no;
};

/// A padded block, or two of them, of which one is current: start, finish and field refer to it. Cells in C order.
///
///     halo.start();                               // boundary cells are read, halo cells are written
///     ...                                         // read own cells; write elsewhere
///     while (const auto side = halo.finish_any())
///       ...                                       // the halo on that side is there
///     halo.flip();                                // with two buffers
///
/// From start until all of it is finished, own cells may be read and not written (boundary cells are on their way), and
/// halo cells may be read once theirs are finished. Where the grid ends there is no neighbour: such a side is finished
/// at once, and its halo cells are never touched, so boundary values written there stay.
///
/// From the first start on nothing is allocated. Move-only; a moved-from one may only be assigned to. The destructor
/// waits for what is active. One is used by one thread at a time.
class HaloExchange {
 public:
  /// Collective over `communicator`, as Communicator::cartesian is: its first ranks form the grid. The memory of the
  /// exchange is zero unless it is the caller's. Throws what that throws, also on ranks that are left over by the grid;
  /// Error(invalid_argument) for a block as HaloGeometry does, for another number of dimensions than the grid has,
  /// buffers other than 1 or 2, or memory of another size; and Error(no_resources).
  HaloExchange(const Communicator& communicator, const HaloOptions& options);
  /// The same where ranks may be left over: these get none.
  [[nodiscard]] static std::optional<HaloExchange> make_if(const Communicator& communicator,
                                                           const HaloOptions& options);

  HaloExchange(HaloExchange&&) noexcept;
  HaloExchange& operator=(HaloExchange&&) noexcept;
  ~HaloExchange();

  /// Cartesian; exchanges of the caller's own are welcome on it.
  [[nodiscard]] const Communicator& communicator() const noexcept;
  [[nodiscard]] const HaloGeometry& geometry() const noexcept;
  /// The rank on that side of this block; none where the grid ends. Throws Error(invalid_argument) for a direction
  /// without a halo.
  [[nodiscard]] std::optional<Rank> neighbor(const Direction& side) const;

  /// The current padded block.
  [[nodiscard]] std::span<std::byte> field() const noexcept;
  /// The other one. Throws Error(invalid_argument) when there is one only.
  [[nodiscard]] std::span<std::byte> other_field() const;
  /// The same as values of which an element has one or several. Throws Error(invalid_argument) when it has not, or
  /// when the caller's memory is not aligned for them.
  template <class T>
  requires std::is_trivially_copyable_v<T>
  [[nodiscard]] std::span<T> field() const { return values<T>(field()); }
  template <class T>
  requires std::is_trivially_copyable_v<T>
  [[nodiscard]] std::span<T> other_field() const { return values<T>(other_field()); }
  /// Makes the other field current. An exchange of the field that was goes on, and is finished after another flip.
  /// Throws Error(invalid_argument) when there is one only.
  void flip();

  /// Returns at once. Throws Error(invalid_argument) when the last start was not finished as a whole.
  void start();
  /// The same without exceptions.
  [[nodiscard]] Status try_start();
  /// Started, and not yet finished as a whole.
  [[nodiscard]] bool active() const noexcept;
  /// Returns when all halos are there and own cells may be written; at once if nothing is active. Throws what
  /// Request::wait throws.
  void finish();
  /// The same without exceptions.
  [[nodiscard]] Status try_finish();
  /// Waits for so long at most: whether all halos are there. If not, what is active stays so. Throws like finish, but
  /// for timed_out: the caller's limit stands for FAB_WAIT_TIMEOUT.
  template <class Number, class Period>
  [[nodiscard]] bool finish_for(std::chrono::duration<Number, Period> time) {
    return finish_until(detail::time_after(time));
  }
  [[nodiscard]] bool finish_until(std::chrono::steady_clock::time_point time);
  /// Returns when the halo on that side is there, whatever else is on its way; at once if nothing is active. finish is
  /// still to be called. Throws Error(invalid_argument) for a direction without a halo, otherwise like finish, which is
  /// still to be called then, too.
  void finish(const Direction& side);
  /// Returns a side whose halo is there and that no finish has told of since the start, waiting for the first one if
  /// need be; sides without a neighbour come first. When all are told it does what finish does, and returns none.
  [[nodiscard]] std::optional<Direction> finish_any();

 private:
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
