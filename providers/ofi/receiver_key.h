// Tells messages from ranks of the job apart from those of strangers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/provider.h"
#include "providers/ofi/scramble.h"

namespace fab::ofi {

/// A random secret of one rank. It is published with the rank's address, so the ranks of the job know it and no one
/// else. Who sends to the rank disguises the closed bits of the tag with it, so that a stranger can only guess what a
/// posted receive waits for. Where messages carry data to the completion queue, that is a proof besides, without which
/// a receive of any message drops what it caught. The data of writes is disguised, too.
class ReceiverKey {
 public:
  /// What a provider has room for. Both ends of a message must have the same.
  struct Room {
    std::uint64_t closed_tag_bits = 0;
    unsigned data_bits = 0;  ///< 0, 32 or 64

    bool operator==(const Room&) const = default;
    /// "62+64": of the tag that a stranger has to guess, and of the proof.
    [[nodiscard]] std::string text() const;
  };
  [[nodiscard]] static Room room_of(std::uint64_t closed_tag_bits, std::size_t data_bytes) noexcept;

  /// A new one. Throws Error(no_resources).
  explicit ReceiverKey(const Room& room);
  /// That of another rank, from its text(). Throws Error(mismatch).
  ReceiverKey(const Room& room, std::string_view text);

  /// Hexadecimal.
  [[nodiscard]] std::string text() const;

  // Tags, as they are and as they travel.
  [[nodiscard]] std::uint64_t disguise(std::uint64_t tag) const noexcept {
    return (tag & ~permuted_) | permute_tag_.of(tag & permuted_);
  }
  [[nodiscard]] std::uint64_t uncover(std::uint64_t tag) const noexcept {
    return (tag & ~permuted_) | permute_tag_.inverse(tag & permuted_);
  }

  [[nodiscard]] bool has_proof() const noexcept { return data_mask_ != 0; }
  /// What a message with that tag carries. Precondition: has_proof().
  [[nodiscard]] std::uint64_t proof(std::uint64_t tag) const noexcept {
    return siphash(secret_.proofs, tag) & data_mask_;
  }

  // What writes tell their target, as it is and as it travels. Precondition: has_proof().
  [[nodiscard]] std::uint64_t disguise_data(std::uint32_t data) const noexcept { return permute_data_.of(data); }
  /// Nothing: no rank of the job has sent it.
  [[nodiscard]] std::optional<std::uint32_t> uncover_data(std::uint64_t data) const noexcept {
    const std::uint64_t number = permute_data_.inverse(data & data_mask_);
    if (number >> 32 != 0) return std::nullopt;
    return static_cast<std::uint32_t>(number);
  }

 private:
  struct Secret {
    SecretKey tags;
    SecretKey proofs;
  };
  ReceiverKey(const Room& room, const Secret& secret) noexcept;
  static Secret random_secret();
  static Secret secret_of(std::string_view text);

  Secret secret_;
  std::uint64_t permuted_;
  std::uint64_t data_mask_;
  Permutation permute_tag_;
  Permutation permute_data_;
};

}  // namespace fab::ofi
