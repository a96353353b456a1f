// Shifts along a dimension of a Cartesian communicator.
#include "bindings/native/operations/operation_sizes.h"
#include "bindings/native/operations/performing.h"

namespace fab::detail {

using namespace native;

template <class Use>
auto prepared(const Communicator& /*communicator*/, const ShiftCall& call, Use&& use) {
  const BlockLayout block(call, [&] {
    check_equal(call);
    return call.recv_elements;
  });
  const collectives::BlockView view{0, 1, &*block};
  return use(PreparedShift{{call.send, call.recv},
                           {.send = view,
                            .recv = view,
                            .dimension = static_cast<int>(call.shift.dimension),
                            .displacement = call.shift.displacement,
                            .in_place = call.in_place}});
}

template void perform(const Communicator&, const ShiftCall&);
template Request start(const Communicator&, const ShiftCall&);
template PersistentExchange persistent(const Communicator&, const ShiftCall&);
template Status try_perform(const Communicator&, const ShiftCall&) noexcept;
template Result<Request> try_start(const Communicator&, const ShiftCall&) noexcept;
template Result<PersistentExchange> try_persistent(const Communicator&, const ShiftCall&) noexcept;

}  // namespace fab::detail
