// An address vector: the addresses that fi_addr_t values stand for.
#pragma once

#include <rdma/fi_domain.h>

#include <string>
#include <unordered_map>
#include <vector>

namespace strict {

struct Address {
  std::string raw;
  fi_addr_t lower = FI_ADDR_UNSPEC;  ///< below
};

class Addresses : public fid_av {
 public:
  /// Takes over the vector below.
  Addresses(fid_av* lower, std::size_t address_bytes);
  ~Addresses();
  Addresses(const Addresses&) = delete;
  Addresses& operator=(const Addresses&) = delete;

  int insert(const void* addresses, std::size_t count, fi_addr_t* handles);
  /// Ends the process when it stands for nothing.
  [[nodiscard]] const Address& at(const char* call, fi_addr_t handle) const;
  /// What is below for a sender that may not have been inserted here.
  [[nodiscard]] fi_addr_t lower_of(const std::string& raw);
  [[nodiscard]] fid_av* lower() const noexcept { return lower_; }

 private:
  [[nodiscard]] fi_addr_t handle_of(std::size_t place) const noexcept;

  fid_av* lower_;
  std::size_t address_bytes_;
  std::vector<Address> all_;
  std::unordered_map<fi_addr_t, std::size_t> places_;
  std::unordered_map<std::string, fi_addr_t> lower_by_raw_;
};

}  // namespace strict
