// Prefix reductions: rank i gets the combination of the elements of the lower ranks, in their order (MPI-4.1, section
// 6.11). The rules of fab/collectives.h hold.
#pragma once

#include "fab/collectives.h"

namespace fab {

/// fab::scan(communicator, send, recv, operation), fab::scan(communicator, buffer, operation): combines ranks 0 to i.
struct Scan : Forms<Scan>, detail::Combining<detail::OperationName::scan> {};
inline namespace operations {
inline constexpr Scan scan;  ///< @copydoc fab::Scan
}

/// fab::exscan(communicator, ...): combines ranks 0 to i - 1. The receive buffer of rank 0 stays as it is.
struct Exscan : Forms<Exscan>, detail::Combining<detail::OperationName::exscan> {};
inline namespace operations {
inline constexpr Exscan exscan;  ///< @copydoc fab::Exscan
}

}  // namespace fab
