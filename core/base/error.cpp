// The texts of error codes, and their std::error_category.
#include "fab/error.h"

namespace fab {
namespace {

const char* text(Errc code) noexcept {
  switch (code) {
    case Errc::invalid_argument:
      return "invalid argument";
    case Errc::invalid_rank:
      return "invalid rank";
    case Errc::invalid_count:
      return "invalid count";
    case Errc::invalid_topology:
      return "invalid topology";
    case Errc::invalid_schedule:
      return "invalid schedule";
    case Errc::truncated:
      return "message truncated";
    case Errc::mismatch:
      return "ranks disagree";
    case Errc::unreachable:
      return "peer unreachable";
    case Errc::transport:
      return "transport failure";
    case Errc::timed_out:
      return "timed out";
    case Errc::cancelled:
      return "cancelled";
    case Errc::bootstrap:
      return "bootstrap failure";
    case Errc::configuration:
      return "invalid configuration";
    case Errc::no_resources:
      return "out of resources";
  }
  return "unknown error";
}

class Category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "fab"; }
  std::string message(int value) const override { return text(static_cast<Errc>(value)); }
};

}  // namespace

const std::error_category& error_category() noexcept {
  static const Category category;
  return category;
}

std::error_code make_error_code(Errc code) noexcept { return {static_cast<int>(code), error_category()}; }

}  // namespace fab
