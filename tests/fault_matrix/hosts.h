// Two network namespaces joined by a cable, for the ranks of one job of forked processes.
#pragma once

#include <string>

namespace fab::test {

/// Needs root and iproute2. All is gone when it ends.
class TwoHosts {
 public:
  static constexpr const char* kInterface = "fab0";

  TwoHosts();
  ~TwoHosts();
  TwoHosts(const TwoHosts&) = delete;
  TwoHosts& operator=(const TwoHosts&) = delete;

  /// Empty, or why there are none.
  [[nodiscard]] const std::string& refusal() const noexcept { return refusal_; }
  /// The calling process moves there: 0 or 1. Throws std::runtime_error.
  void enter(int host) const;
  /// Nothing gets through any more.
  void cut() const;

 private:
  [[nodiscard]] std::string name(int host) const;
  void attempt(const std::string& command);

  std::string id_;
  std::string refusal_;
};

}  // namespace fab::test
