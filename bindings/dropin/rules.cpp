#include "bindings/dropin/rules.h"

namespace fab::dropin {

bool pays(const Situation& situation, const Shape& shape) noexcept {
  return situation.ranks > 1 && !shape.user_operation;
}

}  // namespace fab::dropin
