// Lists the libfabric providers that could carry fab here, in order of preference, with reasons.
#pragma once

#include <string>
#include <vector>

#include "core/base/config.h"
#include "core/bootstrap/store.h"
#include "providers/ofi/candidate.h"
#include "providers/ofi/interfaces.h"

namespace fab::ofi {

/// What fi_getinfo offers for tagged messages between reliable datagram endpoints, best first, unusable ones last.
class Survey {
 public:
  /// for_use: no more questions than it takes to know the best, mostly one, about the provider that is likely.
  enum class Extent { for_use, all };

  Survey(const Config& config, const JobInfo& job, Extent extent = Extent::all);
  ~Survey();
  Survey(const Survey&) = delete;
  Survey& operator=(const Survey&) = delete;

  [[nodiscard]] const std::vector<Candidate>& candidates() const noexcept { return candidates_; }
  /// Throws Error(unreachable) that says what was asked for and what there is.
  [[nodiscard]] const Candidate& best() const;
  /// The interface that the job asks for, and why.
  [[nodiscard]] const std::string& wanted_interface() const noexcept { return wanted_interface_; }

 private:
  void choose_interface();
  void query_likely();
  void query_all();
  /// Of providers with `data_bytes` for the receiver's completion queue, at least. `provider`: libfabric's name; empty:
  /// of all.
  void query(unsigned long long capabilities, unsigned long long order, std::size_t data_bytes,
             const std::string& provider = {});
  void judge_all();
  void add(fi_info* info);
  [[nodiscard]] bool interface_matters(const Candidate& candidate) const;
  void judge(Candidate& candidate) const;
  void judge_writes(Candidate& candidate) const;

  const Config& config_;
  const JobInfo& job_;
  std::string wanted_interface_;
  std::string wanted_because_;
  std::string settled_;  ///< the provider that the first question has found
  InterfaceList interfaces_;
  std::vector<fi_info*> lists_;
  std::vector<Candidate> candidates_;
};

/// Throws Error(configuration), which lists what there is, where FAB_IFACE names nothing that this machine has.
void check_interface(const Config& config, const JobInfo& job);

/// Whether libfabric's provider of this name drives a network card, past the kernel.
[[nodiscard]] bool drives_card(const std::string& provider);

/// The version of the libfabric that runs, "1.17".
[[nodiscard]] std::string library_version();

}  // namespace fab::ofi
