// The outcome of a post.
#pragma once

#include "core/provider.h"

namespace fab::test {

struct Outcome : Completion {
  Outcome()
      : Completion(
            [](Completion& self, std::uint64_t arrived_bytes, std::uint64_t arrived_tag) noexcept {
              auto& outcome = static_cast<Outcome&>(self);
              outcome.bytes = arrived_bytes;
              outcome.tag = arrived_tag;
              outcome.ended = true;
            },
            [](Completion& self, const Status& its_status) noexcept {
              auto& outcome = static_cast<Outcome&>(self);
              outcome.status = its_status;
              outcome.ended = true;
            }) {}

  bool ended = false;
  std::uint64_t bytes = 0;
  std::uint64_t tag = 0;
  Status status;
};

}  // namespace fab::test
