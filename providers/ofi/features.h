// The features of a libfabric provider that fab uses, and what fab does without each of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "providers/ofi/candidate.h"

namespace fab::ofi {

struct Feature {
  std::string name;
  bool used = false;
  std::string detail;  ///< what it amounts to, or what fab does instead
};

/// As fi_getinfo tells, without opening anything.
[[nodiscard]] std::vector<Feature> features_of(const Candidate& candidate);

/// Messages for which no receive is posted soon hold up their connection.
[[nodiscard]] bool keeps_few_early_messages(const fi_info& info);
/// Those that no receive waits for stay with the provider, in memory that grows, and can be looked at there.
[[nodiscard]] bool keeps_early_messages_to_itself(const fi_info& info);
/// Completions of messages that carry data say so, by FI_REMOTE_CQ_DATA.
[[nodiscard]] bool flags_data(const fi_info& info);
/// Receives name their sender. Otherwise the tag does.
[[nodiscard]] bool receives_by_source(const fi_info& info);
/// An endpoint that is opened with `info` afterwards is not asked for them.
void forgo_receives_by_source(fi_info& info);
/// The bits of a tag that the provider leaves to its user.
[[nodiscard]] std::uint64_t tag_mask(const fi_info& info);
/// Capabilities::unattended_bytes.
[[nodiscard]] std::uint64_t unattended_bytes(const fi_info& info);
/// What a write tells its target. A provider would cut wider data silently.
inline constexpr std::size_t kWriteDataBytes = 4;
/// What a process outside the job must guess to send a message that a rank takes.
[[nodiscard]] unsigned bits_to_guess(const fi_info& info);
/// A provider that has room for less is not used.
inline constexpr unsigned kFewestBitsToGuess = 64;
/// A write can tell it through the completion queue, which no receive need be posted for.
[[nodiscard]] bool writes_carry_data(const fi_info& info);

/// Why fab cannot use a provider whose answers promise all that it needs; empty for others.
[[nodiscard]] std::string_view fault_of(std::string_view provider);

/// What to warn of when a card has to lock memory and may lock little; empty otherwise. ofi_rxm (seen with 1.17) then
/// never makes a connection, and reports nothing.
[[nodiscard]] std::string locked_memory_warning(const fi_info& info);

}  // namespace fab::ofi
