#include "providers/ofi/receiver_key.h"

#include <fmt/core.h>
#include <sys/random.h>

#include <bit>
#include <charconv>
#include <system_error>

namespace fab::ofi {

namespace {

constexpr std::size_t kDigits = 16;  ///< of a number in the text
constexpr std::uint64_t kOfTags = 0;
constexpr std::uint64_t kOfData = 1;

SecretKey derived(const SecretKey& key, std::uint64_t use) noexcept {
  constexpr std::uint64_t kBehindRounds = 1ull << 32;
  return {siphash(key, kBehindRounds + 2 * use), siphash(key, kBehindRounds + 2 * use + 1)};
}

std::uint64_t low_bits(unsigned count) noexcept { return count == 0 ? 0 : ~0ull >> (64 - count); }

}  // namespace

std::string ReceiverKey::Room::text() const { return fmt::format("{}+{}", std::popcount(closed_tag_bits), data_bits); }

// A permutation halves its bits; one left over travels as it is.
ReceiverKey::Room ReceiverKey::room_of(std::uint64_t closed_tag_bits, std::size_t data_bytes) noexcept {
  const unsigned even = static_cast<unsigned>(std::popcount(closed_tag_bits)) & ~1u;
  return {low_bits(even), data_bytes >= 8 ? 64u : data_bytes >= 4 ? 32u : 0u};
}

ReceiverKey::ReceiverKey(const Room& room, const Secret& secret) noexcept
    : secret_(secret),
      permuted_(room.closed_tag_bits),
      data_mask_(low_bits(room.data_bits)),
      permute_tag_(derived(secret.tags, kOfTags), static_cast<unsigned>(std::popcount(room.closed_tag_bits))),
      permute_data_(derived(secret.tags, kOfData), room.data_bits == 64 ? 64 : 32) {}

ReceiverKey::ReceiverKey(const Room& room) : ReceiverKey(room, random_secret()) {}

ReceiverKey::ReceiverKey(const Room& room, std::string_view text) : ReceiverKey(room, secret_of(text)) {}

ReceiverKey::Secret ReceiverKey::random_secret() {
  Secret secret{};
  if (::getrandom(&secret, sizeof(secret), 0) != sizeof(secret))
    throw Error(Errc::no_resources, "getrandom: no random number for this rank's key");
  return secret;
}

ReceiverKey::Secret ReceiverKey::secret_of(std::string_view text) {
  Secret secret{};
  bool good = text.size() == 4 * kDigits;
  for (std::uint64_t* word : {&secret.tags[0], &secret.tags[1], &secret.proofs[0], &secret.proofs[1]}) {
    if (!good) throw Error(Errc::mismatch, "its address has no key of this version of fab's libfabric provider");
    const char* const end = text.data() + kDigits;
    const auto [read, error] = std::from_chars(text.data(), end, *word, 16);
    good = error == std::errc() && read == end;
    text.remove_prefix(kDigits);
  }
  if (!good) throw Error(Errc::mismatch, "its address has no key of this version of fab's libfabric provider");
  return secret;
}

std::string ReceiverKey::text() const {
  return fmt::format("{:016x}{:016x}{:016x}{:016x}", secret_.tags[0], secret_.tags[1], secret_.proofs[0],
                     secret_.proofs[1]);
}

}  // namespace fab::ofi
