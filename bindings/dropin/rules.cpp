#include "bindings/dropin/rules.h"

namespace fab::dropin {

bool pays(const Situation& situation, const Shape& shape) noexcept {
  static_cast<void>(situation);
  return !shape.user_operation;
}

}  // namespace fab::dropin
